#ifndef JOINT_JOINT_NESTS_H
#define JOINT_JOINT_NESTS_H

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
 * where sums are there already.  Unless joint_aim.nest_ticks is set it is one loop, and
 * only runs whose inner tensors would not fit whole are options.
 *
 * These spaces have neither moves nor evictions, nothing takes over bytes in place, and outputs of the graph stay
 * at home.
 */

/* Gives a view to what the op makes, if that may lie in the scratchpad. */
void joint_nests_views(struct joint_making *making, int op);

/* The options that begin with a tiled op; false, and making->why. */
bool joint_nests_options(struct joint_making *making, int op);

/* Looks longer at the nests of a plan's steps, if the space that it comes of had but a brief look: none gets
 * worse. */
void joint_nests_polish(const struct joint_graph *graph, struct plan *plan, struct arena *arena);

#endif
