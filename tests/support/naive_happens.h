#ifndef SUPPORT_NAIVE_HAPPENS_H
#define SUPPORT_NAIVE_HAPPENS_H

#include "lower/graph/program.h"

/*
 * Order of the instructions of a small program, as program.h defines it: the naive closure of
 * dependences and queues, a bit for each pair of instructions.
 */
struct arena;

struct naive_happens {
	const struct program *program;
	size_t words;
	uint64_t **before; /* by instruction, a bit for each that happens before it */
};

struct naive_happens naive_happens_make(struct arena *arena, const struct program *program);
bool naive_happens_before(const struct naive_happens *order, int64_t a, int64_t b);

/* Would i happen after its dependence without naming it? */
bool naive_happens_implied(const struct naive_happens *order, int64_t i, uint32_t dependence);

#endif
