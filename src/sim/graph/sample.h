#ifndef SIM_SAMPLE_H
#define SIM_SAMPLE_H

#include "sim/graph/box.h"
#include "sim/graph/nests.h"
#include "sim/graph/shadow.h"

/*
 * In identity mode no memory has bytes; yet of every op the first output tile is
 * computed for real.  An operand's elements are drawn from the identities that
 * lie in its box (a small integer for every element of every tensor), the computes and the
 * ring run on them as on data, and some elements of what comes out are compared with the op's
 * loops over the same numbers.
 */
struct arena;
struct sample;

struct sample *sample_open(const struct program *program, const struct nests *nests, uint64_t seed,
	struct shadow *shadow, struct faults *faults, struct arena *arena);

/* Before the shadow knows what the instruction writes; its boxes are known to be right. */
void sample_compute(struct sample *sample, uint32_t instruction, const struct box *reads,
	const struct box *write);
void sample_combine(struct sample *sample, uint32_t instruction, const struct box *output);

int sample_count(const struct sample *sample); /* tiles compared */

#endif
