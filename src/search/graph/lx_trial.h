#ifndef GRAPH_LX_TRIAL_H
#define GRAPH_LX_TRIAL_H

#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/graph/recipe.h"

/*
 * Decides by trying if one more tensor of a plan could lie in LX: the same mappings, the tensor under the view of
 * its writer, or else of a reader, all of LX packed again.  A tensor that must lie in HBM, an input or an output,
 * is copied into LX before its first reader.  If tiles do not move in boxes, copies are not tried: their nests are
 * chosen with all others.  The plan that results is lowered, packed and checked, and priced; `text` says what
 * broke, or what it gains:
 *
 *	  the view is illegal: op 'S' on core 3 uses 0..7 of device dimension 1 of 'KT', whose slice there is 2..3
 *	  in step 'P' LX would hold 1835008 bytes on a core, 157287 more than the 1677721 there are
 *	  the opaque op 'sort' uses it in HBM
 *	  it would fit, with 1024 cycles less (3.2 %), 12.3 uJ less, 256 KiB of HBM less
 */
struct arena;

struct lx_trial {
	const char *text;
	const struct plan *plan; /* with the tensor, or its copy, in LX; NULL: it is illegal */
};

/* The tensor lies in HBM in the plan.  Constraints of the planning bind the trial as they bind any plan. */
struct lx_trial lx_try(
	const struct plan *plan, const struct planning *planning, int tensor, struct arena *arena);

/*
 * The price of constraints `residency: lx`: the whole plan of the recipe without them, and what comes of it
 * when their tensors are put into LX by trying, one after the other (lx_trial.h).
 */
struct lx_price {
	const char *tensors; /* "'K', 'V'"; NULL: no constraint asks for LX, nothing else is set */
	const struct plan *free;  /* NULL: none was found */
	const struct plan *start; /* keeps all constraints; NULL: a trial failed */
};

/* The recipe is of a whole plan (recipe_is_whole), with all constraints. */
struct lx_price lx_price_find(const struct recipe *recipe, struct arena *arena);

#endif
