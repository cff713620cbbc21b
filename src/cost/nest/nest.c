#include "cost/nest/nest.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "base/wide.h"
#include "cost/nest/nest_count.h"
#include "cost/nest/nest_home.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static struct level_price price_of(const struct hierarchy *hierarchy, int i, int space_count)
{
	const struct nest_level *level = &hierarchy->levels[i];
	const struct nest_level *gate = &hierarchy->levels[level->gated_at];
	int64_t all = level->mesh_x * level->mesh_y, gates = gate->mesh_x * gate->mesh_y;
	struct level_price price = {
		.leak_pj =
			level->energies.leak_pj * (gates < all ? (double)all / (double)gates : 1),
		.block_size = (double)level->store.block_words,
		.fanout_x = (double)level->fanout.x,
		.fanout_y = (double)level->fanout.y,
		.gated_at = gates < all ? level->gated_at : i,
		.row = level->row,
		.block_row = level->block_row,
		.row_bit = (int64_t)1 << level->row,
		.storage = level->storage,
		.size = level->size || level->store.no_room ? (double)level->size : INFINITY,
		.least_size =
			level->size ? level->store.least_utilization * (double)level->size : 0,
	};
	memcpy(price.pj, level->energies.pj, sizeof price.pj);
	int64_t clusters = all / level->store.cluster_size;
	price.clusters = clusters > 1 ? (double)clusters : 1;
	const struct ratio rates[] = {
		level->store.read_rate, level->store.write_rate, level->store.shared_rate};
	for (int k = 0; k < 3; k++) {
		price.rate[k] = rates[k].num ? ratio_double(rates[k]) : 0;
		price.limit[k] = rates[k].num ? price.rate[k] : INFINITY;
		price.limited |= rates[k].num != 0;
	}
	for (int t = 0; t < space_count; t++)
		price.scaled |= level->rate_scale[t] != 1;
	if (level->store.row_cycles.num)
		price.row_words = ratio_double(level->store.row_cycles) *
				  price.rate[price.rate[2] > 0 ? 2 : 0];
	return price;
}

/* A rank of one or two dimensions that no rank before it has; false for others. */
static bool describe_rank(const struct affine *rank, struct nest_shape_of *out)
{
	uint32_t dimensions = affine_loops(rank);
	int terms = __builtin_popcount(dimensions);
	if (terms > 2 || out->relevant & dimensions ||
		(terms == 2 && out->sum_count == NEST_SUMS_MOST))
		return false;
	out->relevant |= dimensions;
	for (uint32_t left = dimensions; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		double coefficient = (double)rank->coefficient[d];
		out->plain &= terms == 1 && coefficient == 1;
		if (terms == 2) {
			out->step[d][out->sum_count] = coefficient;
			continue;
		}
		out->single[out->single_count] = d;
		out->coefficient[out->single_count++] = coefficient;
	}
	if (terms == 2) {
		out->sums[out->sum_count++] = dimensions;
		out->summed |= dimensions;
	}
	return true;
}

static void describe_space(const struct dataspace *space, struct nest_shape_of *out)
{
	*out = (struct nest_shape_of){.boxed = true, .plain = true, .written = space->written};
	for (int r = 0; r < space->rank_count; r++)
		out->boxed &= describe_rank(&space->ranks[r], out);
}

/* No count of the dataspace is beyond this: a tile has at most coefficient x indices in each
 * rank, and those of a dimension again in every further rank that has it. */
static double counted_at_most(const struct dataspace *space, const struct shape *shape)
{
	double most = shape_work(shape);
	uint32_t before = 0;
	for (int r = 0; r < space->rank_count; r++) {
		double coefficient = 1;
		uint32_t left = affine_loops(&space->ranks[r]);
		for (; left; left &= left - 1) {
			int d = __builtin_ctz(left);
			coefficient = fmax(coefficient, (double)space->ranks[r].coefficient[d]);
			if (before >> d & 1)
				most *= (double)shape->dimensions[d].extent;
		}
		before |= affine_loops(&space->ranks[r]);
		most *= coefficient;
	}
	return most;
}

