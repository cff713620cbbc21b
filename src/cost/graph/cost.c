#include "cost/graph/cost.h"

#include "base/arena.h"
#include "base/number.h"
#include "cost/graph/latency.h"
#include "cost/graph/streaming.h"
#include "cost/nest/nest.h"
#include "model/graph/run.h"

#include <inttypes.h>

/* Picojoules of a byte of each traffic, and where they are spent; of a level that the machine does not have, none. */
struct traffic_price {
	int place;
	double pj;
};

static struct traffic_price price_level(const struct arch *arch, int level, bool writes)
{
	if (level < 0)
		return (struct traffic_price){0};
	const struct storage_level *at = level_storage(&arch->levels[level]);
	return (struct traffic_price){level, writes ? at->write_pj : at->read_pj};
}

static struct traffic_price price_of(const struct arch *arch, enum traffic traffic)
{
	switch (traffic) {
	case TRAFFIC_HBM_READ:
	case TRAFFIC_HBM_WRITE:
		return price_level(arch, arch->hbm, traffic == TRAFFIC_HBM_WRITE);
	case TRAFFIC_LX_FILL:
	case TRAFFIC_LX_WRITE:
		return price_level(arch, arch->lx, true);
	case TRAFFIC_LX_DRAIN:
	case TRAFFIC_LX_READ:
		return price_level(arch, arch->lx, false);
	case TRAFFIC_RING:
		return (struct traffic_price){ENERGY_REDUCE_RING, arch->reduce_ring.pj};
	case TRAFFIC_DATA_RING:
		return (struct traffic_price){ENERGY_DATA_RING, arch->data_ring.pj};
	default:
		return (struct traffic_price){ENERGY_LINKS, arch->link_pj};
	}
}

double energy_of_traffic(const struct arch *arch, const int64_t bytes[TRAFFIC_COUNT])
{
	double energy = 0;
	for (int t = 0; t < TRAFFIC_COUNT; t++)
		energy += (double)bytes[t] * price_of(arch, (enum traffic)t).pj;
	return energy;
}

/* The share that one of `times` has, in whole numbers. */
static void nest_counts_divide(
	const struct nest_counts *all, int64_t times, struct nest_counts *out)
{
	*out = (struct nest_counts){
		.computes = all->computes / times,
		.compute_cycles = all->compute_cycles / times,
		.array_cycles = all->array_cycles / times,
		.utilized_computes = all->utilized_computes / times,
	};
	for (int i = 0; i < ARCH_LEVELS_MOST; i++) {
		out->utilized[i] = all->utilized[i] / times;
		out->rounds[i] = all->rounds[i] / times;
		out->rows[i] = all->rows[i] / times;
		for (int t = 0; t < SHAPE_SPACES_MOST; t++) {
			const struct nest_count *count = &all->at[i][t];
			out->at[i][t] = (struct nest_count){count->capacity / times,
				count->reads / times, count->fills / times, count->updates / times,
				count->links / times, count->drains / times};
		}
	}
}

/* Adds the energies of another nest to those of one, this often. */
static void nest_score_multiply(
	struct nest_score *score, double times, const struct nest_score *other)
{
	score->compute_pj = score->compute_pj * times + other->compute_pj;
	score->energy_pj = score->energy_pj * times + other->energy_pj;
	for (int i = 0; i < ARCH_LEVELS_MOST; i++) {
		score->level_pj[i] = score->level_pj[i] * times + other->level_pj[i];
		score->leak_pj[i] = score->leak_pj[i] * times + other->leak_pj[i];
		score->network_pj[i] = score->network_pj[i] * times + other->network_pj[i];
		for (int t = 0; t < SHAPE_SPACES_MOST; t++)
			score->space_pj[i][t] =
				score->space_pj[i][t] * times + other->space_pj[i][t];
	}
}

/* Finds the counts of the last of `times` if all others are `one`: more if some begin sums and others add to them. */
static struct nest_counts find_last(
	const struct nest_counts *all, const struct nest_counts *one, int64_t times)
{
	struct nest_counts last = *one;
	int64_t others = times - 1;
	for (int i = 0; i < ARCH_LEVELS_MOST; i++)
		for (int t = 0; t < SHAPE_SPACES_MOST; t++) {
			const struct nest_count *sum = &all->at[i][t], *each = &one->at[i][t];
			last.at[i][t] = (struct nest_count){each->capacity,
				sum->reads - others * each->reads,
				sum->fills - others * each->fills,
				sum->updates - others * each->updates,
				sum->links - others * each->links,
				sum->drains - others * each->drains};
		}
	return last;
}

