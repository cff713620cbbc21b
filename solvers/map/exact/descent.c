#include "solvers/map/exact/descent.h"

#include "base/arena.h"
#include "solvers/map/exact/children.h"
#include "solvers/map/exact/links.h"
#include "solvers/map/exact/options.h"
#include "solvers/map/exact/skew.h"

#include <stdlib.h>
#include <string.h>

/* Whether what runs along X, and along Y, has room. */
static bool axes_fit(const struct nest_descent *descent, const struct tiling_level *level)
{
	const struct nest_level *block =
		&nest_descent_search(descent)->hierarchy->levels[level->level];
	const struct mapping_row *row = &descent->mapping.rows[level->row];
	int64_t fan[2] = {1, 1};
	for (int d = 0; d < nest_descent_dimensions(descent); d++)
		fan[row->spatial_y >> d & 1] *= row->spatial[d];
	return fan[0] <= block->fanout_x && fan[1] <= block->fanout_y;
}

/* Calls visit for every arrangement of the tiling levels in a mask, from level i on, and leaves the
 * one that was there. */
static void arrange(struct nest_descent *descent, uint64_t mask, int i,
	void (*visit)(struct nest_descent *descent, void *user), void *user)
{
	const struct space *space = nest_descent_search(descent)->space;
	while (i < space->level_count && !(mask >> i & 1))
		i++;
	if (i == space->level_count) {
		visit(descent, user);
		return;
	}
	const struct tiling_level *level = &space->levels[i];
	struct mapping_row *row = &descent->mapping.rows[level->row], kept = *row;
	uint64_t count = space_level_count(space, level, &descent->mapping);
	for (uint64_t k = 0; k < count && !descent->stopped; k++) {
		space_level_arrange(space, level, k, &descent->mapping);
		nest_descent_step(descent);
		if (axes_fit(descent, level))
			arrange(descent, mask, i + 1, visit, user);
	}
	*row = kept;
}

/* One arrangement of every block; false if there is none, or when it is to stop. */
static bool arrange_once(struct nest_descent *descent)
{
	const struct space *space = nest_descent_search(descent)->space;
	for (int i = 0; i < space->level_count; i++) {
		const struct tiling_level *level = &space->levels[i];
		if (!level->spatial)
			continue;
		uint64_t count = space_level_count(space, level, &descent->mapping), k = 0;
		bool fits = false;
		for (; k < count && !fits && !descent->stopped; k++) {
			nest_descent_step(descent);
			space_level_arrange(space, level, k, &descent->mapping);
			fits = axes_fit(descent, level);
		}
		if (!fits)
			return false;
	}
	return true;
}

/* Blocks whose arrangement can change a count: under flags; in Timeloop's counting around the
 * multipliers, which hand on every operand, and where networks cost energy by the way that words
 * go; of a systolic array with two axes; or by links of windows. */
static void find_arranged(struct nest_descent *descent)
{
	const struct nest_frame *frame = descent->view.frame;
	const struct space *space = frame->search->space;
	descent->arranged[0] = descent->arranged[1] = 0;
	for (int i = 0; i < space->level_count; i++) {
		const struct tiling_level *level = &space->levels[i];
		uint32_t busy = 0;
		for (int d = 0; level->spatial && d < nest_descent_dimensions(descent); d++)
			busy |= (uint32_t)(descent->mapping.rows[level->row].spatial[d] > 1) << d;
		bool links = false;
		for (int t = 0; t < frame->search->shape->space_count; t++)
			links |= (frame->spaces[t].paired & busy) != 0;
		bool always = frame->blind || frame->ways ||
			      (frame->timeloop && level->level == 0) ||
			      nest_skew_turns(frame, level);
		descent->arranged[0] |= (uint64_t)(always && busy) << i;
		descent->arranged[1] |= (uint64_t)((always && busy) || links) << i;
	}
}

static int by_value(const void *a, const void *b)
{
	const struct level_child *x = a, *y = b;
	return (x->value > y->value) - (x->value < y->value);
}

/* Counts of the levels outside, the least of several arrangements. */
struct nest_outside {
	int boundary;
	int tried;
	bool counted;
	struct nest_sums sums[SHAPE_SPACES_MOST];
};

