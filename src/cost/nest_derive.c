#include "cost/nest_derive.h"

#include "base/wide.h"

#include <math.h>

/* Totals over instances; each dataspace's share of the port is scaled. */
static bool cycles_exact(
	const struct nest_model *model, int i, const struct nest_counts *counts, int64_t *out)
{
	const struct nest_level *level = &model->hierarchy->levels[i];
	wide reads = 0, writes = 0;
	bool scaled = false;
	double scaled_reads = 0, scaled_writes = 0;
	for (int t = 0; t < model->shape->space_count; t++) {
		const struct nest_count *count = &counts->at[i][t];
		wide written = (wide)count->fills + count->updates;
		reads += count->reads;
		writes += written;
		scaled |= level->rate_scale[t] != 1;
		scaled_reads += (double)count->reads * level->rate_scale[t];
		scaled_writes += (double)written * level->rate_scale[t];
	}
	wide instances = counts->utilized[i] ? counts->utilized[i] : 1;
	const struct ratio rates[] = {level->read_rate, level->write_rate, level->shared_rate};
	const wide work[] = {reads, writes, reads + writes};
	const double scaled_work[] = {scaled_reads, scaled_writes, scaled_reads + scaled_writes};
	*out = counts->compute_cycles;
	for (int k = 0; k < 3; k++) {
		if (!rates[k].num)
			continue;
		if (scaled) {
			double cycles = ceil(scaled_work[k] / (double)instances *
					     (double)rates[k].den / (double)rates[k].num);
			if (!(cycles < 0x1p63))
				return false;
			*out = number_max(*out, (int64_t)cycles);
			continue;
		}
		/* ceil(work * den / (instances * num)), in the order that keeps 128 bits enough */
		wide product, divisor;
		if (__builtin_mul_overflow(work[k], (wide)rates[k].den, &product) ||
			__builtin_mul_overflow(instances, (wide)rates[k].num, &divisor))
			return false;
		wide cycles = product / divisor + (product % divisor != 0);
		if (cycles > INT64_MAX)
			return false;
		*out = number_max(*out, (int64_t)cycles);
	}
	return true;
}

static bool cycles_timeloop(
	const struct nest_model *model, int i, const struct nest_counts *counts, int64_t *out)
{
	const struct nest_level *level = &model->hierarchy->levels[i];
	double compute = (double)counts->compute_cycles, reads = 0, writes = 0, slowdown = 1;
	double instances = counts->utilized[i] ? (double)counts->utilized[i] : 1;
	for (int t = 0; t < model->shape->space_count; t++) {
		const struct nest_count *count = &counts->at[i][t];
		reads += (double)count->reads / instances / compute * level->rate_scale[t];
		writes += (double)(count->fills + count->updates) / instances / compute *
			  level->rate_scale[t];
	}
	const struct ratio rates[] = {level->read_rate, level->write_rate, level->shared_rate};
	const double work[] = {reads, writes, reads + writes};
	for (int k = 0; k < 3; k++)
		if (rates[k].num && ratio_double(rates[k]) < work[k])
			slowdown = fmin(slowdown, ratio_double(rates[k]) / work[k]);
	double cycles = ceil(compute / slowdown);
	if (!(cycles < 0x1p63))
		return false;
	*out = (int64_t)cycles;
	return true;
}

/* Accesses of whole blocks: ceil(words per instance / block size). */
static double block_accesses(int64_t words, int64_t instances, int64_t block_size)
{
	wide divisor = (wide)instances * block_size;
	return (double)(int64_t)(words / divisor + (words % divisor != 0));
}

static void derive_energy(
	const struct nest_model *model, const struct nest_counts *counts, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	score->compute_pj = (double)counts->computes * hierarchy->compute_pj;
	score->energy_pj = score->compute_pj;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t instances = number_max(counts->utilized[i], 1);
		/* Instances of a cluster share an access. */
		int64_t clusters = number_max(1,
			number_min(instances, level->mesh_x * level->mesh_y / level->cluster_size));
		score->level_pj[i] = 0;
		for (int t = 0; t < model->shape->space_count; t++) {
			const struct nest_count *count = &counts->at[i][t];
			double pj = block_accesses(count->reads, instances, level->block_size) *
					    level->pj[NEST_READ] +
				    block_accesses(count->fills, instances, level->block_size) *
					    level->pj[NEST_FILL] +
				    block_accesses(count->updates, instances, level->block_size) *
					    level->pj[NEST_UPDATE];
			score->space_pj[i][t] = pj * (double)clusters;
			score->level_pj[i] += score->space_pj[i][t];
		}
		score->leak_pj[i] = level->leak_pj * (double)score->cycles *
				    (double)counts->utilized[level->gated_at];
		score->network_pj[i] = 0;
		score->level_pj[i] += score->leak_pj[i];
		score->energy_pj += score->level_pj[i];
	}
}

enum nest_verdict nest_derive_counting(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	score->cycles = counts->compute_cycles;
	for (int i = 0; i < hierarchy->level_count; i++) {
		bool fits = (counting == COUNTING_EXACT ? cycles_exact : cycles_timeloop)(
			model, i, counts, &score->level_cycles[i]);
		if (!fits)
			return NEST_OVERFLOW;
		score->cycles = number_max(score->cycles, score->level_cycles[i]);
	}
	double multipliers = (double)hierarchy->compute_mesh_x * (double)hierarchy->compute_mesh_y;
	score->utilization = (double)counts->computes / multipliers / (double)score->cycles;
	derive_energy(model, counts, score);
	return NEST_FITS;
}
