#include "cost/nest/nest_derive.h"

#include "base/checked.h"
#include "base/wide.h"
#include "cost/nest/nest_lanes.h"
#include "cost/nest/nest_network.h"

#include <math.h>

/* What a level's ports carry, all instances together. */
struct traffic {
	double words[3]; /* reads, writes, both; scaled */
};

static struct traffic traffic_of(
	const struct nest_model *model, int i, const struct nest_counts *counts)
{
	const double *scale = model->rate_scale[i];
	double reads = 0, writes = 0;
	for (int t = 0; t < model->shape->space_count; t++) {
		const struct nest_count *count = &counts->at[i][t];
		reads += (double)count->reads * scale[t];
		writes += ((double)count->fills + (double)count->updates) * scale[t];
	}
	return (struct traffic){{reads, writes, reads + writes}};
}

/* ceil(work / (instances * rate)); -1 when it does not fit.  The quotient of two whole numbers
 * below 2^53 rounds to a whole number only if it is one. */
static int64_t cycles_of_work(wide work, int64_t instances, struct ratio rate)
{
	double words = (double)(int64_t)work * (double)rate.den;
	double served = (double)instances * (double)rate.num;
	if (work < INT64_C(1) << 53 && words < 0x1p53 && served < 0x1p53)
		return (int64_t)ceil(words / served);
	wide product, divisor;
	if (__builtin_mul_overflow(work, (wide)rate.den, &product) ||
		__builtin_mul_overflow((wide)instances, (wide)rate.num, &divisor))
		return -1;
	wide cycles = product / divisor + (product % divisor != 0);
	return cycles > INT64_MAX ? -1 : (int64_t)cycles;
}

static int64_t cycles_exact(const struct nest_model *model, int i, const struct nest_counts *counts)
{
	const struct nest_level *level = &model->hierarchy->levels[i];
	const struct ratio rates[] = {level->read_rate, level->write_rate, level->shared_rate};
	int64_t instances = number_max(counts->utilized[i], 1), most = counts->compute_cycles;
	wide reads = 0, writes = 0;
	for (int t = 0; t < model->shape->space_count; t++) {
		const struct nest_count *count = &counts->at[i][t];
		reads += count->reads;
		writes += (wide)count->fills + count->updates;
	}
	const wide work[] = {reads, writes, reads + writes};
	for (int k = 0; k < 3; k++) {
		if (!rates[k].num)
			continue;
		int64_t cycles;
		if (model->prices[i].scaled) {
			double words = traffic_of(model, i, counts).words[k];
			double needed = ceil(words / (double)instances * (double)rates[k].den /
					     (double)rates[k].num);
			cycles = needed < 0x1p63 ? (int64_t)needed : -1;
		} else {
			cycles = cycles_of_work(work[k], instances, rates[k]);
		}
		if (cycles < 0)
			return -1;
		most = number_max(most, cycles);
	}
	return most;
}

static int64_t cycles_timeloop(
	const struct nest_model *model, int i, const struct nest_counts *counts)
{
	const struct nest_level *level = &model->hierarchy->levels[i];
	const double *rates = model->prices[i].rate;
	double compute = (double)counts->compute_cycles, reads = 0, writes = 0, slowdown = 1;
	double instances = (double)number_max(counts->utilized[i], 1);
	for (int t = 0; t < model->shape->space_count; t++) {
		const struct nest_count *count = &counts->at[i][t];
		double written = (double)(count->fills + count->updates);
		reads += (double)count->reads / instances / compute * level->rate_scale[t];
		writes += written / instances / compute * level->rate_scale[t];
	}
	const double work[] = {reads, writes, reads + writes};
	for (int k = 0; k < 3; k++)
		if (rates[k] > 0 && rates[k] < work[k])
			slowdown = fmin(slowdown, rates[k] / work[k]);
	double cycles = ceil(compute / slowdown);
	return cycles < 0x1p63 ? (int64_t)cycles : -1;
}

/* Bits of the levels that nest_may_wait for. */
static uint32_t find_waits(const struct nest_model *model, const struct nest_counts *counts)
{
	uint32_t waits = 0;
	for (int i = 0; i < model->hierarchy->level_count; i++) {
		if (!model->prices[i].limited)
			continue;
		struct traffic traffic = traffic_of(model, i, counts);
		double instances = (double)number_max(counts->utilized[i], 1);
		bool may = nest_may_wait(&model->prices[i], traffic.words[0], traffic.words[1],
			(double)counts->compute_cycles * instances);
		waits |= (uint32_t)may << i;
	}
	return waits;
}

static void derive_accesses(
	const struct nest_model *model, const struct nest_counts *counts, struct nest_score *score)
{
	int space_count = model->shape->space_count;
	for (int i = 0; i < model->hierarchy->level_count; i++) {
		const struct level_price *price = &model->prices[i];
		double instances = (double)number_max(counts->utilized[i], 1);
		score->level_pj[i] = 0;
		for (int first = 0; first < space_count; first += LANES) {
			lanes reads = all_lanes(0), fills = reads, updates = reads;
			for (int k = 0; k < LANES && first + k < space_count; k++) {
				const struct nest_count *count = &counts->at[i][first + k];
				reads[k] = (double)count->reads;
				fills[k] = (double)count->fills;
				updates[k] = (double)count->updates;
			}
			lanes pj = lanes_pj(price, reads, fills, updates,
					   instances * price->block_size) *
				   clusters_of(price, instances);
			put_lanes(&score->space_pj[i][first], pj);
			score->level_pj[i] += lanes_sum(pj);
		}
	}
}

enum nest_verdict nest_derive_rest(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, uint32_t waits, struct nest_score *score)
{
	int level_count = model->hierarchy->level_count;
	bool fits = true;
	int64_t most = checked_add(&fits, counts->compute_cycles, counts->array_cycles);
	for (int i = 0; i < level_count; i++)
		score->level_cycles[i] = counts->compute_cycles;
	for (; waits; waits &= waits - 1) {
		int i = __builtin_ctz(waits);
		int64_t cycles = counting == COUNTING_EXACT ? cycles_exact(model, i, counts)
							    : cycles_timeloop(model, i, counts);
		fits &= cycles >= 0;
		score->level_cycles[i] = cycles;
		most = number_max(most, cycles);
	}
	score->cycles = checked_add(&fits, most, model->network_cycles);
	if (!fits)
		return NEST_OVERFLOW;
	double cycles = (double)score->cycles;
	/* In Timeloop nothing leaks while the networks fill and drain. */
	double leaking = counting == COUNTING_TIMELOOP ? (double)most : cycles;
	double all = (double)counts->computes * model->hierarchy->compute_pj;
	score->utilization = (double)counts->computes / (model->peak * cycles);
	score->compute_pj = all;
	for (int i = 0; i < level_count; i++) {
		const struct level_price *price = &model->prices[i];
		double leak = price->leak_pj * leaking * (double)counts->utilized[price->gated_at];
		double network =
			model->priced_hops ? nest_network_pj(model, counting, counts, i) : 0;
		score->leak_pj[i] = leak;
		score->network_pj[i] = network;
		score->level_pj[i] += leak + network;
		all += score->level_pj[i];
	}
	score->energy_pj = all;
	return NEST_FITS;
}

enum nest_verdict nest_derive_counting(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, struct nest_score *score)
{
	derive_accesses(model, counts, score);
	return nest_derive_rest(model, counting, counts, find_waits(model, counts), score);
}
