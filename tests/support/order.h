#ifndef SUPPORT_ORDER_H
#define SUPPORT_ORDER_H

#include "lower/program.h"

/*
 * What happens before what in a small program, as program.h says it: the naive
 * closure of dependences and queues, a bit for each pair of instructions.
 */
struct arena;

struct order {
	const struct program *program;
	size_t words;
	uint64_t **before; /* by instruction, a bit for each that happens before it */
};

struct order order_make(struct arena *arena, const struct program *program);
bool order_before(const struct order *order, int64_t a, int64_t b);

/* Would i happen after its dependence without naming it? */
bool order_implies(const struct order *order, int64_t i, uint32_t dependence);

#endif
