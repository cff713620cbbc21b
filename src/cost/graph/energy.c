#include "cost/graph/energy.h"

#include "base/arena.h"
#include "cost/nest/nest.h"

/* Picojoules of a byte of each traffic, and where they are spent; of a level that the machine does not have, none. */
struct traffic_price {
	int place;
	double pj;
};

static struct traffic_price price_level(const struct arch *arch, int level, bool writes)
{
	if (level < 0)
		return (struct traffic_price){0};
	const struct level *at = &arch->levels[level];
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
static void divide(const struct nest_counts *all, int64_t times, struct nest_counts *out)
{
	*out = (struct nest_counts){
		.computes = all->computes / times,
		.compute_cycles = all->compute_cycles / times,
		.array_cycles = all->array_cycles / times,
		.utilized_computes = all->utilized_computes / times,
	};
	for (int i = 0; i < ARCH_LEVELS_MOST; i++) {
		out->utilized[i] = all->utilized[i] / times;
		for (int t = 0; t < SHAPE_SPACES_MOST; t++) {
			const struct nest_count *count = &all->at[i][t];
			out->at[i][t] = (struct nest_count){count->capacity / times,
				count->reads / times, count->fills / times, count->updates / times,
				count->links / times, count->drains / times};
		}
	}
}

/* Adds the energies of another nest to those of one, this often. */
static void multiply(struct nest_score *score, double times, const struct nest_score *other)
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

/* What the last of `times` has if all others are `one`: more where some begin sums and others add to them. */
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
	divide(all, times, &one);
	struct nest_counts last = find_last(all, &one, times);
	bool alike = nest_totals_equal(&one, &last);
	if (!alike)
		nest_derive(model, &last, &other);
	nest_derive(model, &one, score);
	multiply(score, (double)(alike ? times : times - 1), &other);
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
	return op->primitive->unit == UNIT_MAC ? arch->levels[unit].mac_pj
					       : arch->levels[unit].vector_pj;
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
static void add_nests(struct energy_parts *parts, int step, const struct nest_model *model,
	const struct nest_counts *nests)
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
static void add_step(struct energy_parts *parts, int step, const struct step_count *count,
	int64_t (*bytes)[TRAFFIC_COUNT], struct arena *arena)
{
	const struct plan *plan = parts->plan;
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	struct arena_mark mark = arena_mark(arena);
	const struct nest_model *model = count->nests ? find_model(plan, step, arena) : NULL;
	for (int i = 0; pays_bytes(plan->arch, op) && i < op_operands(op); i++)
		for (int t = 0; t < TRAFFIC_COUNT; t++)
			bytes[op_operand(op, i)->tensor][t] += count->bytes[i][t];
	if (model)
		add_nests(parts, step, model, count->nests);
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
		add_step(&parts, step, &counts->steps[step], bytes, arena);
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
