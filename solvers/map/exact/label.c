#include "solvers/map/exact/exact.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of doubles err by less: a cycle is not counted, energies that differ by less are equal.  What
 * is said to be a bound stays within what its certificate allows (search/certificate/certificate.h). */
#define CYCLES_MARGIN (1 - 1e-9)
#define ENERGY_MARGIN (1 + 5e-13)
#define UNEVEN_MARGIN (1 + 1e-12) /* longer sums, and no certificate */

void nest_cost_finish(const struct nest_view *view, struct nest_cost *cost)
{
	const struct nest_frame *frame = view->frame;
	double waiting = 0,
	       cycles = hierarchy_cycles_least(frame->search->hierarchy, view->cycles) +
			cost->array_cycles;
	for (int m = frame->port_first; m < frame->meter_count; m++) {
		double port = nest_meter(&cost->sums, m);
		waiting = port > waiting ? port : waiting;
	}
	waiting *= CYCLES_MARGIN;
	if (waiting > cycles) {
		cycles = waiting < 0x1p62 ? (double)(int64_t)waiting : 0x1p62;
		cycles += cycles < waiting;
	}
	cost->cycles = cycles + view->network_cycles;
	double leaking = frame->timeloop ? cycles : cost->cycles;
	cost->energy_pj = (nest_meter(&cost->sums, 0) + view->leak_pj * leaking) *
			  (frame->uneven ? UNEVEN_MARGIN : ENERGY_MARGIN);
}

double nest_cost_value(
	const struct nest_view *view, const struct nest_cost *cost, enum objective objective)
{
	switch (objective) {
	case OBJECTIVE_LATENCY:
		return cost->cycles;
	case OBJECTIVE_ENERGY:
		return cost->energy_pj;
	case OBJECTIVE_EDP:
		return cost->energy_pj * cost->cycles;
	default:
		return view->frame->objective_meter[objective]
			       ? nest_meter(&cost->sums, view->frame->objective_meter[objective]) *
					 (1 - 1e-12)
			       : 0;
	}
}

#ifndef NDEBUG
/* Asserts that none of the incumbents is as good as another in all objectives. */
static bool check_cut(const struct nest_cut *cut)
{
	size_t count = cut->objectives->count;
	for (size_t a = 0; a < cut->count; a++)
		for (size_t b = 0; b < cut->count; b++) {
			size_t k = 0;
			while (k < count &&
				cut->values[a * count + k] <= cut->values[b * count + k])
				k++;
			assert(a == b || k < count);
		}
	return true;
}

/* Asserts that some point that is kept is as good as these values in every objective, within the slack. */
static bool check_excluded(const struct nest_cut *cut, const double *values)
{
	size_t count = cut->objectives->count, better = 0;
	for (size_t i = 0; i < cut->count && better < count; i++) {
		better = 0;
		for (size_t k = 0; k < count; k++)
			better += cut->values[i * count + k] <= values[k] * cut->slack;
	}
	assert(count && better == count);
	return true;
}
#endif

struct nest_cut nest_cut_make(struct arena *arena, const struct frontier *kept,
	const struct objectives *objectives, double slack)
{
	assert(slack >= 1);
	struct nest_cut cut = {objectives, slack, kept->count,
		arena_array(arena, double, kept->count * objectives->count), INFINITY};
	double *value = cut.values;
	for (size_t i = 0; i < kept->count; i++)
		for (size_t k = 0; k < objectives->count; k++)
			*value++ = objective_value(objectives->at[k], &kept->points[i].score);
	assert(check_cut(&cut));
	return cut;
}

bool nest_cut_excludes_values(struct nest_cut *cut, const double *values)
{
	const double *point = cut->values;
	size_t count = cut->objectives->count;
	for (size_t i = 0; i < cut->count; i++, point += count) {
		size_t k = 0;
		while (k < count && point[k] <= values[k] * cut->slack)
			k++;
		if (k < count)
			continue;
		assert(check_excluded(cut, values));
		if (cut->slack > 1 && values[0] < cut->excluded)
			cut->excluded = values[0];
		return true;
	}
	return false;
}

