#ifndef TESTS_EVERY_TILING_H
#define TESTS_EVERY_TILING_H

#include "search/graph/op_map.h"

/* Every vector of divisors of an op's units, loops of `whole` apart, with every order that keeps reductions
 * inside all others: set in the scratchpad's row of the mapping, and visited. */
struct every_tiling {
	const struct op_question *question;
	uint32_t whole; /* loops that may not be tiled */
	struct mapping *mapping;
	void (*visit)(void *user);
	void *user;
};

void every_tiling_visit(const struct every_tiling *every);

#endif
