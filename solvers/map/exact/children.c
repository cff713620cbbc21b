#include "solvers/map/exact/children.h"

#include "base/arena.h"

#include <string.h>

enum { EDGES_PER_TICK = 16 };

bool level_children_weigh(struct nest_descent *descent, struct level_children *level,
	const struct nest_order *order, struct nest_cost *cost)
{
	if (++descent->edges % EDGES_PER_TICK == 0)
		nest_descent_spend(descent, 1);
	nest_label_weigh(&descent->view, level->label, order, level->bounds, level->left, cost);
	return !nest_cut_excludes(&descent->cut, &descent->view, cost);
}

void level_children_choose(struct level_children *level, int d, int option)
{
	const struct level_factor *chosen = &level->options[d].at[option];
	level->option[d] = (uint16_t)option;
	level->bounds[d] = chosen->bound;
	level->left[d] = chosen->rest;
	level->least_left[d] = chosen->rest;
}

/* Plain dataspaces that cross further inwards than level j, and that a loop is relevant to. */
static uint32_t closed_by(const struct nest_view *view, int j, int d)
{
	uint32_t closed = 0;
	for (int t = 0; t < view->frame->search->shape->space_count; t++) {
		const struct nest_chain *chain = &view->chains[t];
		bool crosses = chain->next[j] < chain->crossing_count;
		closed |= (uint32_t)(crosses && view->frame->spaces[t].relevant >> d & 1) << t;
	}
	return closed;
}

/* Whether the innermost loop, or another that might as well be, could be shorter because the tile
 * inside still fits when it takes a part of it. */
static bool is_wasteful(struct nest_descent *descent, struct level_children *level)
{
	const struct nest_order *order = &level->class->order;
	if (!(descent->packs >> level->j & 1) || !order->count)
		return false;
	uint32_t innermost = closed_by(&descent->view, level->j, order->at[0]);
	for (int n = 0; n < order->count; n++) {
		int d = order->at[n];
		if (closed_by(&descent->view, level->j, d) & ~innermost)
			continue;
		const struct level_factor_list *options = &level->options[d];
		int64_t bound = level->bounds[d], rest = level->left[d];
		bool wasteful = false;
		for (int k = 0; k < options->count && options->at[k].bound < bound && !wasteful;
			k++) {
			level->left[d] = options->at[k].rest;
			wasteful = bound % options->at[k].bound == 0 &&
				   nest_view_fits(&descent->view, level->j - 1, level->left);
		}
		level->left[d] = rest;
		if (wasteful)
			return true;
	}
	return false;
}

/* All of the order's loops have their bounds, and what is inside fits. */
static void keep_child(struct nest_descent *descent, struct level_children *level)
{
	struct nest_order fixed = level->class->order;
	struct nest_cost cost;
	fixed.rough = false;
	if (is_wasteful(descent, level) || !level_children_weigh(descent, level, &fixed, &cost))
		return;
	struct level_child *child = array_add(descent->scratch, &level->children);
	child->value = nest_cost_value(
		&descent->view, &cost, nest_descent_search(descent)->wishes.objectives.at[0]);
	child->class = level->class;
	memcpy(child->option, level->option, sizeof child->option);
}

/* Bounds of the order's loops before the n-th, the innermost last; those behind are chosen, the others
 * have their least. */
static void choose_bounds(struct nest_descent *descent, struct level_children *level, int n)
{
	const struct nest_order *order = &level->class->order;
	struct nest_cost cost;
	nest_descent_step(descent);
	if (n == 0) {
		keep_child(descent, level);
		return;
	}
	int d = order->at[n - 1];
	const struct level_factor_list *options = &level->options[d];
	int64_t least = level->least_left[d];
	struct nest_order rough = *order;
	rough.rough = true;
	bool fits = false;
	for (int k = level->first_busy[d]; k < options->count && !descent->stopped; k++) {
		level_children_choose(level, d, k);
		fits = fits || nest_view_fits(&descent->view, level->j - 1, level->least_left);
		if (!fits)
			continue;
		if (k > level->first_busy[d] && n > 1 &&
			!level_children_weigh(descent, level, &rough, &cost))
			break;
		choose_bounds(descent, level, n - 1);
	}
	level_children_choose(level, d, level->first_busy[d]);
	level->least_left[d] = least;
}

static void choose_class(struct nest_descent *descent, struct level_children *level, uint32_t busy)
{
	struct nest_order loose = {.count = 0, .loose = true, .rough = true};
	struct nest_cost cost;
	for (int d = 0; d < nest_descent_dimensions(descent); d++) {
		const struct level_factor_list *options = &level->options[d];
		bool loop = busy >> d & 1;
		level_children_choose(level, d, loop ? level->first_busy[d] : 0);
		if (loop) {
			loose.at[loose.count++] = (uint8_t)d;
			level->least_left[d] = options->at[options->count - 1].rest;
		}
	}
	nest_descent_step(descent);
	if (!nest_view_fits(&descent->view, level->j - 1, level->least_left) ||
		!level_children_weigh(descent, level, &loose, &cost))
		return;
	nest_descent_bound(descent, level->j, level->bounds);
	const struct order_classes *classes =
		order_book_find(descent->book, descent->run, level->j, busy, &descent->mapping);
	if (!classes) {
		descent->stopped = true;
		return;
	}
	for (size_t c = 0; c < classes->count && !descent->stopped; c++) {
		struct nest_order order = classes->at[c].order;
		order.rough = true;
		level->class = &classes->at[c];
		if (level_children_weigh(descent, level, &order, &cost))
			choose_bounds(descent, level, order.count);
	}
}

/* Every set of loops that may have a bound above 1. */
void level_children_find(
	struct nest_descent *descent, struct level_children *level, const int *left)
{
	uint32_t must = 0, may = 0;
	for (int d = 0; d < nest_descent_dimensions(descent); d++) {
		struct level_factor_list *options = &level->options[d];
		*options = descent->options->lists[level->j][d][left[d]];
		if (!options->count)
			return;
		bool idle = options->at[0].bound == 1;
		level->first_busy[d] = idle;
		must |= (uint32_t)!idle << d;
		may |= (uint32_t)(idle && options->count > 1) << d;
	}
	uint32_t some = 0;
	do {
		choose_class(descent, level, must | some);
		some = (some - may) & may;
	} while (some && !descent->stopped);
}
