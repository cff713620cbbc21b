#ifndef PLACE_START_H
#define PLACE_START_H

#include "search/drive/solver.h"

/*
 * A first layout of all buffers, quickly: first and best fit of the longest lives first, the
 * largest areas, the largest sizes, the earliest; or where hints say, if that is no higher.  NULL if
 * none of them ends within the capacity.  The placement lives in run_arena; its peak is
 * placement_peak.
 */
const struct placement *start_layout(struct run *run, const struct packing *packing);

/* Every buffer at its hint; NULL if some have none or that is no layout. */
const struct placement *start_hinted(struct run *run, const struct packing *packing);

#endif
