#ifndef COST_NEST_QUICK_ROWS_H
#define COST_NEST_QUICK_ROWS_H

#include "cost/nest/nest_quick_state.h"

/*
 * The rows of a mapping as the quick count works with them.  A mapping is long, and only this
 * reads its bounds.  False for bounds that do not make the extents, and for a fan-out that is too
 * small.
 */
bool quick_rows(struct quick_state *state);

#endif
