#include "cost/graph/cost.h"

#include "base/arena.h"
#include "base/number.h"
#include "cost/graph/energy.h"
#include "cost/graph/latency.h"
#include "cost/graph/streaming.h"
#include "model/graph/run.h"

#include <inttypes.h>

const char *op_price_reject(
	const struct traffic_op *op, const struct mapping *mapping, struct arena *arena)
{
	const struct arch *arch = op->arch;
	const char *name = op->op->name;
	int64_t room;
	if (!op_is_tiled(op->op))
		return NULL;
	if (op->inner && op->inner->why)
		return arena_format(arena, "op '%s': %s", name, op->inner->why);
	if (!arch_moves_boxes(arch))
		return NULL;
	if (mapping_reduction_split(arch, op->op, mapping) > 1 &&
		!ring_reduces(&arch->reduce_ring, op->op->primitive->partial))
		return arena_format(arena,
			"op '%s' splits a reduction over cores, and no ring can combine it", name);
	int64_t most = arch_stream_capacity(arch);
	if (!streaming_room(op, &room) || room > most)
		return arena_format(arena,
			"op '%s' has tile buffers of more than the %" PRId64
			" bytes that LX keeps for them",
			name, most);
	return NULL;
}

/* Bytes of the scratchpad that tiles of operands with another home take. */
static int64_t nest_room(const struct traffic_op *op, bool *fits)
{
	int64_t bytes = 0;
	if (!op->inner || op->inner->scratchpad < 0)
		return 0;
	for (int i = 0; i < op_operands(op->op); i++) {
		enum dtype dtype =
			op->workload->tensors[op_operand(op->op, i)->tensor].layout.dtype;
		int64_t words = op->inner->counts.at[op->inner->scratchpad][i].capacity;
		if (!(op->in_lx >> i & 1))
			bytes = checked_add(
				fits, bytes, checked_mul(fits, words, dtype_stored_bytes(dtype)));
	}
	return bytes;
}

bool op_price(const struct inner_question *question, struct arena *arena, struct op_price *out)
{
	struct traffic_op *op = arena_new(arena, struct traffic_op);
	*out = (struct op_price){0};
	traffic_open_nest(op, question, arena);
	out->why = op_price_reject(op, question->mapping, arena);
	bool fits = traffic_count(op, &out->counts);
	out->energy_pj =
		energy_add(0, op->arch, op->op, &out->counts, op->inner ? op->inner->model : NULL);
	for (int i = 0; i < op_operands(op->op); i++) {
		const int64_t *bytes = out->counts.bytes[i];
		out->hbm_bytes = checked_add(&fits, out->hbm_bytes, bytes[TRAFFIC_HBM_READ]);
		out->hbm_bytes = checked_add(&fits, out->hbm_bytes, bytes[TRAFFIC_HBM_WRITE]);
	}
	if (!fits || !op_is_tiled(op->op))
		return fits;
	if (arch_moves_boxes(op->arch))
		return streaming_room(op, &out->room) &&
		       streaming_bound(op, out->hbm_bytes, &out->bound) &&
		       streaming_phase(op, &out->counts, 0, &out->estimate);
	out->room = nest_room(op, &fits);
	out->bound = out->estimate = latency_nest(op, &fits);
	return fits;
}

/* All steps, opened once. */
static struct traffic_op *open_steps(const struct plan *plan, struct arena *arena)
{
	struct traffic_op *ops = arena_array(arena, struct traffic_op, plan->step_count);
	for (int step = 0; step < plan->step_count; step++)
		traffic_open_step(&ops[step], plan, step, arena);
	return ops;
}

/* Adds what so many iterations alike do. */
static bool add_iterations(
	struct step_count *all, const struct step_count *one, int64_t times, struct arena *arena)
{
	bool fits = true;
	for (int i = 0; i <= OP_READS_MOST; i++)
		for (int t = 0; t < TRAFFIC_COUNT; t++)
			all->bytes[i][t] = checked_add(&fits, all->bytes[i][t],
				checked_mul(&fits, one->bytes[i][t], times));
	all->computes = checked_add(&fits, all->computes, checked_mul(&fits, one->computes, times));
	if (!one->nests)
		return fits;
	struct nest_counts *nests = arena_new(arena, struct nest_counts);
	if (all->nests)
		*nests = *all->nests;
	all->nests = nests;
	return nest_counts_add(nests, one->nests, times) && fits;
}

static struct run_classes find_classes(const struct plan *plan, int step, struct arena *arena)
{
	return run_classes(arena, plan->workload, &plan->workload->ops[plan->steps[step].op],
		plan_run(plan, step));
}

static bool count_step(
	const struct plan *plan, int step, struct arena *arena, struct step_count *out)
{
	struct run_classes classes = find_classes(plan, step, arena);
	struct traffic_op *op = arena_new(arena, struct traffic_op);
	for (size_t c = 0; c < classes.count; c++) {
		struct step_count one;
		traffic_open_iteration(op, plan, step, classes.at[c].iteration, arena);
		if (!traffic_count(op, &one) ||
			!add_iterations(out, &one, classes.at[c].count, arena))
			return false;
	}
	return true;
}

