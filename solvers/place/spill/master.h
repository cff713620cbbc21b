#ifndef PLACE_SPILL_MASTER_H
#define PLACE_SPILL_MASTER_H

#include "search/engine/milp.h"
#include "solvers/place/spill/question.h"

/*
 * The integer program of most gain that holds every row and every cut.  Columns of items are
 * integers, the first columns; what versions gain and what pairs share follows from them.
 */
struct milp *spill_master_make(struct arena *arena, const struct spill_model *model,
	const struct spill_cut *cuts, size_t cut_count);

#endif
