#ifndef COST_NEST_IMPERFECT_H
#define COST_NEST_IMPERFECT_H

#include "cost/nest/nest_loops.h"

/*
 * What moves under imperfect factors, for dataspaces whose ranks have one
 * dimension each: dimensions clip independently, so that sums over steps and
 * instances are products over dimensions.  O(loops^2) each, for all extents.
 *
 * `cover` is a level at or inside the child (-1: the multipliers): words are those
 * that its tiles cover, since a box of strided ranks has words that the boxes inside
 * it leave out.
 */
enum moving { ENTERING, GROUPS, DRAINS };

/* A group, or what drains, counts once in each instance of the level; `split`: spatial no_reuse counts. */
int64_t nest_imperfect_moved(
	const struct nest_passage *passage, enum moving moving, int level, bool split, int cover);

/* Does an instance's tile stay where it is at some move step? */
bool nest_imperfect_stays(const struct nest_passage *passage);

/* Words that the child's tiles cover, in each instance of the home. */
int64_t nest_imperfect_elements(const struct nest_passage *passage, int home);

/* Fills compute_cycles, utilized_computes and utilized. */
void nest_imperfect_work(
	const struct nest_model *model, const struct nest_loops *loops, struct nest_counts *counts);

#endif
