#ifndef COST_GRAPH_COST_H
#define COST_GRAPH_COST_H

#include "cost/graph/traffic.h"
#include "model/graph/plan.h"
#include "model/machine/score.h"

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

/* Returns false when a count does not fit; of *out nothing holds then but `why`, if there is one. */
struct arena;
bool op_price(const struct inner_question *question, struct arena *arena, struct op_price *out);

/* Why the machine cannot carry out an op that is open; NULL. */
const char *op_price_reject(
	const struct traffic_op *op, const struct mapping *mapping, struct arena *arena);

/*
 * The analytical model: pure, closed form, integers first.  `cost_counts`
 * fills what model/graph/plan.h says.  `cost_plan` adds time and
 * energy:
 *
 *	phase   work of its steps added up by resource, cycles = ceil(work / rate)
 *	        in exact rationals; the slowest resource counts
 *	run     a phase of each of its steps, times the iterations that are alike (run_classes)
 *	graph   sum of phases + bundle overheads
 *
 * The estimate of a phase is cost/graph/streaming.h's of its op, with what its moves bring; of moves alone, opaque
 * ops, broadcasts and nests it is the same as the cycles.
 *
 * Resources: the queues of a broadcast's root (cost/graph/staging.h); HBM (all bytes); per core the fill port, the LX read port, the LX
 * write port, the array (einsums) or the vector unit (the others); of the
 * data ring the links, after what sets up runs (cost/graph/footprint.h); of the reduce ring one link, since all links of a chain stream at the same time, each
 * a stick behind the one before.  The busiest core counts; what waits for what
 * inside a phase does not, so the cycles are a lower bound of the machine's.
 * The array's rate is for operands of 2 bytes, the widest counts; 1 byte
 * doubles it, 4 bytes halve it (assumed: nobody says so of this machine).
 * Where the computes are nests (model/graph/box_nest.h), the array takes the cycles of a tile's
 * nest for each tile; where tiles do not move in boxes, a phase takes those of its whole nests.
 *
 * Energy is counts times the tables, in a fixed order (cost/graph/energy.h).  A plan that splits a
 * reduction without a ring that can combine it, whose tile buffers do not fit
 * the reserve of LX, or that has a nest that does not fit its levels, is not feasible.
 *
 * Both answer false when a count does not fit an int64_t.
 */
struct arena;

bool cost_counts(const struct plan *plan, struct arena *arena, struct counts *out);

/* The cycles of one phase by resource, for explanations. */
enum resource {
	RESOURCE_HBM,
	RESOURCE_FILL,
	RESOURCE_LX_READ,
	RESOURCE_LX_WRITE,
	RESOURCE_LX, /* both, of a whole op that is a nest */
	RESOURCE_COMPUTE,
	RESOURCE_RING,
	RESOURCE_DATA_RING, /* a relayout: links, then ports, and the runs before them */
	RESOURCE_LINKS, /* the queues of a broadcast's root, from its first load to its last store */
	RESOURCE_COUNT,
};
extern const char *const resource_names[]; /* in the order of the enum */

struct phase_cost {
	int first_step, end_step;         /* [first, end) */
	int64_t cycles;                   /* of the slowest resource */
	int64_t estimate;                 /* with what starts and ends it; never less */
	int64_t resource[RESOURCE_COUNT]; /* cycles of each */
};
struct plan_cost {
	struct counts counts;
	int phase_count;
	struct phase_cost *phases;
	int64_t overhead_cycles; /* of all bundles */
	struct score score;
};
bool cost_plan(const struct plan *plan, struct arena *arena, struct plan_cost *out);

/* What the cycles of a plan are spent on: each phase counts for the first of its slowest resources. */
enum limiter {
	LIMITER_HBM,
	LIMITER_LX,     /* its ports */
	LIMITER_ARRAY,  /* computes of which one is an einsum */
	LIMITER_VECTOR, /* other computes */
	LIMITER_RINGS,
	LIMITER_LINKS,
	LIMITER_OVERHEAD, /* of bundles */
	LIMITER_COUNT,
};
extern const char *const limiter_names[]; /* in the order of the enum */
void cost_limits(const struct plan *plan, const struct plan_cost *cost, int64_t *cycles);

/*
 * HBM bytes of one op under a mapping, for passes that choose tiles: `in_lx`
 * has bit i set when operand i is resident.  *stream_bytes: the LX bytes on one
 * core that its tile buffers (two for an operand whose box can change from tile
 * to tile, else one) and accumulators (two where a ring still reads one when
 * the next output tile begins, else one) take, aligned.  False on overflow.
 */
bool cost_stream(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, uint32_t in_lx, int64_t *hbm_bytes, int64_t *stream_bytes);

#endif
