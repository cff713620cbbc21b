#include "solvers/map/exact/spatial.h"

#include "base/array.h"

#include <stdlib.h>

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

static void keep(struct spatial_walk *spread)
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
		keep(spread);
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
	int64_t fan = spread->fan[s], room = block->fanout_x * block->fanout_y / fan;
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
