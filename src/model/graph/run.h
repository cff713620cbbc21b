#ifndef MODEL_GRAPH_RUN_H
#define MODEL_GRAPH_RUN_H

#include "model/graph/plan.h"
#include "model/graph/plan_check.h"

/*
 * Bundles (point 9 of plan.h): runs of steps that the machine starts at one go, with at most `bundle_tensors`
 * distinct tensors in HBM.  An opaque op is the last of its bundle.  What cannot be parted, an op with
 * the moves before it, may have more tensors in a bundle of its own.
 */
struct arena;

/* Why the bundles of a plan cannot be carried out, and which step is the cause; NULL. */
const char *plan_bundle_misfit(struct arena *arena, const struct plan *plan, int *step);

/*
 * The cores at which a move (points 7 and 10 of plan.h) leaves or finds its slices.  Its mapping cuts
 * the tensor into slices; the view of the tensor in LX says which cores hold which.  A view that cuts as the mapping does, but hands the slices out in another order
 * or to several cores each, is a multicast: loop l's slot on core c is
 * floor(c / divisor[l]) mod split of l, on cores 0 .. cores-1, and every slice
 * lies on `copies` cores.  With any other view the mapping decides alone, and with one that leaves cores out
 * where something comes in.
 */
struct move {
	int64_t cores, copies;
	int64_t divisor[OP_LOOPS_MOST];
};

struct move move_find(const struct plan *plan, int step);

/* Divides a copy of whole sticks as near to the view as its own loops can say. */
struct mapping move_mapping(const struct arch *arch, const struct workload *workload,
	const struct op *copy, const struct view *view);

/*
 * Runs of steps that share tile loops (point 12 of plan.h): the part of an op that one iteration carries
 * out, and the part of a tensor that LX then holds.  Iterations count through the loops like the digits of
 * a number, the innermost fastest.  A NULL run is a step by itself: one iteration with all of the op.
 */

/* The run that a step is of; NULL. */
const struct tile_run *plan_run(const struct plan *plan, int step);

int64_t run_iterations(const struct tile_run *run);

/* The loop of an op that is loop k of the run; -1 if it has none. */
int run_loop(const struct op *op, const struct tile_run *run, int k);

/* Elements of the op's loop l that an iteration has. */
struct run_part {
	int64_t first, count;
};
struct run_part run_part(const struct workload *workload, const struct op *op,
	const struct tile_run *run, int64_t iteration, int l);

/*
 * The op of one iteration: its loops have the extents of the part, and its accesses begin where the
 * part does, in coordinates of the whole tensors.  A loop may have the extent 1.
 */
const struct op *run_op(struct arena *arena, const struct workload *workload, const struct op *op,
	const struct tile_run *run, int64_t iteration);

/* True if an op reduces over a loop of the run, so that its output is whole only after the last iteration. */
bool run_adds_up(const struct op *op, const struct tile_run *run);

/* True if it adds to sums that iterations before have left. */
bool run_resumes(const struct op *op, const struct tile_run *run, int64_t iteration);

/* True if iterations to come add to the sums that this one leaves. */
bool run_goes_on(const struct op *op, const struct tile_run *run, int64_t iteration);

/* The op of a step in the first iteration; of a step by itself the op. */
const struct op *plan_step_op(struct arena *arena, const struct plan *plan, int step);

/*
 * Iterations that are alike for an op, which then has the same counts in them: those that differ only in
 * where their parts begin.  Parts that are cut short differ, so does the first
 * part of a loop that the op reduces over, and all do where moving on by a part does not move a box of some
 * operand by whole sticks.
 */
struct run_class {
	int64_t iteration, count; /* the first of them, and how many there are */
};
struct run_classes {
	size_t count;
	const struct run_class *at;
};
struct run_classes run_classes(struct arena *arena, const struct workload *workload,
	const struct op *op, const struct tile_run *run);

/* The first loop of an op that walks host dimension h of an operand, if it walks it alone, element by
 * element from the first to the last, and no other dimension; -1. */
int run_walks(const struct workload *workload, const struct op *op, int operand, int h);

/* The run whose steps alone make and read a tensor; NULL: there is none. */
const struct tile_run *plan_inside(const struct plan *plan, const struct users *users, int tensor);

/* Steps [from, to) in which a tensor must be where it is: from its first use to its last, and all
 * iterations of the runs that use it from outside. */
void plan_life(const struct plan *plan, const struct users *users, int tensor, int *from, int *to);

/* The layout of a stay in LX: of the tensor, or of one part of it at a time. */
struct layout plan_stay_layout(const struct plan *plan, const struct residency *stay);

/* The device coordinate at which that begins in an iteration of its run. */
int64_t plan_stay_first(
	const struct plan *plan, const struct residency *stay, int64_t iteration, int d);

/* Why the steps of run r cannot share its loops, and which of them is the cause (-1: none); NULL. */
const char *plan_run_misfit(struct arena *arena, const struct plan *plan, int r, int *step);

#endif
