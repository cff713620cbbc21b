#ifndef MODEL_NEST_AFFINE_H
#define MODEL_NEST_AFFINE_H

#include "model/machine/layout.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * An affine index: a sum of loops with coefficients, plus an offset.  Ranks of dataspaces, host
 * coordinates of tensors and places of streams are such indices.  Coefficients beyond the number of
 * loops are 0.
 */
struct affine {
	int64_t coefficient[OP_LOOPS_MOST]; /* by loop */
	int64_t offset;
};

/* Returns the index at a point, which has a value for each of so many loops. */
int64_t affine_value(const struct affine *affine, int loop_count, const int64_t *point);

/* Bit l: loop l has a coefficient. */
uint32_t affine_loops(const struct affine *affine);

/* The only loop that moves an index; NO_LOOP if none does. */
enum { NO_LOOP = -1, SEVERAL_LOOPS = -2 };
int affine_loop(const struct affine *affine, int loop_count);

/* True if both are the same at every point of so many loops. */
bool affine_equal(const struct affine *a, const struct affine *b, int loop_count);

/* Returns the index as it would be written with these names: "c + 2*q - 1". */
struct arena;
const char *affine_text(
	struct arena *arena, const struct affine *affine, int loop_count, const char *const *names);

#endif
