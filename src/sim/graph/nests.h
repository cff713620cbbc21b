#ifndef SIM_NESTS_H
#define SIM_NESTS_H

#include "sim/graph/memory.h"
#include "sim/graph/sim.h"
#include "sim/machine/kernel.h"
#include "sim/nest/nest.h"

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

/*
 * The nests that computes of a program carry out.  Each distinct one is executed once for its counts
 * and its cycles, which all tiles and steps that carry it out have; with values it is executed
 * every time.
 */
struct executed_nest {
	const struct inner_nest *nest;
	int home, scratchpad; /* levels of its hierarchy; -1: it does not reach so far */
	struct nest_sim sim;
};

struct nests {
	const struct program *program;
	const struct sim_options *options;
	struct arena *arena;
	int count, step_count;
	struct executed_nest *
		*by_step; /* of a step's computes that begin, then of those that resume; NULL */
	struct executed_nest **distinct;
	int64_t tiles;        /* computes that carry one out */
	const char *too_long; /* why they were not executed; NULL: they were */
};

struct nests *nests_open(
	const struct program *program, const struct sim_options *options, struct arena *arena);

/* The nest of those computes of a step that resume sums, or of the others; NULL if they carry none out. */
const struct executed_nest *nests_find(const struct nests *nests, int step, bool resumes);

/* The nest of a compute. */
const struct executed_nest *nests_of(
	const struct nests *nests, int step, const struct compute *compute);

/* Bytes of LX that a compute with a nest moves if tiles move in boxes: of all reads, of the output, and of
 * all. */
struct nest_bytes {
	int64_t reads[OP_READS_MOST]; /* by operand */
	int64_t again, read, written; /* again: of read, what is of the output */
};
struct nest_bytes nests_bytes(const struct nests *nests, int step, const struct compute *compute);

/* Returns the fault of an executed nest, or NULL. */
const char *nests_wrong(const struct nests *nests, const struct executed_nest *nest);

/*
 * A tile's values through its nest: tile_run of such computes.  `output` holds sums that are there if the
 * compute reads an accumulator.  NULL, or why it could not be done.
 */
const char *nests_compute(const struct nests *nests, int step, const struct compute *compute,
	const struct tile_operand *reads, struct tile_operand *output, kernel_function kernel);

#endif