bool nest_cut_excludes(
	struct nest_cut *cut, const struct nest_view *view, const struct nest_cost *cost)
{
	double values[OBJECTIVE_COUNT];
	for (size_t k = 0; k < cut->objectives->count; k++)
		values[k] = nest_cost_value(view, cost, cut->objectives->at[k]);
	return nest_cut_excludes_values(cut, values);
}

static int space_count(const struct nest_view *view)
{
	return view->frame->search->shape->space_count;
}

static const struct window_slide still = {
	.times = 1,
	.pending = 1,
	.rank = -1,
	.run = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	.lone_times = 1,
	.since = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
};

static const struct nest_order no_loops = {.loose = true};

struct nest_label nest_label_first(const struct nest_view *view)
{
	struct nest_label label = {
		.boundary = view->frame->count - 1, .innermost = -1, .outside = 1, .passes = 1};
	for (int t = 0; t < space_count(view); t++) {
		label.irrelevant[t] = 1;
		label.reload[t] = 1;
		label.slides[t] = still;
	}
	return label;
}

/* A window's crossings from `first` inwards, with `left` temporal iterations inside the loops of a
 * level. */
struct window_bound {
	const struct nest_view *view;
	int space, first;
	const struct nest_order *order;
	const int64_t *left;
};

/* Words of the union of tiles, as an instance with these spatial loops inside sees them. */
static double window_bound_united(
	const struct window_bound *window, const double *loops, const double *inside)
{
	const struct nest_frame *frame = window->view->frame;
	double words = 1;
	for (int r = 0; r < frame->search->shape->spaces[window->space].rank_count; r++) {
		double reach = 1;
		for (uint32_t own = frame->spaces[window->space].own[r]; own; own &= own - 1) {
			int d = __builtin_ctz(own);
			reach += (double)window->left[d] * loops[d] * inside[d] - 1;
		}
		words *= reach;
	}
	return words;
}

/* Words of a tile of the child, as boxes. */
static double tile_of(const struct window_bound *window, const struct nest_crossing *to)
{
	double extents[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < window->view->frame->search->shape->dimension_count; d++)
		extents[d] = (double)window->left[d] * to->inside[d];
	return nest_frame_words(window->view->frame, window->space, extents);
}

/* Every word of every tile, as an instance without reuse enters it. */
static double all_tiles(const struct window_bound *window, const double *inside)
{
	double outside = window->view->cycles;
	for (int d = 0; d < window->view->frame->search->shape->dimension_count; d++)
		outside /= (double)window->left[d];
	return outside * window_bound_united(window, still.run, inside);
}

/* Words that `many` instances of a crossing's child may hold from before a run; its tiles only shrink
 * inwards.  Where bounds may still grow, a run of more rounds, each with less to enter, brings as much
 * if all tiles before are taken away whole, and every index is a word.  Children together may hold more
 * than they reach. */
static double held_before_run(
	const struct window_bound *window, const struct nest_crossing *to, double many)
{
	const struct nest_space *space = &window->view->frame->spaces[window->space];
	if (!window->order->rough)
		return many * fmin(to->size, tile_of(window, to));
	return window->order->loose || many > 1 || !space->dense ? INFINITY : tile_of(window, to);
}

/* Exactly, a run comes to all words under it, but for what instances hold from before. */
static double window_bound_crossing(const struct window_bound *window,
	const struct window_slide *slide, const struct nest_crossing *to, const double *inside,
	double many)
{
	const struct nest_space *space = &window->view->frame->spaces[window->space];
	if (window->view->frame->timeloop)
		return space->simple
			       ? slide->times * window_bound_united(window, slide->run, inside)
			       : slide->lone_times *
					 window_bound_united(window, slide->since, inside);
	double run = 0,
	       lone = slide->lone_times * window_bound_united(window, slide->since, inside);
	if (space->simple)
		run = slide->times * (window_bound_united(window, slide->run, inside) -
					     held_before_run(window, to, many));
	return fmax(run, lone);
}