static bool crosses(const struct nest_descent *descent, int t, int boundary)
{
	const struct nest_chain *chain = &descent->view.chains[t];
	const struct nest_frame *frame = descent->view.frame;
	if (frame->spaces[t].plain || frame->spaces[t].silent)
		return false;
	for (int k = 1; k < chain->count; k++)
		if (chain->kept[k] == boundary)
			return true;
	return false;
}

static void add_count(const struct nest_view *view, int t, int j, const struct nest_count *count,
	struct nest_sums *sums)
{
	nest_view_add(view, t, j, NEST_READ, (double)count->reads, sums);
	nest_view_add(view, t, j, NEST_FILL, (double)count->fills, sums);
}

static void count_once(struct nest_descent *descent, void *user)
{
	struct nest_outside *outside = user;
	const struct nest_view *view = &descent->view;
	struct nest_counts counts;
	struct nest_score score;
	nest_descent_spend(descent, 1);
	run_evaluated(descent->run, 1);
	enum nest_verdict verdict = nest_evaluate(
		nest_descent_search(descent)->model, &descent->mapping, &counts, &score);
	outside->counted &= nest_verdict_counts(verdict);
	for (int t = 0; outside->counted && t < nest_descent_search(descent)->shape->space_count;
		t++) {
		if (!crosses(descent, t, outside->boundary))
			continue;
		struct nest_sums sums;
		memset(&sums, 0, sizeof sums);
		for (int j = outside->boundary + 1; j < view->frame->count; j++)
			add_count(view, t, j, &counts.at[view->frame->level[j]][t], &sums);
		struct nest_count fills = counts.at[view->frame->level[outside->boundary]][t];
		fills.reads = 0;
		add_count(view, t, outside->boundary, &fills, &sums);
		if (!outside->tried)
			outside->sums[t] = sums;
		nest_sums_lower(view->frame, &outside->sums[t], &sums);
	}
	outside->tried++;
}

static uint64_t count_arrangements(const struct nest_descent *descent, uint64_t mask)
{
	const struct space *space = nest_descent_search(descent)->space;
	uint64_t all = 1;
	for (int i = 0; i < space->level_count; i++)
		if (mask >> i & 1 &&
			__builtin_mul_overflow(all,
				space_level_count(space, &space->levels[i], &descent->mapping),
				&all))
			return UINT64_MAX;
	return all;
}

/* What windows that cross the label's boundary cost outside for all loops inside
 * will be, here they are all at the innermost level. */
