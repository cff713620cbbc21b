#include "solvers/map/exact/skew.h"
#include "solvers/map/exact/options.h"

#include <math.h>

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
static double bound_of(
	const struct nest_frame *frame, const struct mapping *mapping, int level, int d)
{
	return mapping->rows[frame->search->hierarchy->levels[level].block_row].spatial[d];
}

static void put(struct axes *axes, const struct turning *loop, int axis)
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
		if (fan[0] > (double)block->fanout_x || fan[1] > (double)block->fanout_y)
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
			struct turning loop = {i, d, bound_of(frame, mapping, i, d)};
			bool turns = hierarchy->levels[i].fanout_x > 1 &&
				     hierarchy->levels[i].fanout_y > 1;
			if (loop.bound == 1)
				continue;
			if (!turns)
				put(&fixed, &loop, hierarchy->levels[i].fanout_y > 1);
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
			put(&axes, &loops[n], along_y >> n & 1);
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
				if ((y ? hierarchy->levels[i].fanout_x
				       : hierarchy->levels[i].fanout_y) == 1)
					bound *= bound_of(frame, mapping, i, __builtin_ctz(own));
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
	return level->spatial && block->systolic && block->fanout_x > 1 && block->fanout_y > 1;
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
 * as they are done again.  Where passes overlap each lasts as long as its steps, and as the loads
 * of the next one: together they are no shorter than all steps, nor than all loads.
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

void nest_skew_enter(const struct nest_view *view, struct nest_label *label)
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
