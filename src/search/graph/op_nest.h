#ifndef SEARCH_OP_NEST_H
#define SEARCH_OP_NEST_H

#include "model/graph/plan.h"
#include "model/nest/nest_score.h"

/*
 * One einsum of a plan as a nest on the same machine, counted exactly: the loops
 * over tiles run at HBM, the core split is spatial, the loops inside a tile run at
 * LX; what lies in LX for good has its home there.  Where whole sticks are used,
 * and no index adds two loops, its words at HBM times the bytes of an element are the
 * bytes of the plan's score.  Its time and energy are not the plan's, which moves boxes of
 * sticks and has ports and accumulators.  An op whose computes are nests has none of this.
 */
struct arena;

struct op_nest {
	const struct shape
		*shape; /* of the whole op; NULL: it is not a nest, or cannot be counted */
	const struct hierarchy *hierarchy;
	struct mapping mapping;
	struct nest_counts counts;
	struct nest_score score;
};

void op_nest_make(const struct plan *plan, int step, struct arena *arena, struct op_nest *out);

/*
 * The nests inside a step that has some (model/graph/box_nest.h), all tiles and cores together, of
 * counts of the model or the simulator: mapping and `capacity` are those of one tile, instances
 * those of all cores, cycles those of a core.  Where tiles move in boxes the energy of the scratchpad is
 * that of its bytes.
 */
struct step_count;
void op_nest_inside(const struct plan *plan, int step, const struct step_count *count,
	struct arena *arena, struct op_nest *out);

#endif
