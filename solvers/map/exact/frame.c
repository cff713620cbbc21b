#include "solvers/map/exact/exact.h"

#include "base/arena.h"
#include "base/array.h"
#include "cost/nest/nest.h"
#include "search/certificate/certificate.h"

#include <stdlib.h>

/* Dimensions of extent 1 have no loops, and no part in ranks. */
static struct nest_space frame_describe_space(
	const struct dataspace *dataspace, const struct shape *shape)
{
	struct nest_space space = {.plain = true, .simple = true, .dense = true};
	uint32_t seen = 0;
	for (int d = 0; d < shape->dimension_count; d++)
		space.rank_of[d] = -1;
	for (int r = 0; r < dataspace->rank_count; r++) {
		uint32_t rank = 0;
		for (int d = 0; d < shape->dimension_count; d++) {
			int64_t coefficient = dataspace->ranks[r].coefficient[d];
			if (!coefficient || shape->dimensions[d].extent == 1)
				continue;
			space.dense &= coefficient == 1;
			rank |= 1u << d;
			space.rank_of[d] = (int8_t)r;
		}
		bool sum = rank & (rank - 1);
		space.simple &= !(rank & seen);
		space.plain &= space.dense && !sum && !(rank & seen);
		*(sum ? &space.paired : &space.alone) |= rank;
		space.own[r] = rank & ~seen;
		seen |= rank;
	}
	space.relevant = seen;
	return space;
}

static void add_meter(struct nest_frame *frame, int j, unsigned actions, struct ratio rate)
{
	if (frame->meter_count < METERS_MOST)
		frame->meters[frame->meter_count++] = (struct nest_meter){j, actions, rate, 1};
}

static void add_port(struct nest_frame *frame, int j, unsigned actions, struct ratio rate)
{
	if (rate.num)
		add_meter(frame, j, actions, rate);
}

static void add_ports(struct nest_frame *frame)
{
	frame->port_first = frame->meter_count;
	const unsigned reads = 1u << NEST_READ, writes = 1u << NEST_FILL | 1u << NEST_UPDATE;
	for (int j = 0; j < frame->count; j++) {
		frame->port_of[j] = frame->meter_count;
		const struct nest_level *level = &frame->search->hierarchy->levels[frame->level[j]];
		add_port(frame, j, reads, level->store.read_rate);
		add_port(frame, j, writes, level->store.write_rate);
		add_port(frame, j, reads | writes, level->store.shared_rate);
	}
	frame->port_of[frame->count] = frame->meter_count;
}

static void add_objectives(struct nest_frame *frame)
{
	const struct nest_search *search = frame->search;
	const unsigned all = 1u << NEST_READ | 1u << NEST_FILL | 1u << NEST_UPDATE;
	for (size_t k = 0; k < search->wishes.objectives.count; k++) {
		enum objective objective = search->wishes.objectives.at[k];
		int wanted = objective == OBJECTIVE_HBM_BYTES ? frame->level[frame->count - 1]
							      : (int)objective - OBJECTIVE_ACCESSES;
		for (int j = 0; j < frame->count; j++) {
			if (frame->level[j] != wanted || frame->meter_count == METERS_MOST)
				continue;
			frame->objective_meter[objective] = frame->meter_count;
			add_meter(frame, j, all, (struct ratio){0, 1});
			if (objective == OBJECTIVE_HBM_BYTES)
				frame->meters[frame->meter_count - 1].weight =
					(double)search->hierarchy->levels[wanted].store.word_bits /
					8;
		}
	}
}

static bool is_loose(const struct nest_search *search, const struct row_domain *row)
{
	bool loose = !row->temporal_over && !row->temporal_inner && !row->temporal_outer;
	for (int d = 0; d < search->shape->dimension_count; d++)
		loose &= row->temporal[d].least <= 1 &&
			 row->temporal[d].most >= search->shape->dimensions[d].extent;
	return loose;
}

