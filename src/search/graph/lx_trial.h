#ifndef SEARCH_LX_TRIAL_H
#define SEARCH_LX_TRIAL_H

#include "model/graph/plan.h"
#include "model/graph/planning.h"

/*
 * Whether one more tensor of a plan could lie in LX, decided by trying: the same mappings, the tensor under
 * the view of its writer, or else of a reader, all of LX packed again.  What must lie in HBM, an input or an
 * output, is copied into LX before its first reader.  Where tiles do not move in boxes,
 * copies are not tried: their nests are chosen with all others.  The plan that results is lowered, packed and checked, and
 * priced; `text` says what broke, or what it gains:
 *
 *	the view is illegal: op 'S' on core 3 uses 0..7 of device dimension 1 of 'KT', whose slice there is 2..3
 *	in step 'P' LX would hold 1835008 bytes on a core, 157287 more than the 1677721 there are
 *	the opaque op 'sort' uses it in HBM
 *	it would fit, with 1024 cycles less (3.2 %), 12.3 uJ less, 256 KiB of HBM less
 */
struct arena;

struct lx_trial {
	const char *text;
	const struct plan *plan; /* with the tensor, or its copy, in LX; NULL: it is illegal */
};

/* The tensor lies in HBM in the plan.  Constraints of the planning bind the trial as they bind any plan. */
struct lx_trial lx_try(
	const struct plan *plan, const struct planning *planning, int tensor, struct arena *arena);

#endif
