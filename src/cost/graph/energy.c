#include "cost/graph/energy.h"

#include "base/arena.h"
#include "cost/nest/nest_model.h"

/* What a machine without HBM or LX does not have costs nothing. */
double energy_of_traffic(const struct arch *arch, const int64_t bytes[TRAFFIC_COUNT])
{
	static const struct level none;
	const struct level *hbm = arch->hbm < 0 ? &none : &arch->levels[arch->hbm];
	const struct level *lx = arch->lx < 0 ? &none : &arch->levels[arch->lx];
	double energy = 0;
	energy += (double)bytes[TRAFFIC_HBM_READ] * hbm->read_pj;
	energy += (double)bytes[TRAFFIC_HBM_WRITE] * hbm->write_pj;
	energy += (double)bytes[TRAFFIC_LX_FILL] * lx->write_pj;
	energy += (double)bytes[TRAFFIC_LX_DRAIN] * lx->read_pj;
	energy += (double)bytes[TRAFFIC_LX_READ] * lx->read_pj;
	energy += (double)bytes[TRAFFIC_LX_WRITE] * lx->write_pj;
	energy += (double)bytes[TRAFFIC_RING] * arch->reduce_ring.pj;
	energy += (double)bytes[TRAFFIC_DATA_RING] * arch->data_ring.pj;
	energy += (double)bytes[TRAFFIC_LINK] * arch->link_pj;
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

double energy_add(double energy, const struct arch *arch, const struct op *op,
	const struct step_count *count, const struct nest_model *model)
{
	static const struct level none;
	int unit = op_unit(arch, op);
	const struct level *computes = unit < 0 ? &none : &arch->levels[unit];
	bool linear = op_is_tiled(op) && !arch_moves_boxes(arch);
	for (int i = 0; !linear && i < op_operands(op); i++)
		energy += energy_of_traffic(arch, count->bytes[i]);
	if (count->nests && model)
		return energy + nests_energy(arch, model, count->nests);
	return energy +
	       (double)count->computes *
		       (op->primitive->unit == UNIT_MAC ? computes->mac_pj : computes->vector_pj);
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