static bool count_steps(const struct plan *plan, const struct traffic_op *ops, struct arena *arena,
	struct counts *out)
{
	bool fits = true;
	out->step_count = plan->step_count;
	out->steps = arena_array(arena, struct step_count, plan->step_count);
	for (int step = 0; step < plan->step_count; step++)
		if (!(plan_run(plan, step) ? count_step(plan, step, arena, &out->steps[step])
					   : traffic_count(&ops[step], &out->steps[step])))
			fits = false;
	return fits && counts_fit(out);
}

bool cost_counts(const struct plan *plan, struct arena *arena, struct counts *out)
{
	return count_steps(plan, open_steps(plan, arena), arena, out);
}

/* The op of a phase, with what the moves before it bring. */
static bool estimate_phase(const struct plan *plan, const struct step_count *counts,
	struct traffic_op *ops, struct phase_cost *phase)
{
	int last = phase->end_step - 1;
	struct traffic_op *op = &ops[last];
	phase->estimate = phase->cycles;
	if (!arch_moves_boxes(op->arch) || !op_is_tiled(op->op) || op->moves || op->evicts ||
		op->relayout)
		return true;
	bool fits = true;
	int64_t moved = 0, cycles;
	for (int step = phase->first_step; step < last; step++) {
		moved = checked_add(&fits, moved, counts[step].bytes[0][TRAFFIC_HBM_READ]);
		struct arrival_share share = arrival_share(
			plan->arch, plan->workload, ops[step].op, &plan->steps[step].mapping);
		arrivals_add(&op->arriving, ops[step].op->writes[0].tensor, &share, plan->arch,
			plan->workload, op->op, &plan->steps[last].mapping, true);
	}
	if (!fits || !streaming_phase(op, &counts[last], moved, &cycles))
		return false;
	phase->estimate = number_max(phase->cycles, cycles);
	return true;
}

/* Bound and estimate. */
static bool time_phase(const struct plan *plan, struct traffic_op *ops, const struct counts *counts,
	struct arena *arena, struct phase_cost *phase)
{
	return latency_phase(plan, counts, ops, arena, phase) &&
	       estimate_phase(plan, counts->steps, ops, phase);
}

static bool add_phases(struct phase_cost *all, const struct phase_cost *one, int64_t times)
{
	bool fits = true;
	all->cycles = checked_add(&fits, all->cycles, checked_mul(&fits, one->cycles, times));
	all->estimate = checked_add(&fits, all->estimate, checked_mul(&fits, one->estimate, times));
	for (int r = 0; r < RESOURCE_COUNT; r++)
		all->resource[r] = checked_add(
			&fits, all->resource[r], checked_mul(&fits, one->resource[r], times));
	return fits;
}

/* A phase; that of a step in a run has all iterations, which follow each other.  `ops` and counts are
 * those of one iteration meanwhile.  *why: what the machine cannot carry out. */
static bool price_phase(const struct plan *plan, struct traffic_op *ops, struct counts *counts,
	struct arena *arena, struct phase_cost *phase, const char **why)
{
	int step = phase->first_step;
	if (!plan_run(plan, step))
		return time_phase(plan, ops, counts, arena, phase);
	struct run_classes classes = find_classes(plan, step, arena);
	struct step_count all = counts->steps[step];
	bool fits = true;
	for (size_t c = 0; c < classes.count; c++) {
		struct phase_cost one = {.first_step = step, .end_step = phase->end_step};
		traffic_open_iteration(&ops[step], plan, step, classes.at[c].iteration, arena);
		fits &= traffic_count(&ops[step], &counts->steps[step]) &&
			time_phase(plan, ops, counts, arena, &one) &&
			add_phases(phase, &one, classes.at[c].count);
		if (!*why)
			*why = op_price_reject(&ops[step], &plan->steps[step].mapping, arena);
	}
	counts->steps[step] = all;
	return fits;
}

static const char *find_rejection(
	const struct plan *plan, const struct traffic_op *ops, struct arena *arena, const char *why)
{
	for (int step = 0; step < plan->step_count && !why; step++)
		why = op_price_reject(&ops[step], &plan->steps[step].mapping, arena);
	return why;
}

static double find_energy(
	const struct plan *plan, const struct traffic_op *ops, const struct counts *counts)
{
	double energy = 0;
	for (int step = 0; step < plan->step_count; step++)
		energy = energy_add(energy, plan->arch, ops[step].op, &counts->steps[step],
			ops[step].inner ? ops[step].inner->model : NULL);
	return energy;
}

static int64_t find_peak(const struct plan *plan)
{
	int64_t peak = 0;
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		if (stay->place == PLACE_LX)
			peak = number_max(peak, stay->address + stay->size);
	}
	for (int s = 0; s < plan->step_count; s++) {
		const struct staging *staging = plan->steps[s].staging;
		for (int k = 0; staging && k < staging->count; k++)
			peak = number_max(peak, staging->addresses[k] + staging_bytes(staging));
	}
	return peak;
}