/* One more loop inside all those before; `outside` is the product of them. */
static void slide_append(const struct nest_space *space, int d, double bound, double outside,
	struct window_slide *slide)
{
	bool slides = space->paired >> d & 1;
	if (!(space->relevant >> d & 1)) {
		slide->pending *= bound;
		return;
	}
	if (space->alone >> d & 1) {
		slide->lone_times = outside * bound;
		for (int k = 0; k < SHAPE_DIMENSIONS_MOST; k++)
			slide->since[k] = 1;
	} else {
		slide->since[d] *= bound;
	}
	int rank = space->rank_of[d];
	bool again = slides && slide->rank == rank;
	if (!again || slide->pending > 1) {
		slide->times = again ? slide->times * slide->pending : outside;
		for (int k = 0; k < SHAPE_DIMENSIONS_MOST; k++)
			slide->run[k] = 1;
	}
	slide->rank = slides ? rank : -1;
	if (slides)
		slide->run[d] *= bound;
	else
		slide->times *= bound;
	slide->pending = 1;
}

static void slide_over(const struct nest_view *view, int t, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, struct window_slide *slide)
{
	const struct nest_space *space = &view->frame->spaces[t];
	double outside = from->outside;
	for (int n = order->count - 1; n >= 0; n--) {
		int d = order->at[n];
		slide_append(space, d, (double)bounds[d], outside, slide);
		outside *= (double)bounds[d];
	}
}

/* Adds what a window costs at least at crossing k. */
static void weigh_crossing(const struct window_bound *window, const struct window_slide *slide,
	int k, bool apart, struct nest_sums *sums)
{
	const struct nest_frame *frame = window->view->frame;
	const struct nest_crossing *to = &window->view->chains[window->space].crossings[k];
	double words = to->resets ? all_tiles(window, to->inside)
				  : window_bound_crossing(window, slide, to, to->inside, 1);
	nest_sums_add(frame, sums, apart ? &to->apart : &to->price, words);
	if (!apart || to->uneven)
		nest_sums_add(frame, sums, &to->rounding, 1);
	if (to->united && !apart)
		nest_sums_add(frame, sums, &to->parent_price,
			window_bound_crossing(
				window, slide, to, to->parent_inside, to->parent_many));
}

/* And at all of them, the first perhaps without links. */
static void weigh_slide(const struct window_bound *window, const struct window_slide *slide,
	bool apart, struct nest_sums *sums)
{
	int count = window->view->chains[window->space].crossing_count;
	for (int k = window->first; k < count; k++, apart = false)
		weigh_crossing(window, slide, k, apart, sums);
}

/* True if neighbours cannot hand on the words of a window: the innermost loop outside them does
 * not slide it. */
static bool stand_apart(const struct nest_space *space, int innermost)
{
	return space->simple && (innermost < 0 || !(space->paired >> innermost & 1));
}

/* The irrelevant loops of a level that stand outside a relevant one; false if all are irrelevant. */
static bool nest_space_reloads(const struct nest_space *space, const struct nest_order *order,
	const int64_t *bounds, double *out)
{
	bool relevant = false;
	*out = 1;
	for (int n = 0; n < order->count; n++) {
		int d = order->at[n];
		if (space->relevant >> d & 1)
			relevant = true;
		else if (relevant && !order->loose)
			*out *= (double)bounds[d];
	}
	return relevant;
}

/* Adds the cost of a plain dataspace from crossing k inwards: X of those that keep tiles is W x `reload` at
 * least, and of those that reset W x `irrelevant`. */
static void weigh_plain(const struct nest_view *view, int t, double reload, double irrelevant,
	int k, struct nest_sums *sums)
{
	const struct nest_chain *chain = &view->chains[t];
	if (k == chain->crossing_count)
		return;
	double x[] = {chain->words * reload, chain->words * irrelevant};
	for (int resets = 0; resets <= chain->resets; resets++) {
		const struct nest_rest *rest = &chain->crossings[k].rest[resets];
		nest_sums_add(view->frame, sums, &rest->all, x[resets]);
		if (chain->sags)
			nest_sums_add(view->frame, sums, &rest->sag, view->cycles - x[resets]);
	}
}