struct nest_frame nest_frame_make(const struct nest_search *search)
{
	const struct hierarchy *hierarchy = search->hierarchy;
	struct nest_frame frame = {.search = search,
		.timeloop = search->counting == COUNTING_TIMELOOP,
		.ways = search->counting == COUNTING_TIMELOOP && search->model->priced_hops,
		.uneven = !certificate_covers(search),
		.flagged = hierarchy_flagged(hierarchy),
		.macs = shape_work(search->shape)};
	frame.blind = frame.flagged && (frame.timeloop || frame.uneven);
	for (int i = 0; i < search->space->level_count; i++)
		if (!search->space->levels[i].spatial) {
			frame.level[frame.count] = search->space->levels[i].level;
			frame.tiling[frame.count++] = i;
		}
	unsigned updates = hierarchy_update_flags(hierarchy);
	frame.plain = true;
	for (int t = 0; t < search->shape->space_count; t++) {
		struct nest_space *space = &frame.spaces[t];
		*space = frame_describe_space(&search->shape->spaces[t], search->shape);
		bool written = search->shape->spaces[t].written;
		space->silent = space->plain ? written && frame.blind && updates >> t & 1
					     : written || frame.blind;
		for (int i = 0; i < hierarchy->level_count && !frame.blind; i++)
			space->splits |= hierarchy->levels[i].no_spatial_reuse >> t & 1;
		frame.plain &= space->plain && !frame.blind;
	}
	for (int j = 0; j < frame.count; j++) {
		int row = search->space->levels[frame.tiling[j]].row;
		frame.loose |= (uint32_t)is_loose(search, &search->domain->rows[row]) << j;
	}
	add_meter(&frame, -1, 1u << NEST_READ | 1u << NEST_FILL | 1u << NEST_UPDATE,
		(struct ratio){0, 1});
	add_objectives(&frame);
	add_ports(&frame);
	frame.group_count = (frame.meter_count + METER_LANES - 1) / METER_LANES;
	return frame;
}

double nest_frame_words(const struct nest_frame *frame, int space, const double *extents)
{
	const struct shape *shape = frame->search->shape;
	const struct nest_space *known = &frame->spaces[space];
	double words = 1;
	if (known->plain) {
		for (uint32_t own = known->relevant; own; own &= own - 1)
			words *= extents[__builtin_ctz(own)];
		return words;
	}
	const struct dataspace *dataspace = &shape->spaces[space];
	for (int r = 0; r < dataspace->rank_count; r++) {
		double reach = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			if (dataspace->ranks[r].coefficient[d])
				reach += (double)dataspace->ranks[r].coefficient[d] *
					 (extents[d] - 1);
		words *= reach;
	}
	return words;
}

static struct level_factor_list list_options(struct arena *arena,
	const struct completions *completions, const struct factor_domain *factor, int j, int d,
	int64_t product)
{
	const struct divisors *divisors = &completions->divisors[d];
	struct level_factor *at = arena_array(arena, struct level_factor, divisors->count);
	struct level_factor_list list = {0, at};
	for (size_t k = 0; k < divisors->count && divisors->at[k] <= product; k++) {
		int64_t bound = divisors->at[k];
		if (product % bound || bound < factor->least || bound > factor->most)
			continue;
		int64_t rest = product / bound;
		if (!completions_make_up(completions, j - 1, d, rest))
			continue;
		int place = 0;
		while (divisors->at[place] < rest)
			place++;
		at[list.count++] = (struct level_factor){bound, rest, place};
	}
	return list;
}

struct level_factors *level_factors_make(struct arena *arena, const struct nest_frame *frame)
{
	const struct space *space = frame->search->space;
	struct level_factors *options = arena_new(arena, struct level_factors);
	const struct completions *completions = completions_make(arena, space);
	options->completions = completions;
	for (int j = 0; j < frame->count; j++)
		for (int d = 0; d < frame->search->shape->dimension_count; d++) {
			const struct divisors *divisors = &completions->divisors[d];
			const struct factor_domain *factor =
				&space->domain->rows[space->levels[frame->tiling[j]].row]
					 .temporal[d];
			struct level_factor_list *lists =
				arena_array(arena, struct level_factor_list, divisors->count);
			for (size_t k = 0; k < divisors->count; k++)
				lists[k] = list_options(
					arena, completions, factor, j, d, divisors->at[k]);
			options->lists[j][d] = lists;
		}
	return options;
}

int level_factors_place(const struct level_factors *options, int dimension, int64_t divisor)
{
	const struct divisors *divisors = &options->completions->divisors[dimension];
	int place = 0;
	while (divisors->at[place] < divisor)
		place++;
	return place;
}