/* Cycles that all cores of the machine would need if they did nothing but compute. */
static double ideal_cycles(const struct plan *plan, const struct counts *counts)
{
	double cycles = 0;
	for (int step = 0; step < plan->step_count; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		struct ratio rate = latency_rate(plan->arch, plan->workload, op);
		if (rate.num > 0)
			cycles += (double)counts->steps[step].computes / ratio_double(rate);
	}
	return cycles / (double)arch_cores(plan->arch);
}

/* Adds up the integers; false when one does not fit. */
static bool add_up(const struct plan *plan, struct plan_cost *cost)
{
	struct score *score = &cost->score;
	bool fits = true;
	score->cycles = score->estimate_cycles = cost->overhead_cycles;
	for (int i = 0; i < cost->phase_count; i++) {
		const struct phase_cost *phase = &cost->phases[i];
		score->cycles = checked_add(&fits, score->cycles, phase->cycles);
		score->estimate_cycles =
			checked_add(&fits, score->estimate_cycles, phase->estimate);
	}
	for (int step = 0; step < plan->step_count; step++) {
		const struct step_count *count = &cost->counts.steps[step];
		for (int i = 0; i <= OP_READS_MOST; i++) {
			score->hbm_bytes = checked_add(
				&fits, score->hbm_bytes, count->bytes[i][TRAFFIC_HBM_READ]);
			score->hbm_bytes = checked_add(
				&fits, score->hbm_bytes, count->bytes[i][TRAFFIC_HBM_WRITE]);
		}
		const struct staging *staging = plan->steps[step].staging;
		score->link_bytes =
			checked_add(&fits, score->link_bytes, count->bytes[1][TRAFFIC_LINK]);
		if (staging)
			score->buffer_bytes = number_max(
				score->buffer_bytes, staging->count * staging_bytes(staging));
		score->computes = checked_add(&fits, score->computes, count->computes);
		score->cores = number_max(
			score->cores, mapping_cores(plan->arch, &plan->steps[step].mapping));
	}
	return fits;
}

bool cost_plan(const struct plan *plan, struct arena *arena, struct plan_cost *out)
{
	struct traffic_op *ops = open_steps(plan, arena);
	const char *why = NULL;
	*out = (struct plan_cost){0};
	if (!count_steps(plan, ops, arena, &out->counts))
		return false;
	out->phase_count = latency_phases(plan, arena, &out->phases);
	for (int i = 0; i < out->phase_count; i++)
		if (!price_phase(plan, ops, &out->counts, arena, &out->phases[i], &why))
			return false;
	if (!plan_overhead(plan, &out->overhead_cycles) || !add_up(plan, out))
		return false;
	struct score *score = &out->score;
	score->rejected = find_rejection(plan, ops, arena, why);
	score->feasible = !score->rejected;
	score->energy_pj = find_energy(plan, ops, &out->counts);
	score->lx_peak_bytes = find_peak(plan);
	if (score->cycles > 0)
		score->utilization = ideal_cycles(plan, &out->counts) / (double)score->cycles;
	return true;
}

const char *const limiter_names[] = {
	"HBM", "LX", "array", "vector", "rings", "links", "overhead", NULL};

static enum limiter limiter_of(const struct plan *plan, const struct phase_cost *phase)
{
	static const enum limiter limiters[RESOURCE_COUNT] = {
		[RESOURCE_HBM] = LIMITER_HBM,
		[RESOURCE_FILL] = LIMITER_LX,
		[RESOURCE_LX_READ] = LIMITER_LX,
		[RESOURCE_LX_WRITE] = LIMITER_LX,
		[RESOURCE_LX] = LIMITER_LX,
		[RESOURCE_COMPUTE] = LIMITER_VECTOR,
		[RESOURCE_RING] = LIMITER_RINGS,
		[RESOURCE_DATA_RING] = LIMITER_RINGS,
		[RESOURCE_LINKS] = LIMITER_LINKS,
	};
	int slowest = 0;
	for (int r = 1; r < RESOURCE_COUNT; r++)
		if (phase->resource[r] > phase->resource[slowest])
			slowest = r;
	for (int s = phase->first_step; slowest == RESOURCE_COMPUTE && s < phase->end_step; s++)
		if (plan->workload->ops[plan->steps[s].op].primitive->unit == UNIT_MAC)
			return LIMITER_ARRAY;
	return limiters[slowest];
}

void cost_limits(const struct plan *plan, const struct plan_cost *cost, int64_t *cycles)
{
	for (int l = 0; l < LIMITER_COUNT; l++)
		cycles[l] = 0;
	for (int p = 0; p < cost->phase_count; p++)
		cycles[limiter_of(plan, &cost->phases[p])] += cost->phases[p].cycles;
	cycles[LIMITER_OVERHEAD] = cost->overhead_cycles;
}

bool cost_stream(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, uint32_t in_lx, int64_t *hbm_bytes, int64_t *stream_bytes)
{
	struct traffic_op traffic;
	traffic_open(&traffic, arch, workload, op, mapping, in_lx);
	return streaming_hbm(&traffic, hbm_bytes) && streaming_room(&traffic, stream_bytes);
}
