#ifndef COST_GRAPH_COST_H
#define COST_GRAPH_COST_H

#include "cost/graph/footprint.h"
#include "cost/graph/traffic.h"
#include "model/graph/plan.h"
#include "model/machine/score.h"

/*
 * The analytical model: pure, closed form, integers first.  `cost_counts`
 * fills the counts of model/graph/plan.h.  `cost_plan` adds time and
 * energy:
 *
 *	phase   work of its steps added up by resource, cycles = ceil(work / rate)
 *	        in exact rationals; the slowest resource counts
 *	run     a phase of each of its steps, times the iterations that are alike (run_classes)
 *	graph   sum of phases + bundle overheads
 *
 * The estimate of a phase is cost/graph/latency.h's of its op, with what its moves bring; of moves alone, opaque
 * ops, broadcasts and nests it is the same as the cycles.
 *
 * Resources:
 *
 *	the queues of a broadcast's root (staging in footprint.h);
 *	HBM, all bytes;
 *	of each core the fill port, the LX read port, the LX write port, and the array (einsums) or the
 *	vector unit (the others);
 *	of the data ring the links, after runs are set up (footprint.h);
 *	of the reduce ring one link, since all links of a chain stream at the same time, each a stick
 *	behind the one before.
 *
 * The busiest core counts.  Waits inside a phase do not, so the cycles are a lower bound of the machine's.
 * The array's rate is for operands of 2 bytes, the widest counts; 1 byte
 * doubles it, 4 bytes halve it (assumed: not published for this machine).
 * If the computes are nests (model/graph/box_nest.h), the array takes the cycles of a tile's
 * nest for each tile; if tiles do not move in boxes, a phase takes those of its whole nests.
 *
 * Energy is counts times the tables, in a fixed order (energy_of_counts).  A plan that splits a
 * reduction without a ring that can combine it, whose tile buffers do not fit
 * the reserve of LX, or that has a nest that does not fit its levels, is not feasible.
 *
 * Both return false when a count does not fit an int64_t.
 */
struct arena;

/*
 * The price of one op: its share of the cores, its tiles and the loops inside a core are the mapping's,
 * the homes of its operands the question's.  cost_plan pays it for a step, with the same functions.
 *
 * It is one call for one mapping; to try many tiles under the rule of published tables, see
 * cost/graph/latency.h.  Where tiles do not move in boxes, bound and estimate are the nest's cycles.
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
bool op_price(const struct inner_question *question, struct arena *arena, struct op_price *out);

/* Why the machine cannot carry out an op that is open; NULL. */
const char *op_price_reject(
	const struct traffic_op *op, const struct mapping *mapping, struct arena *arena);

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

/* Causes of the cycles of a plan: each phase counts for the first of its slowest resources. */
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
 * HBM bytes of one op under a mapping, for passes that choose tiles: `in_lx` has bit i set when operand
 * i is resident.  *stream_bytes: the LX bytes on one core of its tile buffers and accumulators, aligned.
 * An operand whose box can change from tile to tile has two buffers, others one.  Accumulators are two if
 * a ring still reads one when the next output tile begins, else one.  False on overflow.
 */
bool cost_stream(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, uint32_t in_lx, int64_t *hbm_bytes, int64_t *stream_bytes);

/*
 * Picojoules of counts, the model's or the simulator's: every count times its entry of the machine's
 * table, added in a fixed order (steps, operands, then the order of the traffics), so that equal
 * counts give equal sums.  The levels inside the scratchpad and the multiply-adds of inner nests
 * cost what a nest's do; where tiles do not move in boxes a step costs what its nest does.
 */
double energy_of_counts(const struct plan *plan, const struct counts *counts, struct arena *arena);

/* `energy`, and what one op adds to it; `model` is that of its nest, NULL: it has none. */
double energy_add(double energy, const struct arch *arch, const struct op *op,
	const struct step_count *count, const struct nest_model *model);

/* Energy of the bytes of one operand. */
double energy_of_traffic(const struct arch *arch, const int64_t bytes[TRAFFIC_COUNT]);

/*
 * The energy of counts by place and tensor.  Places are the levels of the machine and its wires; what
 * belongs to no tensor (computes, leakage, networks) is a row of its own.  Bytes are added up
 * first, as integers; their sum in picojoules is energy_of_counts, up to the rounding of doubles.
 */
enum energy_place {
	ENERGY_REDUCE_RING = ARCH_LEVELS_MOST, /* before them: levels of the machine, by number */
	ENERGY_DATA_RING,
	ENERGY_LINKS,
	ENERGY_PLACES,
};
struct energy_parts {
	const struct plan *plan;
	size_t row_count;            /* tensors of the workload, and one of no tensor, the last */
	double (*at)[ENERGY_PLACES]; /* by row and place, pJ */
};
/* `counts` fit (counts_fit). */
struct energy_parts energy_parts(
	const struct plan *plan, const struct counts *counts, struct arena *arena);
double energy_of_place(const struct energy_parts *parts, int place);
double energy_of_row(const struct energy_parts *parts, size_t row);
/* The name of a level or of wires. */
const char *energy_place_name(const struct energy_parts *parts, int place);
/* The source of that energy in the machine file, a sentence; NULL: not given. */
const char *energy_place_source(const struct energy_parts *parts, int place);

/* The energies of all nests of a step together, level by level, and the cycles of one of them.  How many
 * they are; 0: none, or not whole ones. */
int64_t energy_of_nests(
	const struct nest_model *model, const struct nest_counts *all, struct nest_score *score);

#endif
