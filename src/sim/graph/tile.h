#ifndef SIM_TILE_H
#define SIM_TILE_H

#include "sim/graph/touch.h"
#include "sim/machine/kernel.h"

/*
 * The arithmetic of one tile.  Operands are dense fp32 arrays over the box of
 * the host array that the tile touches, row-major; they are unpacked from sticks
 * before and packed after, so that the nest is plain affine indexing.
 */
struct tile_operand {
	struct touch touch;
	int64_t stride[LAYOUT_HOST_RANK_MOST]; /* of `values` */
	int64_t size;
	float *values; /* the caller's to allot */
};

/* False when the tile leaves the operand's host array. */
bool tile_open(const struct workload *workload, const struct op *op, const struct compute *compute,
	int operand, struct tile_operand *out);

/* Lanes `lane`, lane + 1, .. of a stick are elements `at`, at + step, .. of the values. */
struct tile_lanes {
	int lane, count;
	int64_t at, step;
};
struct tile_lanes tile_find(const struct tile_operand *operand, int64_t stick);

/* The output before the first pass; one pass, added to what it holds; after the last. */
void tile_start(const struct op *op, struct tile_operand *output);
/* `kernel`: kernel_apply, or what a test computes in its place. */
void tile_run(const struct op *op, const struct compute *compute, const struct tile_operand *reads,
	struct tile_operand *output, kernel_function kernel);
float tile_finish(const struct op *op, float value);

#endif
