#include "solvers/map/nest_choices.h"

#include "base/arena.h"
#include "base/array.h"
#include "solvers/map/nest_label.h"

#include <stdlib.h>

enum { SPATIAL_MOST = 1000000, CHOICES_MOST = 4000000, FREE_MOST = 24 };

static const struct row_domain *row_of(const struct nest_frame *frame, int tiling)
{
	const struct space *space = frame->search->space;
	return &space->domain->rows[space->levels[tiling].row];
}

static int find_divisor(const struct nest_reach *reach, int d, int64_t value)
{
	int low = 0, high = reach->divisor_count[d];
	while (low < high) {
		int middle = (low + high) / 2;
		if (reach->divisors[d][middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool nest_reaches(const struct nest_reach *reach, int dimension, int j, int64_t product)
{
	int count = reach->divisor_count[dimension];
	return reach->reached[dimension][j * count + find_divisor(reach, dimension, product)];
}

static void find_reach(
	struct arena *arena, const struct nest_frame *frame, int d, struct nest_reach *reach)
{
	int64_t extent = frame->search->shape->dimensions[d].extent;
	struct array(int64_t) divisors = {0};
	for (int64_t n = 1; n * n <= extent; n++)
		if (extent % n == 0)
			*array_add(arena, &divisors) = n;
	for (size_t k = divisors.count; k-- > 0;) {
		int64_t large = extent / divisors.at[k];
		if (large != divisors.at[k])
			*array_add(arena, &divisors) = large;
	}
	int count = (int)divisors.count;
	bool *reached = arena_array(arena, bool, count * frame->count);
	reach->divisors[d] = divisors.at;
	reach->divisor_count[d] = count;
	reach->reached[d] = reached;
	for (int j = 0; j < frame->count; j++) {
		const struct factor_domain *factor = &row_of(frame, frame->tiling[j])->temporal[d];
		for (int k = 0; k < count; k++)
			for (int b = 0; b <= k; b++) {
				int64_t bound = divisors.at[b], product = divisors.at[k];
				if (product % bound || bound < factor->least ||
					bound > factor->most)
					continue;
				reached[j * count + k] |=
					j == 0 ? bound == product
					       : nest_reaches(reach, d, j - 1, product / bound);
			}
	}
}

struct nest_reach nest_reach_make(struct arena *arena, const struct nest_frame *frame)
{
	struct nest_reach reach = {.divisors = {0}};
	for (int d = 0; d < frame->search->shape->dimension_count; d++)
		find_reach(arena, frame, d, &reach);
	return reach;
}

/* All spatial bounds, dimension by dimension. */
struct spread {
	struct arena *arena;
	const struct nest_frame *frame;
	const struct nest_reach *reach;
	struct nest_choices *choices;
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

static void spread_over(struct spread *spread, int d, int s, int64_t left)
{
	const struct nest_frame *frame = spread->frame;
	const struct nest_search *search = frame->search;
	if (d == search->shape->dimension_count) {
		keep_spread(spread);
		return;
	}
	if (s == spread->choices->spatial_count) {
		if (!nest_reaches(spread->reach, d, frame->count - 1, left))
			return;
		int64_t next = d + 1 < search->shape->dimension_count
				       ? search->shape->dimensions[d + 1].extent
				       : 1;
		spread_over(spread, d + 1, 0, next);
		return;
	}
	int tiling = spread->choices->tiling[s];
	const struct factor_domain *factor = &row_of(frame, tiling)->spatial[d];
	const struct nest_level *block =
		&search->hierarchy->levels[search->space->levels[tiling].level];
	int64_t fan = spread->fan[s];
	for (int k = 0; k < spread->reach->divisor_count[d]; k++) {
		int64_t bound = spread->reach->divisors[d][k];
		if (bound > factor->most || bound > block->fanout_x * block->fanout_y / fan)
			break;
		if (bound < factor->least || left % bound)
			continue;
		spread->bounds[s][d] = (uint32_t)bound;
		spread->fan[s] = fan * bound;
		spread_over(spread, d, s + 1, left / bound);
		spread->fan[s] = fan;
	}
}

void nest_choice_set(const struct nest_frame *frame, const struct nest_choices *choices,
	const struct nest_choice *choice, struct mapping *mapping)
{
	const struct space *space = frame->search->space;
	int dimension_count = frame->search->shape->dimension_count;
	*mapping = space->blank;
	for (int i = 0; i < space->free_count; i++)
		if (choice->residency >> i & 1)
			mapping->residency[space->free[i].space] |= 1u << space->free[i].row;
	const uint32_t *bounds =
		choices->bounds +
		(size_t)choice->spatial * (size_t)(choices->spatial_count * dimension_count);
	for (int s = 0; s < choices->spatial_count; s++)
		for (int d = 0; d < dimension_count; d++)
			mapping->rows[space->levels[choices->tiling[s]].row].spatial[d] = *bounds++;
}

static bool least_tiles_fit(const struct nest_view *view)
{
	int64_t one[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		one[d] = 1;
	for (int j = 0; j + 1 < view->frame->count; j++)
		if (!nest_view_fits(view, j, one))
			return false;
	return nest_view_fits(view, view->frame->count - 1, view->temporal);
}

static int by_bound(const void *a, const void *b)
{
	const struct nest_choice *x = a, *y = b;
	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	if (x->spatial != y->spatial)
		return x->spatial < y->spatial ? -1 : 1;
	return (x->residency > y->residency) - (x->residency < y->residency);
}

static bool has_homes(const struct nest_frame *frame, const struct nest_view *view)
{
	for (int t = 0; t < frame->search->shape->space_count; t++)
		if (!view->chain_count[t])
			return false;
	return true;
}

struct nest_choices nest_choices_make(
	struct arena *arena, const struct nest_frame *frame, const struct nest_reach *reach)
{
	const struct nest_search *search = frame->search;
	const struct space *space = search->space;
	struct nest_choices choices = {.complete = space->free_count <= FREE_MOST};
	for (int i = 0; i < space->level_count; i++)
		if (space->levels[i].spatial)
			choices.tiling[choices.spatial_count++] = i;
	struct spread spread = {
		.arena = arena, .frame = frame, .reach = reach, .choices = &choices};
	for (int s = 0; s < choices.spatial_count; s++)
		spread.fan[s] = 1;
	spread_over(&spread, 0, 0, search->shape->dimensions[0].extent);
	choices.bounds = spread.all.at;
	uint64_t residencies = choices.complete ? space_residency_count(space) : 1;
	struct array(struct nest_choice) list = {0};
	for (uint32_t s = 0; s < spread.count; s++)
		for (uint64_t r = 0; r < residencies; r++) {
			struct nest_choice choice = {.residency = r, .spatial = s};
			struct mapping mapping;
			struct nest_view view;
			nest_choice_set(frame, &choices, &choice, &mapping);
			nest_view_make(frame, &mapping, &view);
			if (!has_homes(frame, &view) || !least_tiles_fit(&view))
				continue;
			if (list.count == CHOICES_MOST) {
				choices.complete = false;
				break;
			}
			struct nest_label label = nest_label_first(&view);
			struct score bound = nest_label_bound(&view, &label);
			choice.bound = objective_value(search->objectives.at[0], &bound);
			*array_add(arena, &list) = choice;
		}
	choices.count = list.count;
	choices.at = list.at;
	if (list.count)
		qsort(list.at, list.count, sizeof *list.at, by_bound);
	return choices;
}
