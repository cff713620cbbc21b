#ifndef SUPPORT_EXECUTED_H
#define SUPPORT_EXECUTED_H

#include "cost/graph/cost.h"
#include "lower/graph/program.h"
#include "sim/graph/sim.h"

/*
 * A plan lowered and run on data, beside what the model and the reference say. It must end without
 * a fault, count what the model counts and take no fewer cycles than the model; `why` is the first
 * difference, NULL if there is none. The caller judges if the results are near enough to
 * `expected`.
 */
struct executed {
	const char *why;
	const struct program *program; /* NULL: it cannot be lowered, and nothing below is set */
	struct sim_result result;
	struct plan_cost cost;
	void **expected;       /* by tensor; NULL where the reference has none */
	void ***rank_expected; /* the same by rank; expected is that of rank 0 */
};

struct executed execute_plan(
	const struct plan *plan, uint64_t seed, bool small_integers, struct arena *arena);

/* Runs it on small integers, whose results are exact: NULL, or what is wrong, a result that is not
 * the expected one too. */
const char *execute_exactly(const struct plan *plan, uint64_t seed, struct arena *arena);

#endif