/* All spatial bounds, dimension by dimension, innermost block first. */
struct spatial_walk {
	struct run *run;
	struct arena *arena;
	const struct nest_frame *frame;
	const struct completions *completions; /* NULL: uneven */
	size_t most;
	struct spatial_bounds *out;
	int64_t fan[ARCH_LEVELS_MOST];
	uint32_t bounds[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	struct array(uint32_t) all;
};

static void keep_spatial(struct spatial_walk *spread)
{
	if (spread->out->count == spread->most) {
		spread->out->complete = false;
		return;
	}
	spread->out->count++;
	for (int s = 0; s < spread->out->fanout_count; s++)
		for (int d = 0; d < spread->frame->search->shape->dimension_count; d++)
			*array_add(spread->arena, &spread->all) = spread->bounds[s][d];
}

/* The least bound from `bound` on that can stand where loops inside have `inside` iterations;
 * above `room` if there is none. */
static int64_t next_bound(
	const struct spatial_walk *spread, int d, int64_t inside, int64_t bound, int64_t room)
{
	const struct nest_search *search = spread->frame->search;
	bool imperfect = search->domain->imperfect >> d & 1;
	while (!imperfect && bound <= room &&
		search->shape->dimensions[d].extent % (inside * bound))
		bound++;
	return bound;
}

/* Dimensions from d on, of this one the fan-outs from number s on. */
static void spread_over(struct spatial_walk *spread, int d, int s, int64_t inside)
{
	const struct nest_search *search = spread->frame->search;
	if (d == search->shape->dimension_count) {
		keep_spatial(spread);
		return;
	}
	int64_t extent = search->shape->dimensions[d].extent;
	if (s == spread->out->fanout_count) {
		if (!spread->completions || completions_make_up(spread->completions,
						    spread->frame->count - 1, d, extent / inside))
			spread_over(spread, d + 1, 0, 1);
		return;
	}
	const struct tiling_level *tiling = &search->space->levels[spread->out->fanouts[s]];
	const struct factor_domain *factor = &search->domain->rows[tiling->row].spatial[d];
	const struct nest_level *block = &search->hierarchy->levels[tiling->level];
	int64_t fan = spread->fan[s], room = fanout_count(&block->fanout) / fan;
	room = number_min(room, number_min(factor->most, number_ceil_div(extent, inside)));
	int64_t bound = next_bound(spread, d, inside, number_max(factor->least, 1), room);
	for (; bound <= room && spread->out->complete;
		bound = next_bound(spread, d, inside, bound + 1, room)) {
		spread->out->complete &= run_go_on(spread->run, 1);
		spread->bounds[s][d] = (uint32_t)bound;
		spread->fan[s] = fan * bound;
		spread_over(spread, d, s + 1, inside * bound);
	}
	spread->fan[s] = fan;
}

struct spatial_bounds spatial_bounds_find(struct run *run, struct arena *arena,
	const struct nest_frame *frame, const struct completions *completions, size_t most)
{
	const struct space *space = frame->search->space;
	struct spatial_bounds out = {.complete = true};
	struct spatial_walk spread = {.run = run,
		.arena = arena,
		.frame = frame,
		.completions = completions,
		.most = most,
		.out = &out};
	for (int i = 0; i < space->level_count; i++)
		if (space->levels[i].spatial) {
			spread.fan[out.fanout_count] = 1;
			out.fanouts[out.fanout_count++] = i;
		}
	spread_over(&spread, 0, 0, 1);
	out.at = spread.all.at;
	return out;
}

void spatial_bounds_set(const struct spatial_bounds *bounds, const struct space *space, size_t s,
	struct mapping *out)
{
	int dimension_count = space->domain->shape->dimension_count;
	const uint32_t *at = bounds->at + s * (size_t)(bounds->fanout_count * dimension_count);
	*out = space->blank;
	for (int f = 0; f < bounds->fanout_count; f++)
		for (int d = 0; d < dimension_count; d++)
			out->rows[space->levels[bounds->fanouts[f]].row].spatial[d] = *at++;
}

static int by_bound(const void *a, const void *b)
{
	const struct spatial_choice *x = a, *y = b;
	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	return (x->spatial > y->spatial) - (x->spatial < y->spatial);
}

void spatial_choices_sort(struct spatial_choice *choices, size_t count)
{
	if (count)
		qsort(choices, count, sizeof *choices, by_bound);
}

struct answer nest_ask(struct run *run, const char *solver, const struct nest_search *search,
	uint64_t chain, uint64_t chains, uint64_t ticks, struct arena *arena)
{
	if (!space_factors_count(search->space))
		return (struct answer){.status = PROOF_NONE};
	struct nest_search asked = *search;
	asked.wishes.budget = ticks;
	struct problem problem = {
		.stage = STAGE_MAP, .nest = &asked, .first = chain, .end = chains};
	struct answer answer = run_ask(
		run, solver_find(STAGE_MAP, solver), &problem, ticks, search->wishes.seed, arena);
	run_spend(run, answer.ticks);
	run_evaluated(run, answer.evaluated);
	return answer;
}
