#include "solvers/map/exact/view.h"

#include "base/number.h"
#include "cost/nest/nest_home.h"
#include "solvers/map/exact/prices.h"
#include "solvers/map/exact/skew.h"

#include <string.h>

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static const struct nest_level *level_of(const struct nest_view *view, int i)
{
	return &view->frame->search->hierarchy->levels[i];
}

static void hold_inside(struct nest_view *view, int j, const double *inside)
{
	memcpy(view->inside[j], inside, sizeof view->inside[j]);
	for (int t = 0; t < view->frame->search->shape->space_count; t++)
		view->spread[j][t] = nest_frame_words(view->frame, t, inside);
}

/* Walks the blocks from the multipliers outwards. */
static void find_inside(struct nest_view *view)
{
	const struct nest_search *search = view->frame->search;
	int dimension_count = search->shape->dimension_count, j = 0;
	double inside[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < dimension_count; d++)
		inside[d] = 1;
	for (int i = 0; i < search->hierarchy->level_count; i++) {
		for (int d = 0; d < dimension_count; d++)
			inside[d] *= nest_spatial_bound(view, i, d);
		if (j < view->frame->count && view->frame->level[j] == i)
			hold_inside(view, j++, inside);
	}
	memcpy(view->inside[view->frame->count], inside, sizeof inside);
	view->cycles = 1;
	for (int d = 0; d < dimension_count; d++) {
		view->temporal[d] =
			number_ceil_div(search->shape->dimensions[d].extent, (int64_t)inside[d]);
		view->cycles *= (double)view->temporal[d];
	}
}

/* Uneven factors: of one dimension. */
static void find_edges(struct nest_view *view, int d)
{
	const struct nest_frame *frame = view->frame;
	int level_count = frame->search->hierarchy->level_count, i = 0;
	int64_t inside = 1;
	for (int j = 0; j <= frame->count; j++) {
		view->edge[j][d] = view->within_edge[j][d] = 1;
		for (; i < level_count && (j == frame->count || i <= frame->level[j]); i++) {
			uint32_t bound = nest_spatial_bound(view, i, d);
			if (bound > 1) {
				view->edge[j][d] = bound;
				view->within_edge[j][d] = inside;
			}
			inside *= bound;
		}
	}
	double most = 1;
	for (int j = frame->count; j >= 0; j--) {
		view->apart[j][d] = most;
		for (i = j < frame->count ? frame->level[j] : level_count - 1;
			j > 0 && i > frame->level[j - 1]; i--)
			most = larger(most, nest_spatial_bound(view, i, d));
	}
}

/* Walks the blocks inwards.  Of loops whose factors need not divide only the largest of each
 * dimension is sure to have all its instances at work. */
static void find_instances(struct nest_view *view, double *instances)
{
	const struct nest_search *search = view->frame->search;
	double most[SHAPE_DIMENSIONS_MOST], all = 1;
	for (int d = 0; d < search->shape->dimension_count; d++)
		most[d] = 1;
	for (int i = search->hierarchy->level_count - 1; i >= 0; i--) {
		double sure = 1;
		instances[i] = all;
		for (int d = 0; d < search->shape->dimension_count; d++) {
			double bound = nest_spatial_bound(view, i, d);
			sure *= most[d];
			most[d] = larger(most[d], bound);
			all *= bound;
		}
		view->utilized[i] = view->frame->uneven ? sure : instances[i];
	}
	view->multipliers = all;
	view->direct = !view->frame->timeloop || all == instances[0];
}

static void find_prices(struct nest_view *view, const double *instances)
{
	const struct hierarchy *hierarchy = view->frame->search->hierarchy;
	view->leak_pj = 0;
	view->network_cycles = 0;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct nest_level *gate = &hierarchy->levels[level->gated_at];
		double all = (double)(level->mesh_x * level->mesh_y);
		double gates = (double)(gate->mesh_x * gate->mesh_y);
		view->network_cycles += (double)(level->fill_cycles + level->drain_cycles);
		view->leak_pj +=
			gates < all ? level->leak_pj * all / gates * view->utilized[level->gated_at]
				    : level->leak_pj * view->utilized[i];
	}
	for (int j = 0; j < view->frame->count; j++) {
		const struct nest_level *level = &hierarchy->levels[view->frame->level[j]];
		double groups = (double)(level->mesh_x * level->mesh_y / level->cluster_size);
		double clusters = larger(groups, 1);
		view->instances[j] = instances[view->frame->level[j]];
		double share = view->instances[j] < clusters ? 1 : clusters / view->instances[j];
		for (int a = 0; a < NEST_ACTIONS; a++)
			view->pj[j][a] = level->pj[a] * share / (double)level->block_size;
	}
}