/* The irrelevant loops outside, with those of one more level. */
static double irrelevant_with(const struct nest_space *space, double irrelevant,
	const struct nest_order *order, const int64_t *bounds)
{
	for (int n = 0; n < order->count; n++)
		if (!(space->relevant >> order->at[n] & 1))
			irrelevant *= (double)bounds[order->at[n]];
	return irrelevant;
}

void nest_label_start(const struct nest_view *view, int space, struct nest_sums *sums)
{
	nest_sums_add(view->frame, sums, &view->chains[space].base, 1);
	if (view->frame->spaces[space].plain) {
		weigh_plain(view, space, 1, 1, 0, sums);
		return;
	}
	struct window_bound window = {view, space, 0, &no_loops, view->temporal};
	weigh_slide(&window, &still, false, sums);
}

/* Loops in any order are no worse inside: with them, the iterations that are left. */
static const int64_t *whole_of(const struct nest_view *view, const struct nest_order *order,
	const int64_t *bounds, const int64_t *left, int64_t *out)
{
	memcpy(out, left, (size_t)view->frame->search->shape->dimension_count * sizeof *out);
	for (int n = 0; n < order->count; n++)
		out[order->at[n]] *= bounds[order->at[n]];
	return out;
}

void nest_label_weigh(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, const int64_t *left,
	struct nest_cost *out)
{
	struct nest_sums *sums = &out->sums;
	for (int g = 0; g < view->frame->group_count; g++)
		sums->at[g] = view->base.at[g] + from->passed.at[g];
	for (int t = 0; t < space_count(view); t++) {
		const struct nest_space *space = &view->frame->spaces[t];
		int k = view->chains[t].next[from->boundary];
		if (space->plain) {
			double here, all = 1;
			bool closes = nest_space_reloads(space, order, bounds, &here);
			if (view->chains[t].resets)
				all = irrelevant_with(space, from->irrelevant[t], order, bounds);
			weigh_plain(view, t, closes ? from->irrelevant[t] * here : from->reload[t],
				all, k, sums);
			continue;
		}
		nest_sums_add(view->frame, sums, &from->counted[t], 1);
		if (k == view->chains[t].crossing_count)
			continue;
		struct window_bound window = {view, t, k, order, left};
		int64_t whole[SHAPE_DIMENSIONS_MOST];
		if (order->loose) {
			window.left = whole_of(view, order, bounds, left, whole);
			weigh_slide(&window, &from->slides[t], false, sums);
			continue;
		}
		struct window_slide slide = from->slides[t];
		slide_over(view, t, from, order, bounds, &slide);
		int innermost = order->count ? order->at[0] : from->innermost;
		bool here = view->chains[t].crossings[k].level == from->boundary - 1;
		weigh_slide(&window, &slide, here && stand_apart(space, innermost), sums);
	}
	out->array_cycles = nest_skew_bound(view, from, order, bounds);
	nest_cost_finish(view, out);
	assert(out->array_cycles >= 0 && out->cycles >= 0 && out->energy_pj >= 0);
}

/* As if no loop were chosen at the next level, in any order. */
void nest_label_bound(const struct nest_view *view, const struct nest_label *label,
	const int64_t *left, struct nest_cost *out)
{
	nest_label_weigh(view, label, &no_loops, left, left, out);
}

/* Takes what crosses the label's boundary into passes and load_cycles, which are those outside. */
static void nest_skew_enter(const struct nest_view *view, struct nest_label *label)
{
	for (int t = 0; t < view->frame->search->shape->space_count; t++) {
		const struct nest_chain *chain = &view->chains[t];
		if (chain->held_at < 0 || chain->held_at != label->boundary)
			continue;
		label->passes = fmax(
			label->passes, label->outside / label->irrelevant[t] * label->reload[t]);
		label->load_cycles += chain->load_cycles * label->reload[t];
	}
}

#ifndef NDEBUG
/* Asserts that a label and the one before it agree: the boundary is the next one inwards, loops are only added, and no
 * meter falls unless some sums sag (view.h). */
