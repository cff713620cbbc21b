#ifndef SEARCH_JOINT_NESTS_H
#define SEARCH_JOINT_NESTS_H

#include "model/graph/run.h"
#include "search/joint/joint_making.h"

/*
 * The options of a joint space on machines whose tiles do not move in boxes: each op is a whole nest, which
 * keeps tiles of what is not resident in the scratchpad, and so needs room there.
 *
 * An option of a single op has its operands at home or resident, in all combinations that the machine and
 * the settings allow, and the nest of least value within the room that can be left to it: all of the
 * scratchpad, or all but some of the tensors that may lie in it meanwhile.
 *
 * An option of several ops is a run (model/graph/plan.h, point 12).  Each tensor that only the run makes and
 * reads has one part in the scratchpad, where it may lie there at all; each op makes or reads such a tensor.
 * The run shares one loop, or two; of the numbers of tiles the fewest for which the parts fit, the fewest that
 * leave room for all that the run uses from outside, and the most (options.h).  An op may reduce over a shared loop if
 * nothing in the run reads its output, which adds up at home or in the scratchpad; its nest is the one of least value
 * where sums are there already.  Unless somebody asks for a long look at nests (joint_aim.nest_ticks) it is one loop, and
 * there are only runs of which what is inside would not fit whole.
 *
 * There are no moves and no evictions, nothing takes over bytes in place, and what the graph gives away stays
 * at home.
 */

/* Gives a view to what the op makes, if that may lie in the scratchpad. */
void joint_nests_views(struct joint_making *making, int op);

/* The options that begin with a tiled op; false, and making->why. */
bool joint_nests_options(struct joint_making *making, int op);

/* The nest of least value; its value, or JOINT_NEVER: none is known to fit. */
int64_t joint_nest_ask(struct joint_making *making, const struct inner_question *question,
	uint64_t ticks, struct nest_choice *out);

/* Looks longer at the nests of a plan's steps, if the space that it comes of had but a brief look: none gets
 * worse. */
void joint_nests_polish(const struct joint_graph *graph, struct plan *plan, struct arena *arena);

/* A tensor that may lie in the scratchpad, and bytes that it takes. */
struct nest_tensor {
	int tensor;
	int64_t bytes;
	int64_t offset; /* of one inside: from the beginning of the option's room */
	bool in_lx;
};

/* Ops [first, end) as one option. */
struct nest_range {
	struct joint_making *making;
	struct arena *arena;     /* until the range is done */
	const struct plan *plan; /* whose step i is op i, with the run if there is one */
	int first, end;
	int64_t iterations;
	int outer_count;  /* used from outside, or handed on */
	int inside_count; /* only the run has to do with them */
	struct nest_tensor *outer, *inside;
	int64_t span; /* bytes of what is inside */
	int level_count;
	int64_t *levels; /* bytes of the scratchpad that others may leave to it, descending */
};

/* A run of them (NULL: a single op).  False: it is none that is worth a look, or its parts do not fit. */
bool nest_range_open(struct joint_making *making, const struct tile_run *run, int first, int end,
	struct nest_range *out);
void nest_range_options(struct nest_range *range);

/* Those of runs that begin with an op. */
void joint_nests_runs(struct joint_making *making, int op);

#endif