int64_t energy_of_nests(
	const struct nest_model *model, const struct nest_counts *all, struct nest_score *score)
{
	struct nest_counts one;
	struct nest_score other = {0};
	int64_t times = model->computes > 0 ? all->computes / model->computes : 0;
	*score = (struct nest_score){0};
	if (times < 1)
		return 0;
	nest_counts_divide(all, times, &one);
	struct nest_counts last = find_last(all, &one, times);
	bool alike = nest_totals_equal(&one, &last);
	if (!alike)
		nest_derive(model, &last, &other);
	nest_derive(model, &one, score);
	nest_score_multiply(score, (double)(alike ? times : times - 1), &other);
	return times;
}

/* The energy of all nests of a step; without the scratchpad, which counts bytes, where tiles move in boxes. */
static double nests_energy(
	const struct arch *arch, const struct nest_model *model, const struct nest_counts *all)
{
	struct nest_score score;
	energy_of_nests(model, all, &score);
	if (!arch_moves_boxes(arch))
		return score.energy_pj;
	double energy = score.compute_pj;
	for (int i = 0; i < model->hierarchy->level_count; i++)
		energy += model->hierarchy->levels[i].row == arch->lx ? score.network_pj[i]
								      : score.level_pj[i];
	return energy;
}

/* True if the bytes of a step are paid for; where tiles do not move in boxes its nest has them. */
static bool pays_bytes(const struct arch *arch, const struct op *op)
{
	return !op_is_tiled(op) || arch_moves_boxes(arch);
}

/* Picojoules of a compute of an op without a nest. */
static double compute_price(const struct arch *arch, const struct op *op)
{
	int unit = op_unit(arch, op);
	if (unit < 0)
		return 0;
	return op->primitive->unit == UNIT_MAC ? level_compute(&arch->levels[unit])->mac_pj
					       : level_compute(&arch->levels[unit])->vector_pj;
}

double energy_add(double energy, const struct arch *arch, const struct op *op,
	const struct step_count *count, const struct nest_model *model)
{
	for (int i = 0; pays_bytes(arch, op) && i < op_operands(op); i++)
		energy += energy_of_traffic(arch, count->bytes[i]);
	if (count->nests && model)
		return energy + nests_energy(arch, model, count->nests);
	return energy + (double)count->computes * compute_price(arch, op);
}

/* NULL: the step has no nests. */
static const struct nest_model *find_model(const struct plan *plan, int step, struct arena *arena)
{
	const char *why;
	struct inner_question question = inner_nest_question(arena, plan, step);
	struct inner_nest nest = inner_nest_make(&question, arena, &why);
	return nest.hierarchy ? nest_model_make(arena, nest.hierarchy, nest.shape, COUNTING_EXACT)
			      : NULL;
}

double energy_of_counts(const struct plan *plan, const struct counts *counts, struct arena *arena)
{
	double energy = 0;
	for (int step = 0; step < counts->step_count; step++) {
		const struct step_count *count = &counts->steps[step];
		struct arena_mark mark = arena_mark(arena);
		energy = energy_add(energy, plan->arch, &plan->workload->ops[plan->steps[step].op],
			count, count->nests ? find_model(plan, step, arena) : NULL);
		arena_release(arena, mark);
	}
	return energy;
}

/* --- by place and tensor */

/* Adds what the nests of a step cost: accesses to the rows of their tensors, all else to the last. */
static void energy_parts_add_nests(struct energy_parts *parts, int step,
	const struct nest_model *model, const struct nest_counts *nests)
{
	const struct arch *arch = parts->plan->arch;
	const struct op *op = &parts->plan->workload->ops[parts->plan->steps[step].op];
	double *rest = parts->at[parts->row_count - 1];
	struct nest_score score;
	energy_of_nests(model, nests, &score);
	rest[op_unit(arch, op)] += score.compute_pj;
	for (int i = 0; i < model->hierarchy->level_count; i++) {
		int place = model->hierarchy->levels[i].row;
		rest[place] += score.network_pj[i];
		if (arch_moves_boxes(arch) && place == arch->lx)
			continue;
		rest[place] += score.leak_pj[i];
		for (int t = 0; t < model->shape->space_count; t++)
			parts->at[op_operand(op, t)->tensor][place] += score.space_pj[i][t];
	}
}