void nest_view_add(const struct nest_view *view, int space, int j, enum nest_action action,
	double words, struct nest_sums *sums)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->level[j]];
	/* At a home Timeloop counts nothing then; this bound leaves it out at any level. */
	if (frame->timeloop && level->no_coalesce >> space & 1)
		return;
	sums->at[0][0] += words * view->pj[j][action];
	for (int m = 1; m < frame->port_first; m++)
		if (frame->meters[m].j == j)
			sums->at[m / METER_LANES][m % METER_LANES] +=
				words * frame->meters[m].weight;
	for (int m = frame->port_of[j]; m < frame->port_of[j + 1]; m++) {
		const struct nest_meter *port = &frame->meters[m];
		if (port->actions >> action & 1)
			sums->at[m / METER_LANES][m % METER_LANES] +=
				words * (level->rate_scale[space] * (double)port->rate.den /
						((double)port->rate.num * view->instances[j]));
	}
}

static void clear(const struct nest_view *view, struct nest_sums *sums)
{
	memset(sums, 0, (size_t)view->frame->group_count * sizeof sums->at[0]);
}

static void open_chain(struct nest_view *view, int t, uint32_t residency)
{
	const struct nest_frame *frame = view->frame;
	struct nest_chain *chain = &view->chains[t];
	bool knows = !frame->blind && !frame->timeloop;
	chain->count = 0;
	chain->crossing_count = 0;
	chain->sags = chain->resets = false;
	chain->passing = 0;
	chain->words = 1;
	clear(view, &chain->base);
	for (int d = 0; d < frame->search->shape->dimension_count; d++)
		if (frame->spaces[t].relevant >> d & 1)
			chain->words *= (double)view->temporal[d];
	for (int j = frame->count - 1; j >= 0; j--)
		if (residency >> level_of(view, frame->level[j])->row & 1) {
			if (chain->count && knows &&
				level_of(view, frame->level[j])->no_coalesce >> t & 1)
				chain->passing |= 1u << j;
			else
				chain->kept[chain->count++] = j;
		}
	bool counts = chain->count > 0 && !frame->spaces[t].silent && !frame->uneven;
	if (counts)
		chain->crossing_count = chain->count - view->direct;
	for (int k = 0; k < chain->crossing_count; k++) {
		struct nest_crossing *crossing = &chain->crossings[k];
		crossing->level = k + 1 < chain->count ? chain->kept[k + 1] : -1;
		crossing->resets =
			knows && crossing->level >= 0 &&
			level_of(view, frame->level[crossing->level])->no_temporal_reuse >> t & 1;
		chain->resets |= crossing->resets;
		clear(view, &crossing->price);
		clear(view, &crossing->apart);
		clear(view, &crossing->rounding);
		clear(view, &crossing->parent_price);
		crossing->united = crossing->uneven = false;
	}
	for (int j = -1; j < frame->count; j++) {
		int k = 0;
		while (k < chain->crossing_count && chain->crossings[k].level > j)
			k++;
		chain->next[j + 1] = k;
	}
}

/* Loops outside the home: a plain dataspace's tiles are apart, so the spatial ones alone say how
 * many of them an instance has. */
static void find_home(struct nest_view *view, int space)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_search *search = frame->search;
	struct nest_chain *chain = &view->chains[space];
	chain->home_words = 0;
	chain->apart = false;
	if (frame->timeloop || !chain->count)
		return;
	int home = frame->level[chain->kept[0]];
	chain->apart =
		nest_home_parts(search->hierarchy, search->shape, &view->mapping, space, home) > 1;
	if (!frame->spaces[space].plain || frame->uneven)
		return;
	chain->home_words = view->spread[chain->kept[0]][space];
	for (uint32_t left = frame->spaces[space].relevant; left; left &= left - 1)
		chain->home_words *= (double)view->temporal[__builtin_ctz(left)];
}

