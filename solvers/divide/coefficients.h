#ifndef DIVIDE_COEFFICIENTS_H
#define DIVIDE_COEFFICIENTS_H

#include "model/graph/workload.h"

/*
 * How the published passes store a division between them: by the coefficients
 * that loops have in the op's indices, not by loop, since loops are renamed.
 *
 * A loop that indexes the output is kept under its coefficient in the write,
 * any other under its coefficient in the first read; loops split once are left
 * out. This can lose splits: a reduction loop that the first read does not know
 * is forgotten, and of two loops with one coefficient the last is kept for
 * both.
 */
struct keyed_split {
	int64_t coefficient, split;
};

struct keyed_splits {
	int output_count, reduction_count;
	struct keyed_split output[OP_LOOPS_MOST];
	struct keyed_split reduction[OP_LOOPS_MOST];
};

struct keyed_splits keyed_encode(
	int loop_count, const int64_t *write, const int64_t *read, const int64_t *splits);

/* Loops of extent 1, and those that nothing is stored for, are split once. */
void keyed_decode(const struct keyed_splits *keyed, int loop_count, const int64_t *range,
	const int64_t *write, const int64_t *read, int64_t *splits);

#endif