static bool check_label(
	const struct nest_view *view, const struct nest_label *from, const struct nest_label *label)
{
	assert(label->boundary == from->boundary - 1 && label->boundary >= 0);
	assert(label->outside >= from->outside);
	assert(label->passes >= from->passes && label->load_cycles >= from->load_cycles);
	bool sags = false;
	for (int t = 0; t < space_count(view); t++) {
		sags |= view->chains[t].sags;
		assert(label->irrelevant[t] >= from->irrelevant[t]);
		assert(label->irrelevant[t] <= label->outside);
		assert(label->reload[t] >= from->reload[t]);
		assert(label->reload[t] <= label->irrelevant[t]);
	}
	for (int m = 0; m < view->frame->meter_count; m++)
		assert(sags || nest_meter(&label->passed, m) >= nest_meter(&from->passed, m));
	return true;
}
#endif

void nest_label_enter(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, struct nest_label *out)
{
	out->boundary = from->boundary - 1;
	out->linked = from->linked;
	out->outside = from->outside;
	out->passed = from->passed;
	out->innermost = order->count ? order->at[0] : from->innermost;
	for (int n = 0; n < order->count; n++)
		out->outside *= (double)bounds[order->at[n]];
	for (int t = 0; t < space_count(view); t++) {
		const struct nest_space *space = &view->frame->spaces[t];
		out->counted[t] = from->counted[t];
		out->irrelevant[t] = irrelevant_with(space, from->irrelevant[t], order, bounds);
		out->reload[t] = from->reload[t];
		double here;
		if (nest_space_reloads(space, order, bounds, &here))
			out->reload[t] = from->irrelevant[t] * here;
		if (!space->plain) {
			out->slides[t] = from->slides[t];
			slide_over(view, t, from, order, bounds, &out->slides[t]);
			continue;
		}
		const struct nest_chain *chain = &view->chains[t];
		int k = chain->next[from->boundary];
		if (k < chain->crossing_count && chain->crossings[k].level == out->boundary)
			nest_sums_add(view->frame, &out->passed, &chain->crossings[k].price,
				chain->words * (chain->crossings[k].resets ? out->irrelevant[t]
									   : out->reload[t]));
	}
	out->passes = from->passes;
	out->load_cycles = from->load_cycles;
	nest_skew_enter(view, out);
	assert(check_label(view, from, out));
}

void nest_label_estimate(
	const struct nest_view *view, int space, const int64_t *left, struct nest_label *label)
{
	const struct nest_chain *chain = &view->chains[space];
	int k = chain->next[label->boundary + 1];
	if (k == chain->crossing_count || chain->crossings[k].level != label->boundary)
		return;
	struct window_bound window = {view, space, k, &no_loops, left};
	bool apart = view->frame->spaces[space].simple && !label->linked;
	weigh_crossing(&window, &label->slides[space], k, apart, &label->counted[space]);
}

/* A child's tile and the places of its neighbours, by rank; the moves so far. */
struct link_moves {
	const struct dataspace *space;
	int64_t extent[SHAPE_RANKS_MOST], reach[SHAPE_RANKS_MOST];
	int64_t inside[SHAPE_RANKS_MOST]; /* steps of the loops inside, added up */
	int64_t first[SHAPE_RANKS_MOST];  /* the first move */
	bool moved;
	double whole, fresh; /* words of the tile; of the first move */
	int count;
	double innermost; /* words of the innermost loop's move */
	bool innermost_near, met;
};

/* Words that the next loop outwards brings; whether it leads from place to place. */
static double move_on(struct link_moves *moves, int d, int64_t stride, bool *near)
{
	const struct dataspace *space = moves->space;
	bool stays = true, on = true;
	double shared = 1;
	*near = true;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t step = space->ranks[r].coefficient[d] * stride;
		int64_t away = llabs(step - moves->inside[r]);
		stays &= away == 0;
		on &= step - moves->inside[r] == moves->first[r];
		*near &= away <= moves->reach[r];
		shared *= away < moves->extent[r] ? (double)(moves->extent[r] - away) : 0;
		moves->inside[r] += step;
	}
	*near &= !stays;
	if (stays)
		return 0;
	if (!moves->moved) {
		moves->moved = true;
		moves->fresh = moves->whole - shared;
		for (int r = 0; r < space->rank_count; r++)
			moves->first[r] = moves->inside[r];
		return moves->fresh;
	}
	return on ? moves->fresh : moves->whole;
}