/* Adds up the bytes of every tensor, and what is not bytes in picojoules. */
static void energy_parts_add_step(struct energy_parts *parts, int step,
	const struct step_count *count, int64_t (*bytes)[TRAFFIC_COUNT], struct arena *arena)
{
	const struct plan *plan = parts->plan;
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	struct arena_mark mark = arena_mark(arena);
	const struct nest_model *model = count->nests ? find_model(plan, step, arena) : NULL;
	for (int i = 0; pays_bytes(plan->arch, op) && i < op_operands(op); i++)
		for (int t = 0; t < TRAFFIC_COUNT; t++)
			bytes[op_operand(op, i)->tensor][t] += count->bytes[i][t];
	if (model)
		energy_parts_add_nests(parts, step, model, count->nests);
	else if (op_unit(plan->arch, op) >= 0)
		parts->at[parts->row_count - 1][op_unit(plan->arch, op)] +=
			(double)count->computes * compute_price(plan->arch, op);
	arena_release(arena, mark);
}

struct energy_parts energy_parts(
	const struct plan *plan, const struct counts *counts, struct arena *arena)
{
	struct energy_parts parts = {.plan = plan, .row_count = plan->workload->tensor_count + 1};
	int64_t(*bytes)[TRAFFIC_COUNT] = arena_alloc_array(arena, parts.row_count, sizeof *bytes);
	parts.at = arena_alloc_array(arena, parts.row_count, sizeof *parts.at);
	for (int step = 0; step < counts->step_count; step++)
		energy_parts_add_step(&parts, step, &counts->steps[step], bytes, arena);
	for (size_t row = 0; row < parts.row_count; row++)
		for (int t = 0; t < TRAFFIC_COUNT; t++) {
			struct traffic_price price = price_of(plan->arch, (enum traffic)t);
			parts.at[row][price.place] += (double)bytes[row][t] * price.pj;
		}
	return parts;
}

double energy_of_place(const struct energy_parts *parts, int place)
{
	double sum = 0;
	for (size_t row = 0; row < parts->row_count; row++)
		sum += parts->at[row][place];
	return sum;
}

double energy_of_row(const struct energy_parts *parts, size_t row)
{
	double sum = 0;
	for (int place = 0; place < ENERGY_PLACES; place++)
		sum += parts->at[row][place];
	return sum;
}

const char *energy_place_name(const struct energy_parts *parts, int place)
{
	static const char *const wires[] = {"reduce ring", "data ring", "links"};
	return place < ARCH_LEVELS_MOST ? parts->plan->arch->levels[place].name
					: wires[place - ARCH_LEVELS_MOST];
}

const char *energy_place_source(const struct energy_parts *parts, int place)
{
	const struct arch *arch = parts->plan->arch;
	if (place < ARCH_LEVELS_MOST)
		return place < arch->level_count
			       ? arch_energy_source(arch, arch->levels[place].name)
			       : NULL;
	if (place == ENERGY_LINKS)
		return NULL;
	return place == ENERGY_DATA_RING ? arch->data_ring.energy_source
					 : arch->reduce_ring.energy_source;
}

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
		       streaming_phase(op, &out->counts, &(struct moved){0}, &out->estimate);
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

static struct run_classes plan_find_classes(const struct plan *plan, int step, struct arena *arena)
{
	return run_classes(arena, plan->workload, &plan->workload->ops[plan->steps[step].op],
		plan_run(plan, step));
}

static bool count_step(
	const struct plan *plan, int step, struct arena *arena, struct step_count *out)
{
	struct run_classes classes = plan_find_classes(plan, step, arena);
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
	struct moved moved = {0};
	int64_t cycles;
	for (int step = phase->first_step; step < last; step++) {
		moved_add(&moved, &ops[step], counts[step].bytes[0][TRAFFIC_HBM_READ], 0, &fits);
		struct arrival_share share = arrival_share(
			plan->arch, plan->workload, ops[step].op, &plan->steps[step].mapping);
		share.lanes = traffic_lane_part(&ops[step], 0);
		arrivals_add(&op->arriving, ops[step].op->writes[0].tensor, &share, plan->arch,
			plan->workload, op->op, &plan->steps[last].mapping, true);
	}
	if (!fits || !streaming_phase(op, &counts[last], &moved, &cycles))
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
	struct run_classes classes = plan_find_classes(plan, step, arena);
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
static bool plan_cost_add_up(const struct plan *plan, struct plan_cost *cost)
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
	if (!plan_overhead(plan, &out->overhead_cycles) || !plan_cost_add_up(plan, out))
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
