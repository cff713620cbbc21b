#ifndef COST_OP_PRICE_H
#define COST_OP_PRICE_H

#include "cost/graph/traffic.h"

/*
 * The price of one op: its share of the cores, its tiles and the loops inside a core are the mapping's,
 * the homes of its operands the question's.  cost_plan pays it for a step, with the same functions.
 *
 * It is one call for one mapping; to try many tiles under the rule of published tables, see
 * cost/graph/streaming.h.  Where tiles do not move in boxes, bound and estimate are the nest's cycles.
 */
struct op_price {
	const char *why; /* why the machine cannot carry it out so; NULL: it can */
	struct step_count counts;
	double energy_pj;
	int64_t hbm_bytes;
	int64_t room; /* bytes of a core's LX that its tiles and accumulators take, residents apart */
	int64_t bound, estimate; /* cycles: streaming_bound, streaming_estimate */
};

/* `arriving`: bit i: operand i comes with a clone of the same phase.  False when a count does not fit;
 * of *out nothing holds then but `why`, if there is one. */
struct arena;
bool op_price(const struct inner_question *question, uint32_t arriving, struct arena *arena,
	struct op_price *out);

/* Why the machine cannot carry out an op that is open; NULL. */
const char *op_price_reject(
	const struct traffic_op *op, const struct mapping *mapping, struct arena *arena);

#endif
