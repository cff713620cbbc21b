#ifndef JOINT_CUT_DP_TOLL_H
#define JOINT_CUT_DP_TOLL_H

#include "solvers/joint/cut_dp/frame.h"

/*
 * Lower bounds, one for each condition that a bundle can be in: how wide it is, by rank, and how many tensors it
 * has.  The relaxation counts only tensors that no step before can have used in HBM (frame_is_fresh).  The last
 * one is that of a bundle that has ended.
 *
 * Tolls are what is still to come; costs are what has been paid.  A bundle may be paid for before it is as wide,
 * so a step as wide as `cores` is taken in bundles that are no narrower.
 */
#define TOLL_NEVER (INT64_MAX / 4)

struct toll_step {
	int64_t value;
	int cores, fresh;
	bool ends_bundle;
};

size_t toll_count(const struct frame *frame);
void toll_set(const struct frame *frame, int64_t *tolls, int64_t value); /* all of them */

/* Which of them is that of a bundle with this number of tensors. */
size_t toll_index(const struct frame *frame, int args, int widest);

/* Lowers the tolls before a step to its value and the tolls behind it; after all steps, toll_close. */
void toll_take(const struct frame *frame, int64_t *tolls, const struct toll_step *step,
	const int64_t *behind);
void toll_close(const struct frame *frame, int64_t *tolls);

/*
 * Lowers the costs behind a step; has it made any cheaper?  After all steps, toll_spread: a bundle that is as good as
 * another one costs no more.
 */
void toll_start(
	const struct frame *frame, int64_t *costs); /* nothing is paid, no bundle has begun */
bool toll_pay(const struct frame *frame, const int64_t *costs, const struct toll_step *step,
	int64_t *behind);
void toll_spread(const struct frame *frame, int64_t *costs);

/* The least sum of what was paid, this step, if there is one, and what is still to come behind it. */
int64_t toll_least(const struct frame *frame, const int64_t *costs, const struct toll_step *step,
	const int64_t *behind);

#endif