const struct nest_model *nest_model_make(struct arena *arena, const struct hierarchy *hierarchy,
	const struct shape *shape, enum counting counting)
{
	struct nest_model *model = arena_new(arena, struct nest_model);
	model->hierarchy = hierarchy;
	model->shape = shape;
	model->counting = counting;
	model->fits = shape_computes(shape, &model->computes);
	model->multipliers = (double)hierarchy->compute_mesh_x * (double)hierarchy->compute_mesh_y;
	model->peak = model->multipliers * ratio_double(hierarchy_rate(hierarchy));
	model->least_busy = hierarchy->least_parallelism * model->multipliers;
	model->all_dimensions = (1u << shape->dimension_count) - 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		model->extents[d] = (double)shape->dimensions[d].extent;
		model->used[d] = -1;
		for (int t = 0; t < SHAPE_SPACES_MOST; t++)
			model->irrelevant[d][t] = 1;
	}
	uint32_t flags = 0;
	/* The quick count takes steps for cycles, and levels for rows. */
	model->quick =
		model->fits && hierarchy_rate(hierarchy).num == hierarchy_rate(hierarchy).den;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		model->least_usage |= level->least_usage > 0;
		model->prices[i] = price_of(hierarchy, i, shape->space_count);
		model->network_cycles += level->store.fill_cycles + level->store.drain_cycles;
		model->priced_hops |= level->network.hop_pj != 0 || level->network.router_pj != 0;
		model->storage_rows |= (uint32_t)level->storage << level->row;
		model->paced |=
			(uint32_t)(level->store.row_cycles.num || level->store.round_cycles.num)
			<< i;
		flags |= level->no_temporal_reuse | level->no_spatial_reuse | level->no_coalesce |
			 level->rmw_first_update;
		model->quick &= i == 0 || level->row < hierarchy->levels[i - 1].row;
		for (int t = 0; t < shape->space_count; t++)
			model->rate_scale[i][t] = level->rate_scale[t];
	}
	/* Timeloop's hops depend on where children stand, which the quick count does not see. */
	model->quick &= counting == COUNTING_EXACT || !model->priced_hops;
	for (int t = 0; t < shape->space_count; t++) {
		struct nest_shape_of *space = &model->spaces[t];
		describe_space(&shape->spaces[t], space);
		/* The share of a written dataspace is a quotient of boxes where it is not plain. */
		if ((space->written && !space->plain) || flags >> t & 1)
			model->slow_spaces |= 1u << t;
		/* Sums are read up to twice as often, and doubles are whole below 2^51. */
		model->quick &= space->boxed && counted_at_most(&shape->spaces[t], shape) < 0x1p50;
		model->written[t] = -(int64_t)space->written;
		model->words[t] = 1;
		model->odd_spaces |= (uint32_t)!space->plain << t;
		for (int d = 0; d < shape->dimension_count; d++) {
			bool relevant = space->relevant >> d & 1;
			model->relevant[d][t] = -(int64_t)relevant;
			if (relevant)
				model->irrelevant[d][t] = 0;
			model->words[t] *= relevant ? model->extents[d] : 1;
		}
	}
	return model;
}

/* Words through a level's ports, all instances together. */
struct level_words {
	double words[3]; /* reads, writes, both; scaled */
};