/* One more loop; true if its moves may be handed on. */
static bool hands_on(struct link_moves *moves, int d, int64_t stride)
{
	bool near;
	double words = move_on(moves, d, stride, &near);
	if (moves->count++ == 0) {
		moves->innermost = words;
		moves->innermost_near = near;
		moves->met = words == moves->whole;
		return moves->met && near;
	}
	if (words == 0 || words != moves->innermost)
		return false;
	return near || moves->innermost_near;
}

static bool follow_moves(const struct nest_view *view, const struct mapping *mapping, int child,
	const int64_t *left, struct link_moves *moves)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_search *search = frame->search;
	int64_t temporal[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < search->shape->dimension_count; d++)
		temporal[d] = left[d];
	for (int j = child + 1; j < frame->count; j++) {
		const struct mapping_row *row =
			&mapping->rows[search->space->levels[frame->tiling[j]].row];
		for (int n = 0; n < search->shape->dimension_count; n++) {
			int d = row->temporal_order[n];
			if (row->temporal[d] == 1)
				continue;
			if (hands_on(moves, d, temporal[d] * (int64_t)view->inside[j][d]))
				return true;
			if (moves->count == 1 && moves->innermost == 0)
				return false;
			temporal[d] *= row->temporal[d];
		}
	}
	return false;
}

static struct link_moves open_moves(
	const struct nest_view *view, int space, int child, const int64_t *left)
{
	const struct nest_search *search = view->frame->search;
	const struct nest_level *block = &search->hierarchy->levels[view->frame->level[child] + 1];
	struct link_moves moves = {.space = &search->shape->spaces[space], .whole = 1};
	for (int r = 0; r < moves.space->rank_count; r++) {
		moves.extent[r] = 1;
		for (int d = 0; d < search->shape->dimension_count; d++) {
			int64_t coefficient = moves.space->ranks[r].coefficient[d];
			int64_t tile = left[d] * (int64_t)view->inside[child][d];
			uint32_t bound = view->mapping.rows[block->block_row].spatial[d];
			moves.extent[r] += coefficient * (tile - 1);
			moves.reach[r] += coefficient * tile * (int64_t)(bound - 1);
		}
		moves.whole *= (double)moves.extent[r];
	}
	return moves;
}

/* child -1: the multipliers.  Whether two dimensions of one rank are in a block further outwards, whose groups then
 * differ in size, so that links there change how many words a child has to share. */
static bool has_diagonals(const struct nest_view *view, int space, int child, int parent)
{
	const struct nest_frame *frame = view->frame;
	int next = child < 0 ? 0 : frame->level[child] + 1;
	for (int i = next + 1; i <= frame->level[parent]; i++) {
		int row = frame->search->hierarchy->levels[i].block_row;
		for (int r = 0; r < frame->search->shape->spaces[space].rank_count; r++) {
			int busy = 0;
			for (uint32_t own = frame->spaces[space].own[r]; own; own &= own - 1)
				busy += view->mapping.rows[row].spatial[__builtin_ctz(own)] > 1;
			if (busy > 1)
				return true;
		}
	}
	return false;
}

bool nest_links_around_multipliers(const struct nest_view *view, int space)
{
	const struct nest_space *known = &view->frame->spaces[space];
	const struct nest_chain *chain = &view->chains[space];
	if (view->direct || known->plain || !chain->count)
		return false;
	return !known->simple || has_diagonals(view, space, -1, chain->kept[chain->count - 1]);
}

