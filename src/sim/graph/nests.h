#ifndef SIM_NESTS_H
#define SIM_NESTS_H

#include "sim/graph/sim.h"
#include "sim/graph/tile.h"
#include "sim/nest/nest.h"

/*
 * The nests that computes of a program carry out.  Each distinct one is executed once for its counts
 * and its cycles, which all tiles and steps that carry it out have; with values it is executed
 * anew every time.
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

/* What a compute that carries one out takes of LX where tiles move in boxes: of all reads, of the
 * output, and of all. */
struct nest_bytes {
	int64_t reads[OP_READS_MOST]; /* by operand */
	int64_t again, read, written; /* again: of read, what is of the output */
};
struct nest_bytes nests_bytes(const struct nests *nests, int step, const struct compute *compute);

/* What is wrong with it; NULL. */
const char *nests_wrong(const struct nests *nests, const struct executed_nest *nest);

/*
 * A tile's values through its nest: tile_run of such computes.  `output` holds sums that are there if the
 * compute reads an accumulator.  NULL, or why it could not be done.
 */
const char *nests_compute(const struct nests *nests, int step, const struct compute *compute,
	const struct tile_operand *reads, struct tile_operand *output, kernel_function kernel);

#endif
