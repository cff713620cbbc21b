#include "solvers/map/uneven/choices.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <stdlib.h>

/* BOUND_TICKS: what it is worth to bound one of them. */
enum { SPATIAL_MOST = 500000, FREE_MOST = 24, BOUND_TICKS = 16 };

/* All spatial bounds, dimension by dimension, innermost block first. */
struct spread {
	struct run *run;
	struct arena *arena;
	const struct nest_frame *frame;
	struct uneven_choices *choices;
	int64_t fan[ARCH_LEVELS_MOST];
	uint32_t bounds[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	struct array(uint32_t) all;
	size_t count;
};

static void keep_spread(struct spread *spread)
{
	if (spread->count == SPATIAL_MOST) {
		spread->choices->complete = false;
		return;
	}
	spread->count++;
	for (int s = 0; s < spread->choices->spatial_count; s++)
		for (int d = 0; d < spread->frame->search->shape->dimension_count; d++)
			*array_add(spread->arena, &spread->all) = spread->bounds[s][d];
}

static void spread_over(struct spread *spread, int d, int s, int64_t inside)
{
	const struct nest_search *search = spread->frame->search;
	if (d == search->shape->dimension_count) {
		keep_spread(spread);
		return;
	}
	int64_t extent = search->shape->dimensions[d].extent;
	if (s == spread->choices->spatial_count) {
		spread_over(spread, d + 1, 0, 1);
		return;
	}
	const struct tiling_level *tiling = &search->space->levels[spread->choices->tiling[s]];
	const struct factor_domain *factor = &search->domain->rows[tiling->row].spatial[d];
	const struct nest_level *block = &search->hierarchy->levels[tiling->level];
	bool imperfect = search->domain->imperfect >> d & 1;
	int64_t fan = spread->fan[s], room = block->fanout_x * block->fanout_y / fan;
	room = number_min(room, number_min(factor->most, number_ceil_div(extent, inside)));
	for (int64_t bound = factor->least; bound <= room && spread->choices->complete; bound++) {
		spread->choices->complete &= run_go_on(spread->run, 1);
		if (!imperfect && extent % (inside * bound))
			continue;
		spread->bounds[s][d] = (uint32_t)bound;
		spread->fan[s] = fan * bound;
		spread_over(spread, d, s + 1, inside * bound);
		spread->fan[s] = fan;
	}
}

/* Every dataspace has a home, no sums end apart there, and the least tiles fit. */
static bool may_fit(const struct uneven_view *view)
{
	static const int64_t once[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const struct nest_frame *frame = view->frame;
	for (int t = 0; t < frame->search->shape->space_count; t++)
		if (!view->chain_count[t] || view->sums_apart[t])
			return false;
	for (int j = 0; j < frame->count; j++)
		if (!uneven_view_fits(view, j, once))
			return false;
	return true;
}

bool uneven_choice_view(const struct nest_frame *frame, const struct uneven_choices *choices,
	const struct uneven_choice *choice, uint64_t residency, struct uneven_view *out)
{
	const struct space *space = frame->search->space;
	struct mapping mapping = space->blank;
	for (int i = 0; i < space->free_count; i++)
		if (residency >> i & 1)
			mapping.residency[space->free[i].space] |= 1u << space->free[i].row;
	const uint32_t *bounds = choice->bounds;
	for (int s = 0; s < choices->spatial_count; s++)
		for (int d = 0; d < frame->search->shape->dimension_count; d++)
			mapping.rows[space->levels[choices->tiling[s]].row].spatial[d] = *bounds++;
	uneven_view_make(frame, &mapping, out);
	return may_fit(out);
}

static int by_bound(const void *a, const void *b)
{
	const struct uneven_choice *x = a, *y = b;
	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	return (x->bounds > y->bounds) - (x->bounds < y->bounds);
}

struct uneven_choices uneven_choices_make(
	struct run *run, struct arena *arena, const struct nest_frame *frame)
{
	const struct nest_search *search = frame->search;
	const struct space *space = search->space;
	struct uneven_choices choices = {.complete = space->free_count <= FREE_MOST,
		.floor = nest_floor(search, search->wishes.objectives.at[0])};
	for (int i = 0; i < space->level_count; i++)
		if (space->levels[i].spatial)
			choices.tiling[choices.spatial_count++] = i;
	struct spread spread = {.run = run, .arena = arena, .frame = frame, .choices = &choices};
	for (int s = 0; s < choices.spatial_count; s++)
		spread.fan[s] = 1;
	spread_over(&spread, 0, 0, 1);
	size_t width = (size_t)(choices.spatial_count * search->shape->dimension_count);
	choices.at = arena_array(arena, struct uneven_choice, spread.count);
	for (size_t s = 0; s < spread.count && run_go_on(run, BOUND_TICKS); s++) {
		struct uneven_view view;
		choices.count++;
		choices.at[s].bounds = spread.all.at + s * width;
		uneven_choice_view(frame, &choices, &choices.at[s], 0, &view);
		struct score bound = uneven_view_bound_anywhere(&view);
		choices.at[s].bound = objective_value(search->wishes.objectives.at[0], &bound);
	}
	choices.complete &= run_go_on(run, 0);
	if (choices.count)
		qsort(choices.at, choices.count, sizeof *choices.at, by_bound);
	return choices;
}
