#ifndef JOINT_CUT_DP_BLUR_H
#define JOINT_CUT_DP_BLUR_H

#include "solvers/joint/cut_dp/frame.h"

/*
 * A space in which the views of some tensors are not told apart (state-space relaxation, Christofides, Mingozzi and
 * Toth 1981): such a tensor has one view, which serves all who ask for any of them, takes no room, and is as cheap and
 * narrow as the best of them.  Each answer of the space is one of the blurred space, and costs no more there.
 */
struct blur {
	const struct frame *frame; /* its tensors have the same slots */
	const bool *is_blurred;    /* by tensor; NULL: none is */
	int told_apart;            /* tensors that are not */
};

/*
 * Tells the views apart of the tensors of which `before` does (NULL: none), and of as many more as give at most `states`
 * combinations at each cut, those with the shortest lives first.
 */
struct blur blur_make(
	const struct frame *frame, const struct blur *before, double states, struct arena *arena);

/* The state of the blurred space that a state of the space belongs to. */
void blur_codes(const struct blur *blur, int cut, const uint16_t *codes, uint16_t *blurred);

/*
 * States that have less in LX than this one.  Where views are told apart, or tensors are larger, what is in LX here may
 * have been dropped.
 */
typedef void blur_visit(void *context, const uint16_t *codes);
void blur_less(
	const struct blur *blur, int cut, const uint16_t *codes, blur_visit *visit, void *context);

#endif