void nest_view_keep(struct nest_view *view, int space, uint32_t residency)
{
	const struct nest_frame *frame = view->frame;
	struct nest_chain *chain = &view->chains[space];
	view->mapping.residency[space] = residency;
	open_chain(view, space, residency);
	find_home(view, space);
	nest_skew_keep(view, space);
	if (!chain->count || frame->spaces[space].silent || frame->uneven)
		return;
	if (frame->spaces[space].plain)
		nest_view_price_plain(view, space);
	else
		nest_view_price_window(view, space);
}

void nest_view_spread(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out)
{
	out->frame = frame;
	out->mapping = *mapping;
	double instances[ARCH_LEVELS_MOST];
	find_inside(out);
	for (int d = 0; frame->uneven && d < frame->search->shape->dimension_count; d++)
		find_edges(out, d);
	find_instances(out, instances);
	find_prices(out, instances);
	out->skew_cycles = nest_skew_least(frame, &out->mapping);
}

void nest_view_make(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out)
{
	nest_view_spread(frame, mapping, out);
	clear(out, &out->base);
	out->base.at[0][0] = frame->macs * frame->search->hierarchy->compute_pj;
	for (int t = 0; t < frame->search->shape->space_count; t++) {
		nest_view_keep(out, t, mapping->residency[t]);
		for (int g = 0; g < frame->group_count; g++)
			out->base.at[g] += out->chains[t].base.at[g];
	}
}

bool nest_view_fits(const struct nest_view *view, int j, const int64_t *left)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_search *search = frame->search;
	const struct nest_level *level = &search->hierarchy->levels[frame->level[j]];
	if (!level->size)
		return true;
	double sum = 0;
	for (int t = 0; t < search->shape->space_count; t++) {
		if (!(view->mapping.residency[t] >> level->row & 1))
			continue;
		const struct nest_chain *chain = &view->chains[t];
		bool home = chain->count && chain->kept[0] == j;
		if (home && chain->home_words > 0) {
			sum += chain->home_words;
			continue;
		}
		if (frame->spaces[t].plain && !frame->uneven) {
			double words = view->spread[j][t];
			for (uint32_t own = frame->spaces[t].relevant; own; own &= own - 1)
				words *= (double)left[__builtin_ctz(own)];
			sum += words;
			continue;
		}
		double extents[SHAPE_DIMENSIONS_MOST];
		for (int d = 0; d < search->shape->dimension_count; d++) {
			double extent = (double)search->shape->dimensions[d].extent;
			extents[d] = (double)left[d] * view->inside[j][d];
			extents[d] = extents[d] < extent ? extents[d] : extent;
		}
		sum += nest_frame_words(frame, t, extents);
	}
	return sum <= (double)level->size;
}

bool nest_view_least_fits(const struct nest_view *view)
{
	const struct nest_frame *frame = view->frame;
	int64_t one[SHAPE_DIMENSIONS_MOST];
	for (int t = 0; t < frame->search->shape->space_count; t++)
		if (!view->chains[t].count || view->chains[t].apart)
			return false;
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		one[d] = 1;
	for (int j = 0; j < frame->count; j++) {
		bool outermost = j + 1 == frame->count && !frame->uneven;
		if (!nest_view_fits(view, j, outermost ? view->temporal : one))
			return false;
	}
	return true;
}

bool nest_view_may_hand_on(const struct nest_view *view, int space)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_chain *chain = &view->chains[space];
	if (frame->spaces[space].plain || !chain->count)
		return false;
	int home = frame->level[chain->kept[0]];
	for (int i = 0; i <= home; i++)
		for (uint32_t left = frame->spaces[space].paired; left; left &= left - 1)
			if (nest_spatial_bound(view, i, __builtin_ctz(left)) > 1)
				return true;
	return false;
}