bool nest_links_possible(const struct nest_view *view, const struct mapping *mapping,
	const struct nest_label *label, const int64_t *left, int space)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_space *known = &frame->spaces[space];
	const struct nest_chain *chain = &view->chains[space];
	if (known->plain || !chain->count || chain->kept[0] <= label->boundary ||
		(chain->kept[chain->count - 1] > label->boundary && view->direct))
		return false;
	bool slides = label->innermost >= 0 && known->paired >> label->innermost & 1;
	if (!known->simple)
		return true;
	int k = 0;
	while (k + 1 < chain->count && chain->kept[k + 1] > label->boundary)
		k++;
	if (!frame->timeloop)
		return slides && k < chain->crossing_count &&
		       chain->crossings[k].level == label->boundary && chain->crossings[k].united;
	int parent = chain->kept[k], child = k + 1 < chain->count ? chain->kept[k + 1] : -1;
	if (child != label->boundary)
		return slides && child >= 0 && has_diagonals(view, space, child, parent);
	struct link_moves moves = open_moves(view, space, child, left);
	return follow_moves(view, mapping, child, left, &moves);
}

/* A spatial loop of the array. */
struct turning {
	int level, dimension;
	double bound;
};

/* Loops along X and Y, under one arrangement. */
struct axes {
	double extent[2];
	uint32_t busy[2]; /* dimensions */
};

static const struct hierarchy *hierarchy_of(const struct nest_view *view)
{
	return view->frame->search->hierarchy;
}

/* The loop is that of a dimension in the block below a level of the hierarchy. */
static double nest_frame_bound(
	const struct nest_frame *frame, const struct mapping *mapping, int level, int d)
{
	return mapping->rows[frame->search->hierarchy->levels[level].block_row].spatial[d];
}

static void axes_put(struct axes *axes, const struct turning *loop, int axis)
{
	axes->extent[axis] *= loop->bound;
	axes->busy[axis] |= 1u << loop->dimension;
}

/* A loop that does not move some dataspace has PEs hand on its words. */
static double skew_of(const struct nest_frame *frame, const struct axes *axes)
{
	double skew = 0;
	for (int axis = 0; axis < 2; axis++) {
		bool hands_on = false;
		for (int t = 0; t < frame->search->shape->space_count; t++)
			hands_on |= (axes->busy[axis] & ~frame->spaces[t].relevant) != 0;
		skew += hands_on ? axes->extent[axis] - 1 : 0;
	}
	return skew;
}

/* True if the loops that lie along Y, and the others, have room in their blocks. */
static bool have_room(
	const struct nest_frame *frame, const struct turning *loops, int count, uint32_t along_y)
{
	for (int n = 0; n < count; n++) {
		const struct nest_level *block = &frame->search->hierarchy->levels[loops[n].level];
		double fan[2] = {1, 1};
		for (int k = 0; k < count; k++)
			if (loops[k].level == loops[n].level)
				fan[along_y >> k & 1] *= loops[k].bound;
		if (fan[0] > (double)block->fanout.x || fan[1] > (double)block->fanout.y)
			return false;
	}
	return true;
}

double nest_skew_least(const struct nest_frame *frame, const struct mapping *mapping)
{
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	struct turning loops[TURNING_MOST];
	struct axes fixed = {.extent = {1, 1}};
	int count = 0;
	if (!hierarchy->array_end)
		return 0;
	for (int i = hierarchy->array_inner; i < hierarchy->array_end; i++)
		for (int d = 0; d < frame->search->shape->dimension_count; d++) {
			struct turning loop = {i, d, nest_frame_bound(frame, mapping, i, d)};
			bool turns = hierarchy->levels[i].fanout.x > 1 &&
				     hierarchy->levels[i].fanout.y > 1;
			if (loop.bound == 1)
				continue;
			if (!turns)
				axes_put(&fixed, &loop, hierarchy->levels[i].fanout.y > 1);
			else if (count == TURNING_MOST)
				return 0;
			else
				loops[count++] = loop;
		}
	double least = INFINITY;
	for (uint32_t along_y = 0; along_y < 1u << count; along_y++) {
		struct axes axes = fixed;
		if (!have_room(frame, loops, count, along_y))
			continue;
		for (int n = 0; n < count; n++)
			axes_put(&axes, &loops[n], along_y >> n & 1);
		least = fmin(least, skew_of(frame, &axes));
	}
	return least < INFINITY ? least : 0;
}