static void count_outside(
	struct nest_descent *descent, const int64_t *left, struct nest_label *label)
{
	static const int64_t ones[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	bool any = false;
	for (int t = 0; t < nest_descent_search(descent)->shape->space_count; t++)
		any |= crosses(descent, t, label->boundary);
	if (!any)
		return;
	struct nest_outside outside = {.boundary = label->boundary, .counted = true};
	uint64_t mask = descent->arranged[label->linked];
	if (label->boundary > 0 && count_arrangements(descent, mask) <= ARRANGEMENTS_COUNTED_MOST) {
		for (int j = 1; j <= label->boundary; j++)
			nest_descent_bound(descent, j, ones);
		nest_descent_bound(descent, 0, left);
		arrange(descent, mask, 0, count_once, &outside);
	}
	for (int t = 0; t < nest_descent_search(descent)->shape->space_count; t++) {
		if (!crosses(descent, t, label->boundary))
			continue;
		if (outside.tried && outside.counted)
			label->counted[t] = outside.sums[t];
		else
			nest_label_estimate(&descent->view, t, left, label);
	}
}

static void cut_anew(struct nest_descent *descent)
{
	double excluded = descent->cut.excluded;
	descent->cut = nest_cut_make(run_arena(descent->run), &descent->offers.kept,
		&nest_descent_search(descent)->wishes, descent->slack);
	descent->cut.excluded = excluded;
}

static void try_mapping(struct nest_descent *descent, void *user)
{
	struct offer_price price;
	(void)user;
	if (!nest_offers_price(&descent->offers, &descent->mapping, &price))
		descent->stopped = true;
	else if (price.kept)
		cut_anew(descent);
}

static void descend(struct nest_descent *descent, int j, const int *left,
	const struct nest_label *label, double bound);

/* What is left goes to the innermost level. */
static void finish(struct nest_descent *descent, const int *left, const struct nest_label *label)
{
	const struct completions *completions = descent->options->completions;
	int64_t bounds[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < nest_descent_dimensions(descent); d++)
		bounds[d] = completions->divisors[d].at[left[d]];
	nest_descent_bound(descent, 0, bounds);
	const struct space *space = nest_descent_search(descent)->space;
	const struct tiling_level *innermost = nest_descent_tiling(descent, 0);
	uint64_t orders = 1;
	if (!descent->view.direct || descent->view.frame->ways)
		orders = space_level_count(space, innermost, &descent->mapping);
	for (uint64_t k = 0; k < orders && !descent->stopped; k++) {
		space_level_arrange(space, innermost, k, &descent->mapping);
		arrange(descent, descent->arranged[label->linked], 0, try_mapping, NULL);
	}
}

static void go_on(
	struct nest_descent *descent, struct level_children *level, const struct level_child *child)
{
	int left[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < nest_descent_dimensions(descent); d++) {
		level_children_choose(level, d, child->option[d]);
		left[d] = level->options[d].at[child->option[d]].at;
	}
	struct nest_cost cost;
	const struct nest_order *order = &child->class->order;
	if (!level_children_weigh(descent, level, order, &cost))
		return;
	struct nest_label next;
	descent->labels++;
	nest_label_enter(&descent->view, level->label, order, level->bounds, &next);
	nest_descent_bound(descent, level->j, level->bounds);
	space_level_arrange(nest_descent_search(descent)->space,
		nest_descent_tiling(descent, level->j), child->class->index, &descent->mapping);
	for (int t = 0; t < nest_descent_search(descent)->shape->space_count; t++)
		next.linked |= nest_links_possible(
			&descent->view, &descent->mapping, &next, level->left, t);
	count_outside(descent, level->left, &next);
	nest_label_bound(&descent->view, &next, level->left, &cost);
	if (nest_cut_excludes(&descent->cut, &descent->view, &cost))
		return;
	descend(descent, level->j - 1, left, &next,
		nest_cost_value(&descent->view, &cost,
			nest_descent_search(descent)->wishes.objectives.at[0]));
}

static void leave_open(struct nest_descent *descent, double bound)
{
	if (bound < descent->open)
		descent->open = bound;
}

/* Nothing is below `bound`. */
static void descend(struct nest_descent *descent, int j, const int *left,
	const struct nest_label *label, double bound)
{
	if (j == 0) {
		finish(descent, left, label);
		if (descent->stopped)
			leave_open(descent, bound);
		return;
	}
	struct arena_mark mark = arena_mark(descent->scratch);
	struct level_children level = {.j = j, .label = label};
	level_children_find(descent, &level, left);
	if (descent->stopped) {
		leave_open(descent, bound);
		arena_release(descent->scratch, mark);
		return;
	}
	if (level.children.count)
		qsort(level.children.at, level.children.count, sizeof *level.children.at, by_value);
	for (size_t c = 0; c < level.children.count; c++) {
		if (!descent->stopped)
			go_on(descent, &level, &level.children.at[c]);
		else
			leave_open(descent, level.children.at[c].value);
	}
	arena_release(descent->scratch, mark);
}

/* Levels whose loops may be given to the level inside. */
static uint32_t find_packs(const struct nest_view *view)
{
	const struct nest_frame *frame = view->frame;
	uint32_t packs = 0;
	for (int t = 0; t < frame->search->shape->space_count; t++)
		if (!frame->plain || view->chains[t].sags)
			return 0;
	for (int j = 1; j < frame->count; j++)
		if (!nest_skew_minds(frame, j - 1))
			packs |= (frame->loose >> j & frame->loose >> (j - 1) & 1) << j;
	return packs;
}

void nest_descend(struct nest_descent *descent, double bound)
{
	const struct nest_view *view = &descent->view;
	int left[SHAPE_DIMENSIONS_MOST];
	descent->mapping = view->mapping;
	if (!arrange_once(descent)) {
		if (descent->stopped)
			leave_open(descent, bound);
		return;
	}
	find_arranged(descent);
	descent->packs = find_packs(view);
	for (int d = 0; d < nest_descent_dimensions(descent); d++)
		left[d] = level_factors_place(descent->options, d, view->temporal[d]);
	cut_anew(descent);
	struct nest_label label = nest_label_first(view);
	for (int t = 0; t < nest_descent_search(descent)->shape->space_count; t++)
		label.linked |= nest_links_around_multipliers(view, t);
	descend(descent, view->frame->count - 1, left, &label, bound);
}
