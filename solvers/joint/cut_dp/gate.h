#ifndef JOINT_CUT_DP_GATE_H
#define JOINT_CUT_DP_GATE_H

#include "solvers/joint/cut_dp/blur.h"

/*
 * A potential: a number for each state that a cut can have and each condition that a bundle can be in (toll.h).
 */
struct gate {
	const struct frame *frame;
	int cut;
	struct cut_layer *states;
	int64_t *tolls; /* [state * toll_count + condition] */
};

/* All are TOLL_NEVER.  NULL: there are more than `most` states. */
struct gate *gate_open(const struct frame *frame, int cut, size_t most, struct arena *arena);

/* The states of a blurred space have each the least of those that belong to it.  NULL becomes NULL. */
struct gate *gate_blur(const struct gate *gate, const struct blur *blur, struct arena *arena);

/* A state has no more than those that have less in LX (blur_less). */
void gate_lower(const struct gate *gate, const struct blur *blur);

size_t gate_count(const struct gate *gate); /* states */
size_t gate_size(const struct gate *gate);  /* numbers */
const uint16_t *gate_codes(const struct gate *gate, size_t state);
int64_t *gate_row(const struct gate *gate, size_t state);
const int64_t *gate_find(const struct gate *gate, const uint16_t *codes); /* NULL: no such state */

#endif