static struct level_words traffic_of(
	const struct nest_model *model, int i, const struct nest_counts *counts)
{
	const double *scale = model->rate_scale[i];
	double reads = 0, writes = 0;
	for (int t = 0; t < model->shape->space_count; t++) {
		const struct nest_count *count = &counts->at[i][t];
		reads += (double)count->reads * scale[t];
		writes += ((double)count->fills + (double)count->updates) * scale[t];
	}
	reads += (double)counts->rows[i] * model->prices[i].row_words;
	return (struct level_words){{reads, writes, reads + writes}};
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

/* Cycles of words and rows through a port. */
static int64_t port_cycles(const struct nest_level *level, const struct nest_counts *counts, int i,
	wide words, int64_t rows, struct ratio rate)
{
	int64_t instances = number_max(counts->utilized[i], 1);
	struct ratio row = level->store.row_cycles, served = {0, 1};
	if (!row.num || !rows)
		return cycles_of_work(words, instances, rate);
	wide work, of_rows;
	if (!number_mul(rate.num, row.den, &served.num) ||
		__builtin_mul_overflow(words, (wide)rate.den * row.den, &work) ||
		__builtin_mul_overflow((wide)rows * row.num, (wide)rate.num, &of_rows) ||
		__builtin_add_overflow(work, of_rows, &work))
		return -1;
	return cycles_of_work(work, instances, served);
}

/* Cycles of a level's rounds; -1 if they do not fit. */
static int64_t cycles_of_rounds(const struct nest_level *level, int64_t rounds)
{
	struct ratio each = level->store.round_cycles;
	return each.num ? cycles_of_work(rounds, 1, (struct ratio){each.den, each.num}) : 0;
}

static int64_t cycles_exact(const struct nest_model *model, int i, const struct nest_counts *counts)
{
	const struct nest_level *level = &model->hierarchy->levels[i];
	const struct ratio rates[] = {
		level->store.read_rate, level->store.write_rate, level->store.shared_rate};
	int64_t instances = number_max(counts->utilized[i], 1), most = counts->compute_cycles;
	int64_t of_rounds = cycles_of_rounds(level, counts->rounds[i]);
	if (of_rounds < 0)
		return -1;
	most = number_max(most, of_rounds);
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
			cycles = port_cycles(level, counts, i, work[k],
				k == (rates[2].num ? 2 : 0) ? counts->rows[i] : 0, rates[k]);
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
	reads += (double)counts->rows[i] * model->prices[i].row_words / instances / compute;
	const double work[] = {reads, writes, reads + writes};
	for (int k = 0; k < 3; k++)
		if (rates[k] > 0 && rates[k] < work[k])
			slowdown = fmin(slowdown, rates[k] / work[k]);
	double cycles = ceil(compute / slowdown);
	int64_t of_rounds = cycles_of_rounds(level, counts->rounds[i]);
	return cycles < 0x1p63 && of_rounds >= 0 ? number_max((int64_t)cycles, of_rounds) : -1;
}

/* Bits of the levels that nest_may_wait for. */
static uint32_t find_waits(const struct nest_model *model, const struct nest_counts *counts)
{
	uint32_t waits = model->paced;
	for (int i = 0; i < model->hierarchy->level_count; i++) {
		if (!model->prices[i].limited)
			continue;
		struct level_words traffic = traffic_of(model, i, counts);
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

/* The same, but for the energy of accesses: space_pj is there, and its sum in level_pj.  `waits`: bits of the levels whose
 * ports may be too slow. */
static enum nest_verdict nest_derive_rest(const struct nest_model *model, enum counting counting,
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

/*
 * Time and energy of counts.  `exact`: cycles in exact rationals; `timeloop`:
 * in floating point, in Timeloop's order of operations, so that its ceilings of
 * sums that are a whole number but for rounding come out as its own.  NEST_FITS or NEST_OVERFLOW
 * (cycles beyond an int64_t); all of *score but the verdict and where it applies.
 */
static enum nest_verdict nest_derive_counting(const struct nest_model *model,
	enum counting counting, const struct nest_counts *counts, struct nest_score *score)
{
	derive_accesses(model, counts, score);
	return nest_derive_rest(model, counting, counts, find_waits(model, counts), score);
}

static enum nest_verdict score_fail(struct nest_score *score, enum nest_verdict verdict, int level,
	int64_t asked, int64_t given)
{
	score->level = level;
	score->asked = asked;
	score->given = given;
	return verdict;
}

/* Words of every tile; NEST_OVERFLOW, NEST_CAPACITY or NEST_UTILIZATION of the innermost level
 * that fails. */
static enum nest_verdict check_tiles(const struct nest_model *model, const struct nest_loops *loops,
	struct nest_counts *counts, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	const struct shape *shape = model->shape;
	enum nest_verdict verdict = NEST_FITS;
	bool fits = true;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t sum = 0;
		for (int t = 0; t < shape->space_count; t++) {
			int64_t words = 0;
			if (loops->kept[i] >> t & 1)
				fits &= nest_words(&shape->spaces[t], shape->dimension_count,
					loops->tile[i], &words);
			counts->at[i][t] = (struct nest_count){.capacity = words};
			sum = checked_add(&fits, sum, words);
		}
		if (verdict != NEST_FITS || (!level->size && !level->store.no_room))
			continue;
		if (sum > level->size)
			verdict = score_fail(score, NEST_CAPACITY, i, sum, level->size);
		else if ((double)sum < level->store.least_utilization * (double)level->size)
			verdict = score_fail(score, NEST_UTILIZATION, i, sum, level->size);
	}
	return fits ? verdict : NEST_OVERFLOW;
}

/* Multipliers that the mapping keeps busy, against those it must. */
static enum nest_verdict check_parallelism(
	const struct nest_model *model, int64_t multipliers, struct nest_score *score)
{
	if ((double)multipliers >= model->least_busy)
		return NEST_FITS;
	return score_fail(
		score, NEST_UTILIZATION, -1, multipliers, (int64_t)ceil(model->least_busy));
}

/* Instances of each block that the mapping takes, against those it must. */
static enum nest_verdict check_usage(
	const struct nest_model *model, const struct mapping *mapping, struct nest_score *score)
{
	for (int i = 0; i < model->hierarchy->level_count; i++) {
		const struct nest_level *level = &model->hierarchy->levels[i];
		int64_t all = fanout_count(&level->fanout), taken = 1;
		if (level->least_usage <= 0)
			continue;
		for (int d = 0; d < model->shape->dimension_count; d++)
			taken *= mapping->rows[level->block_row].spatial[d];
		if ((double)taken / (double)all < level->least_usage)
			return score_fail(score, NEST_IDLE, i, taken, all);
	}
	return NEST_FITS;
}

/* Compiles, checks and counts one loop after another. */
static enum nest_verdict count_long(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score, bool *exact)
{
	struct nest_loops loops;
	enum nest_verdict verdict = nest_loops_make(model, mapping, &loops, score);
	if (verdict != NEST_FITS)
		return verdict;
	verdict = check_tiles(model, &loops, counts, score);
	if (!model->fits || verdict == NEST_OVERFLOW)
		return NEST_OVERFLOW;
	*exact = model->counting == COUNTING_EXACT || !loops.perfect;
	enum nest_verdict counted =
		*exact ? nest_exact_counts(model, &loops, UINT32_MAX, counts, score)
		       : nest_timeloop_counts(model, &loops, UINT32_MAX, counts, score);
	return counted == NEST_FITS ? verdict : counted;
}

/* The dataspaces that the quick count left. */
static enum nest_verdict count_left(const struct nest_model *model, const struct mapping *mapping,
	uint32_t left, struct nest_counts *counts, struct nest_score *score)
{
	struct nest_loops loops;
	enum nest_verdict verdict = nest_loops_make(model, mapping, &loops, score);
	if (verdict != NEST_FITS)
		return verdict;
	return (model->counting == COUNTING_EXACT ? nest_exact_counts : nest_timeloop_counts)(
		model, &loops, left, counts, score);
}

/* True if every home is the outermost level of all: what is there needs no look at it. */
static bool homes_outermost(const struct nest_model *model, const struct mapping *mapping)
{
	const struct nest_level *outermost =
		&model->hierarchy->levels[model->hierarchy->level_count - 1];
	bool all = outermost->storage;
	for (int t = 0; t < model->shape->space_count; t++)
		all &= mapping->residency[t] >> outermost->row & 1;
	return all;
}

static enum nest_verdict nest_model_evaluate(const struct nest_model *model,
	const struct mapping *mapping, struct nest_counts *counts, struct nest_score *score)
{
	counts->computes = model->computes;
	struct nest_quick quick;
	bool exact = model->counting == COUNTING_EXACT, priced = false;
	enum nest_verdict verdict;
	if (nest_quick_counts(model, mapping, counts, score, &quick)) {
		verdict = quick.verdict;
		priced = !quick.left;
		if (quick.left) {
			enum nest_verdict rest =
				count_left(model, mapping, quick.left, counts, score);
			verdict = rest == NEST_FITS ? verdict : rest;
		}
	} else {
		verdict = count_long(model, mapping, counts, score, &exact);
	}
	if (!nest_verdict_counts(verdict))
		return verdict;
	if (model->counting == COUNTING_EXACT && !homes_outermost(model, mapping)) {
		verdict = nest_home_check(model->hierarchy, model->shape, mapping, counts, score);
		if (!nest_verdict_counts(verdict))
			return verdict;
	}
	counts->compute_cycles = hierarchy_cycles(model->hierarchy, counts->compute_cycles);
	if (!nest_array_count(model, mapping, counts))
		return NEST_OVERFLOW;
	enum nest_verdict paces = nest_pace_count(model, mapping, counts, score);
	if (paces != NEST_FITS)
		return paces;
	if (verdict == NEST_FITS)
		verdict = check_parallelism(model, counts->utilized_computes, score);
	if (verdict == NEST_FITS && model->least_usage)
		verdict = check_usage(model, mapping, score);
	enum counting counting = exact ? COUNTING_EXACT : COUNTING_TIMELOOP;
	enum nest_verdict derived = priced ? nest_derive_rest(model, counting, counts,
						     quick.waits | model->paced, score)
					   : nest_derive_counting(model, counting, counts, score);
	return derived == NEST_FITS ? verdict : derived;
}

enum nest_verdict nest_evaluate(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score)
{
	score->level = score->dimension = score->space = -1;
	score->asked = score->given = 0;
	score->verdict = nest_model_evaluate(model, mapping, counts, score);
	return score->verdict;
}

void nest_derive(
	const struct nest_model *model, const struct nest_counts *counts, struct nest_score *score)
{
	score->level = score->dimension = score->space = -1;
	score->asked = score->given = 0;
	score->verdict = nest_derive_counting(model, model->counting, counts, score);
}

/*
 * Formulas of plain tiles, with the symbols of nest_exact.c: words entering a child =
 * move steps x tile x instances; a parent serves each group of its children once.
 * If windows overlap or last rounds are shorter the count is less than that; the
 * line gives the difference.
 */
struct explanation {
	struct text text;
	const struct nest_model *model;
	const struct nest_loops *loops;
	const struct nest_counts *counts;
	const struct dataspace *space;
	int t; /* its number */
};

/* One way that its words go, from a level to the next one inwards that keeps them. */
struct explained_passage {
	int child, parent; /* child -1: the multipliers */
	int pace;          /* innermost loop whose iterations are moves; loops->count: none */
	int64_t moves, words, groups;
	int64_t entering;  /* words that one instance enters over all moves */
	bool fits, window; /* window: find_window explains it */
};

/* A window that slides: `steps` moves in a row keep `kept` words each. */
struct explained_window {
	int64_t steps, kept;
};

static const char *explanation_level_name(const struct explanation *x, int level)
{
	const struct hierarchy *hierarchy = x->model->hierarchy;
	return level < 0 ? hierarchy->compute_name : hierarchy->levels[level].name;
}

static bool explanation_passes(const struct explanation *x, int level)
{
	return nest_passes(x->model, x->loops, level, x->t);
}

static int parent_of(const struct explanation *x, int child)
{
	int level = child + 1;
	while (!nest_holds(x->model, x->loops, level, x->t))
		level++;
	return level;
}

static bool is_relevant(const struct explanation *x, const struct nest_loop *loop)
{
	return x->space->relevant >> loop->dimension & 1;
}

static struct explained_passage find_passage(const struct explanation *x, int child)
{
	const struct nest_loops *loops = x->loops;
	struct explained_passage passage = {.child = child,
		.parent = parent_of(x, child),
		.moves = 1,
		.words = 1,
		.groups = 1,
		.fits = true};
	passage.pace = nest_pace(x->model, loops, child, x->t);
	for (int k = passage.pace; k < loops->count; k++)
		if (!loops->at[k].spatial)
			passage.moves =
				checked_mul(&passage.fits, passage.moves, loops->at[k].bound);
	for (int k = loops->block[child + 1]; k < loops->own[passage.parent]; k++) {
		const struct nest_loop *loop = &loops->at[k];
		bool apart = x->model->hierarchy->levels[loop->level].no_spatial_reuse >> x->t & 1;
		if (loop->spatial && (apart || is_relevant(x, loop)))
			passage.groups *= loop->bound;
	}
	if (child >= 0)
		passage.fits &= nest_words(x->space, x->model->shape->dimension_count,
			loops->tile[child], &passage.words);
	passage.entering = checked_mul(&passage.fits, passage.moves, passage.words);
	return passage;
}

/* "1 word", "8 words" */
static const char *explanation_amount(struct explanation *x, int64_t count, const char *thing)
{
	return arena_format(x->text.arena, "%" PRId64 " %s%s", count, thing, count == 1 ? "" : "s");
}

static void add_rank(struct explanation *x, const struct affine *rank)
{
	int terms = 0;
	for (int d = 0; d < x->model->shape->dimension_count; d++) {
		int64_t coefficient = rank->coefficient[d];
		if (!coefficient)
			continue;
		text_add(&x->text, terms++ ? " + " : "");
		if (coefficient > 1)
			text_add(&x->text, "%" PRId64 "*", coefficient);
		text_add(&x->text, "%s", x->model->shape->dimensions[d].name);
	}
	if (!terms)
		text_add(&x->text, "0");
}

static void add_head(struct explanation *x)
{
	text_add(&x->text, "%s[", x->space->name);
	for (int k = 0; k < x->space->rank_count; k++) {
		text_add(&x->text, k ? ", " : "");
		add_rank(x, &x->space->ranks[k]);
	}
	text_add(&x->text, "], %s; its home is %s\n", x->space->written ? "written" : "read",
		explanation_level_name(x, x->loops->home[x->t]));
}

/* "tile 4 x 6 = 24 words" */
static void add_tile(struct explanation *x, const struct explained_passage *passage)
{
	if (passage->child < 0) {
		text_add(&x->text, "    each multiplier uses one word at every step\n");
		return;
	}
	text_add(&x->text, "    tile ");
	for (int k = 0; k < x->space->rank_count; k++) {
		struct dataspace alone = {.rank_count = 1, .ranks = {x->space->ranks[k]}};
		int64_t extent = 0;
		nest_words(&alone, x->model->shape->dimension_count, x->loops->tile[passage->child],
			&extent);
		text_add(&x->text, "%s%" PRId64, k ? " x " : "", extent);
	}
	text_add(&x->text, "%s%s\n", x->space->rank_count ? " = " : "",
		explanation_amount(x, passage->words, "word"));
}

static void explanation_add_loop(struct explanation *x, const struct nest_loop *loop, int *count)
{
	text_add(&x->text, "%s%s%" PRId64, (*count)++ ? " " : "",
		x->model->shape->dimensions[loop->dimension].name, loop->bound);
}

/* Temporal loops around a child that leave its tile as it is, and those that move it. */
static void add_moves(struct explanation *x, const struct explained_passage *passage)
{
	const struct nest_loops *loops = x->loops;
	int count = 0;
	for (int k = loops->block[passage->child + 1]; k < passage->pace; k++) {
		if (loops->at[k].spatial)
			continue;
		text_add(&x->text, count ? "" : "    stays in place through ");
		explanation_add_loop(x, &loops->at[k], &count);
	}
	text_add(&x->text, count ? ", which do not index it\n" : "");
	count = 0;
	for (int k = passage->pace; k < loops->count; k++) {
		if (loops->at[k].spatial)
			continue;
		text_add(&x->text, count ? "" : "    moves with ");
		explanation_add_loop(x, &loops->at[k], &count);
	}
	if (count)
		text_add(&x->text, ", innermost first: %s\n",
			explanation_amount(x, passage->moves, "time"));
	else
		text_add(&x->text, "    moves once, at the start\n");
}

/* Children of one parent: which of them have words of their own. */
static void add_sharing(struct explanation *x, const struct explained_passage *passage)
{
	const struct nest_loops *loops = x->loops;
	int64_t children = nest_instances(x->loops, passage->child) /
			   nest_instances(x->loops, passage->parent);
	if (children == 1)
		return;
	text_add(&x->text, "    %" PRId64 " children at once:", children);
	for (int k = loops->block[passage->child + 1]; k < loops->own[passage->parent]; k++)
		if (loops->at[k].spatial)
			text_add(&x->text, " %s%" PRId64 "%s",
				x->model->shape->dimensions[loops->at[k].dimension].name,
				loops->at[k].bound,
				is_relevant(x, &loops->at[k]) ? "" : " (the same words)");
	text_add(&x->text, "; %s of %" PRId64 "\n", explanation_amount(x, passage->groups, "group"),
		children / passage->groups);
}

/* Why a count is not the product. */
static const char *explanation_reason(const struct explanation *x, int64_t less)
{
	for (int i = 0; less > 0 && i < x->model->hierarchy->level_count; i++)
		if (x->counts->at[i][x->t].links == less)
			return "neighbours hand on the others";
	if (!x->loops->perfect)
		return "last rounds are shorter";
	if (dataspace_slides(x->space))
		return "tiles overlap, and what is there stays";
	return x->model->counting == COUNTING_TIMELOOP ? "Timeloop's rules differ"
						       : "flags change who serves whom";
}

static void explanation_add_sum(struct explanation *x, int64_t product, bool fits, int64_t counted)
{
	if (fits && product == counted)
		text_add(&x->text, " = %" PRId64 "\n", counted);
	else if (fits)
		text_add(&x->text, " = %" PRId64 "; counted are %" PRId64 ": %s\n", product,
			counted, explanation_reason(x, product - counted));
	else
		text_add(&x->text, "; counted are %" PRId64 ": %s\n", counted,
			explanation_reason(x, 0));
}

/* Words that the children hand on among themselves. */
static int64_t links_of(const struct explanation *x, const struct explained_passage *passage)
{
	return passage->child < 0 ? 0 : x->counts->at[passage->child][x->t].links;
}

/* "fills at GLB = 8 moves x 4 words x 1 instance = 32" */
static void add_product(struct explanation *x, const struct explained_passage *passage,
	const char *what, int level, int64_t groups, int64_t counted)
{
	bool fits = passage->fits;
	int64_t instances = nest_instances(x->loops, level);
	int64_t product =
		checked_mul(&fits, passage->entering, checked_mul(&fits, groups, instances));
	bool plain = !passage->window;
	text_add(&x->text, "    %s at %s = ", what, explanation_level_name(x, level));
	if (plain)
		text_add(&x->text, "%s x %s", explanation_amount(x, passage->moves, "move"),
			explanation_amount(x, passage->words, "word"));
	else
		text_add(&x->text, "%s", explanation_amount(x, passage->entering, "word"));
	if (level == passage->parent)
		text_add(&x->text, " x %s", explanation_amount(x, groups, "group"));
	text_add(&x->text, " x %s", explanation_amount(x, instances, "instance"));
	if (level == passage->parent && x->loops->perfect && fits && product > counted &&
		!links_of(x, passage) && counted % (passage->entering * instances) == 0)
		text_add(&x->text,
			" = %" PRId64 "; counted are %" PRId64
			", %s: those with the same tile share\n",
			product, counted,
			explanation_amount(x, counted / (passage->entering * instances), "group"));
	else
		explanation_add_sum(x, product, fits, counted);
}

/* Words of a tile that are still in it one step of a loop later. */
static int64_t kept_words(const struct explanation *x, const struct explained_passage *passage,
	const struct nest_loop *loop)
{
	const struct shape *shape = x->model->shape;
	int64_t kept = 1;
	for (int k = 0; k < x->space->rank_count; k++) {
		struct dataspace alone = {.rank_count = 1, .ranks = {x->space->ranks[k]}};
		int64_t extent = 0;
		nest_words(&alone, shape->dimension_count, x->loops->tile[passage->child], &extent);
		kept *= number_max(
			0, extent - alone.ranks[0].coefficient[loop->dimension] * loop->stride);
	}
	return kept;
}

/*
 * n steps in a row of a window of S words that keeps O of them enter S + (n - 1) (S - O) words.
 * The run is the pace and the loops of its dimension around it, as many as explain the count.
 */
static bool find_window(const struct explanation *x, struct explained_passage *passage,
	int64_t counted, struct explained_window *window)
{
	const struct nest_loops *loops = x->loops;
	const struct nest_loop *pace = &loops->at[passage->pace];
	if (!x->loops->perfect || passage->pace == loops->count || !passage->fits ||
		nest_resets(x->model, passage->child, x->t))
		return false;
	*window = (struct explained_window){1, kept_words(x, passage, pace)};
	for (int k = passage->pace; window->kept && k < loops->count; k++) {
		if (loops->at[k].spatial || loops->at[k].dimension != pace->dimension)
			continue;
		window->steps *= loops->at[k].bound;
		int64_t run =
			passage->words + (window->steps - 1) * (passage->words - window->kept);
		int64_t entering = passage->moves / window->steps * run;
		bool fits = true;
		int64_t all =
			checked_mul(&fits, entering, nest_instances(x->loops, passage->child));
		if (!fits || all != counted)
			continue;
		passage->entering = entering;
		passage->window = true;
		return true;
	}
	return false;
}

static void explain_window(
	struct explanation *x, struct explained_passage *passage, int64_t counted)
{
	struct explained_window window;
	if (!find_window(x, passage, counted, &window))
		return;
	text_add(&x->text, "    a step of %s keeps %" PRId64 " of its words: ",
		x->model->shape->dimensions[x->loops->at[passage->pace].dimension].name,
		window.kept);
	text_add(&x->text,
		"%" PRId64 " x (%" PRId64 " + %" PRId64 " x %" PRId64 ") = %" PRId64
		" words enter an instance\n",
		passage->moves / window.steps, passage->words, window.steps - 1,
		passage->words - window.kept, passage->entering);
}

static void add_links(struct explanation *x, const struct explained_passage *passage)
{
	int64_t links = links_of(x, passage);
	if (links)
		text_add(&x->text,
			"    neighbours at %s hand on %" PRId64
			" words: reads and fills there, no reads at %s\n",
			explanation_level_name(x, passage->child), links,
			explanation_level_name(x, passage->parent));
}

static void explain_reads(struct explanation *x, struct explained_passage *passage)
{
	if (passage->child >= 0) {
		int64_t fills = x->counts->at[passage->child][x->t].fills;
		explain_window(x, passage, fills);
		add_product(x, passage, "fills", passage->child, 1, fills);
	}
	/* Reads that neighbours serve are not words of the level inside. */
	const struct nest_count *count = &x->counts->at[passage->parent][x->t];
	add_product(
		x, passage, "reads", passage->parent, passage->groups, count->reads - count->links);
	add_links(x, passage);
}

/*
 * Every group drains by one update.  A sum comes back by one read, unless this is
 * the first visit: the rest of the updates.  Exactly, those that drain are read there, too.
 */
static void explain_updates(struct explanation *x, const struct explained_passage *passage)
{
	const struct nest_count *count = &x->counts->at[passage->parent][x->t];
	const char *parent = explanation_level_name(x, passage->parent);
	int64_t returned = count->reads - count->drains;
	add_product(x, passage, "updates", passage->parent, passage->groups, count->updates);
	text_add(&x->text,
		"    reads at %s = %" PRId64 " updates - %" PRId64
		" that found no partial sum = %" PRId64 "\n",
		parent, count->updates, count->updates - returned, returned);
	if (passage->child >= 0)
		text_add(&x->text,
			"    fills at %s = %" PRId64
			" sums that come back, one for each read at %s\n",
			explanation_level_name(x, passage->child),
			x->counts->at[passage->child][x->t].fills, parent);
	if (count->drains)
		text_add(&x->text,
			"    sums that drain are read at %s, too: %" PRId64 " + %" PRId64
			" = %" PRId64 "\n",
			parent, returned, count->drains, count->reads);
}

static void add_passed(struct explanation *x, const struct explained_passage *passage)
{
	for (int i = passage->child + 1; i < passage->parent; i++)
		if (explanation_passes(x, i))
			text_add(&x->text,
				"    no_coalesce at %s: what passes counts there as well\n",
				explanation_level_name(x, i));
		else if (x->model->hierarchy->levels[i].storage)
			text_add(&x->text, "    %s is bypassed\n", explanation_level_name(x, i));
}

static void explain_passage(struct explanation *x, struct explained_passage *passage)
{
	text_add(&x->text, "  %s %s %s\n", explanation_level_name(x, passage->child),
		x->space->written ? "<->" : "<-", explanation_level_name(x, passage->parent));
	add_tile(x, passage);
	add_moves(x, passage);
	add_passed(x, passage);
	add_sharing(x, passage);
	if (x->space->written)
		explain_updates(x, passage);
	else
		explain_reads(x, passage);
}

static void explain_space(struct explanation *x)
{
	add_head(x);
	int home = x->loops->home[x->t];
	for (int child = -1; child < home;) {
		struct explained_passage passage = find_passage(x, child);
		explain_passage(x, &passage);
		child = passage.parent;
	}
	text_add(&x->text, "\n");
}

static void add_time(struct explanation *x, const struct nest_score *score)
{
	const struct hierarchy *hierarchy = x->model->hierarchy;
	text_add(&x->text, "cycles: %" PRId64 " of compute", x->counts->compute_cycles);
	if (x->counts->array_cycles)
		text_add(&x->text, " and %" PRId64 " to load, fill and drain the array",
			x->counts->array_cycles);
	for (int i = 0; i < hierarchy->level_count; i++)
		if (score->level_cycles[i] > x->counts->compute_cycles)
			text_add(&x->text, ", %" PRId64 " for the words%s of %s",
				score->level_cycles[i],
				x->model->paced >> i & 1 ? ", rows and rounds" : "",
				explanation_level_name(x, i));
	text_add(&x->text, ": %" PRId64 " in all\n", score->cycles);
}

const char *nest_explain(
	const struct nest_model *model, const struct mapping *mapping, struct arena *arena)
{
	struct nest_loops *loops = arena_new(arena, struct nest_loops);
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	enum nest_verdict verdict = nest_evaluate(model, mapping, counts, score);
	if (!nest_verdict_counts(verdict) ||
		nest_loops_make(model, mapping, loops, score) != NEST_FITS)
		return nest_verdict_text(arena, model->hierarchy, model->shape, score);
	struct explanation x = {
		.text = text_open(arena), .model = model, .loops = loops, .counts = counts};
	for (x.t = 0; x.t < model->shape->space_count; x.t++) {
		x.space = &model->shape->spaces[x.t];
		explain_space(&x);
	}
	add_time(&x, score);
	return text_read(&x.text);
}