double nest_skew_tiles(
	const struct nest_frame *frame, const struct mapping *mapping, int space, bool y)
{
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	double tiles = 1;
	for (int r = 0; r < frame->search->shape->spaces[space].rank_count; r++) {
		double sums = 1;
		for (uint32_t own = frame->spaces[space].own[r]; own; own &= own - 1) {
			double bound = 1;
			for (int i = hierarchy->array_inner; i < hierarchy->array_end; i++)
				if ((y ? hierarchy->levels[i].fanout.x
				       : hierarchy->levels[i].fanout.y) == 1)
					bound *= nest_frame_bound(
						frame, mapping, i, __builtin_ctz(own));
			sums += bound - 1;
		}
		tiles *= sums;
	}
	return tiles;
}

void nest_skew_keep(struct nest_view *view, int space)
{
	const struct nest_frame *frame = view->frame;
	struct nest_chain *chain = &view->chains[space];
	int inner = hierarchy_of(view)->array_inner;
	chain->held_at = -1;
	chain->load_cycles = 0;
	chain->rate = 1;
	if (!hierarchy_of(view)->array_end || frame->blind)
		return;
	for (int k = 1; k < chain->count && chain->held_at < 0; k++)
		if (frame->level[chain->kept[k]] < inner)
			chain->held_at = chain->kept[k];
	if (chain->count && chain->held_at < 0 && frame->level[chain->kept[0]] >= inner)
		chain->rate = fmin(nest_skew_tiles(frame, &view->mapping, space, false),
			nest_skew_tiles(frame, &view->mapping, space, true));
	if (chain->count && frame->level[chain->kept[0]] < inner)
		chain->held_at = -1; /* it never comes from outside */
	if (chain->held_at >= 0 && !frame->search->shape->spaces[space].written)
		chain->load_cycles = view->spread[chain->held_at][space] *
				     nest_skew_tiles(frame, &view->mapping, space, true);
}

bool nest_skew_minds(const struct nest_frame *frame, int j)
{
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	return hierarchy->array_overlaps && frame->level[j] < hierarchy->array_inner;
}

bool nest_skew_turns(const struct nest_frame *frame, const struct tiling_level *level)
{
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	const struct nest_level *block = &hierarchy->levels[level->level];
	return level->spatial && block->fanout.systolic && block->fanout.x > 1 &&
	       block->fanout.y > 1;
}

/* Every word of a plain dataspace is loaded as often as loops outside reload it, and of a window no
 * tile is smaller than what spatial loops span. */
static double load_of(const struct nest_view *view, int t, double relevant, double reload)
{
	const struct nest_chain *chain = &view->chains[t];
	double tiles = view->frame->spaces[t].plain ? chain->words : relevant;
	return chain->load_cycles * tiles * reload;
}

/*
 * Moves of a tile are those of its innermost relevant loop: the relevant ones outside, as often
 * as they are done again.  If passes overlap, each lasts as long as its steps, and as the loads of the next
 * one: together they take at least as long as all steps, and as all loads.
 */
double nest_skew_bound(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds)
{
	if (!hierarchy_of(view)->array_end)
		return 0;
	double passes = from->passes, load = from->load_cycles, rate = 1;
	for (int t = 0; t < view->frame->search->shape->space_count; t++) {
		const struct nest_chain *chain = &view->chains[t];
		rate = fmax(rate, chain->rate);
		if (chain->held_at < 0 || chain->held_at >= from->boundary)
			continue;
		double relevant = from->outside / from->irrelevant[t], reload = from->reload[t];
		double here = 1;
		bool closes = false;
		for (int n = 0; order && n < order->count; n++) {
			int d = order->at[n];
			if (view->frame->spaces[t].relevant >> d & 1) {
				closes = true;
				relevant *= (double)bounds[d];
			} else if (closes && !order->loose) {
				here *= (double)bounds[d];
			}
		}
		reload = closes ? from->irrelevant[t] * here : reload;
		passes = fmax(passes, relevant * reload);
		load += load_of(view, t, relevant, reload);
	}
	if (hierarchy_of(view)->array_overlaps)
		return view->skew_cycles + fmax(view->cycles * rate, load) - view->cycles;
	return passes * view->skew_cycles + load + view->cycles * (rate - 1);
}
