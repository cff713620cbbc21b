#include "solvers/map/exact/exact.h"

#include "base/number.h"
#include "cost/nest/nest_home.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/*
 * Prices of plain dataspaces (view.h), of operands and of sums.
 *
 * Flags (specs/counting.md), in exact counting: where children of a block share nothing (spatial
 * no_reuse) each of them takes its words and sends its sums; levels that words only pass (no_coalesce)
 * count them; a level that keeps nothing from one iteration to the next (temporal no_reuse) is entered
 * at every iteration of all loops outside, so that its X is their product, W x all irrelevant ones.
 */
static void nest_view_price_plain(struct nest_view *view, int space);

/*
 * Prices of windows: of a word that enters one instance of a level, with and without links to
 * neighbours.  What children share is at least what distinct places they take their words from:
 * in Timeloop's counting, block by block, no fewer than along one dimension of a rank; exactly, as many
 * as a sum of sets has at least, |A + B| >= |A| + |B| - 1.
 */
static void nest_view_price_window(struct nest_view *view, int space);

static double view_larger(double a, double b)
{
	return a > b ? a : b;
}

static const struct nest_level *nest_view_level(const struct nest_view *view, int i)
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
			most = view_larger(most, nest_spatial_bound(view, i, d));
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
			most[d] = view_larger(most[d], bound);
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
		view->network_cycles +=
			(double)(level->store.fill_cycles + level->store.drain_cycles);
		view->leak_pj += gates < all ? level->energies.leak_pj * all / gates *
						       view->utilized[level->gated_at]
					     : level->energies.leak_pj * view->utilized[i];
	}
	for (int j = 0; j < view->frame->count; j++) {
		const struct nest_level *level = &hierarchy->levels[view->frame->level[j]];
		double groups = (double)(level->mesh_x * level->mesh_y / level->store.cluster_size);
		double clusters = view_larger(groups, 1);
		view->instances[j] = instances[view->frame->level[j]];
		double share = view->instances[j] < clusters ? 1 : clusters / view->instances[j];
		for (int a = 0; a < NEST_ACTIONS; a++)
			view->pj[j][a] =
				level->energies.pj[a] * share / (double)level->store.block_words;
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

void nest_view_add_rows(const struct nest_view *view, int space, int j, int child, double words,
	struct nest_sums *sums)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->level[j]];
	int64_t most = hierarchy_row_most(level, frame->search->shape, space);
	if (child < 0 || !most || frame->timeloop || frame->uneven)
		return;
	unsigned both = 1u << NEST_READ | 1u << NEST_FILL | 1u << NEST_UPDATE;
	unsigned actions = level->store.shared_rate.num ? both : 1u << NEST_READ;
	double cycles = ratio_double(level->store.row_cycles) / ((double)most * view->instances[j]);
	for (int m = frame->port_of[j]; m < frame->port_of[j + 1]; m++)
		if (frame->meters[m].actions == actions)
			sums->at[m / METER_LANES][m % METER_LANES] += words * cycles;
}

static void nest_view_clear(const struct nest_view *view, struct nest_sums *sums)
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
	nest_view_clear(view, &chain->base);
	for (int d = 0; d < frame->search->shape->dimension_count; d++)
		if (frame->spaces[t].relevant >> d & 1)
			chain->words *= (double)view->temporal[d];
	for (int j = frame->count - 1; j >= 0; j--)
		if (residency >> nest_view_level(view, frame->level[j])->row & 1) {
			if (chain->count && knows &&
				nest_view_level(view, frame->level[j])->no_coalesce >> t & 1)
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
			nest_view_level(view, frame->level[crossing->level])->no_temporal_reuse >>
					t &
				1;
		chain->resets |= crossing->resets;
		nest_view_clear(view, &crossing->price);
		nest_view_clear(view, &crossing->apart);
		nest_view_clear(view, &crossing->rounding);
		nest_view_clear(view, &crossing->parent_price);
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

#ifndef NDEBUG
/* Asserts that levels and crossings of a chain lead inwards, and that each boundary knows its next crossing. */
static bool check_chain(const struct nest_view *view, int space)
{
	const struct nest_chain *chain = &view->chains[space];
	assert(chain->crossing_count <= chain->count);
	for (int k = 1; k < chain->count; k++)
		assert(chain->kept[k] < chain->kept[k - 1]);
	for (int k = 1; k < chain->crossing_count; k++)
		assert(chain->crossings[k].level < chain->crossings[k - 1].level);
	for (int j = -1; j < view->frame->count; j++) {
		int next = chain->next[j + 1];
		assert(next == chain->crossing_count || chain->crossings[next].level <= j);
		assert(!next || chain->crossings[next - 1].level > j);
	}
	return true;
}
#endif

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
	assert(check_chain(view, space));
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
	nest_view_clear(out, &out->base);
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

/* The words of one temporal tile that all instances of storage level j want of it, each of them
 * what its children (-1: the multipliers) want together; `split`: as far as these may share. */
static double served(const struct nest_view *view, int t, int child, int j, bool split)
{
	const struct nest_frame *frame = view->frame;
	uint32_t relevant = frame->spaces[t].relevant;
	if (j < 0)
		return view->multipliers;
	double words = view->instances[j];
	bool all = !split || !frame->spaces[t].splits;
	for (uint32_t left = relevant; left; left &= left - 1)
		if (all || child >= 0)
			words *= view->inside[all ? j : child][__builtin_ctz(left)];
	for (int i = child < 0 ? 0 : frame->level[child] + 1; !all && i <= frame->level[j]; i++)
		for (int d = 0; d < frame->search->shape->dimension_count; d++)
			if ((relevant >> d | nest_view_level(view, i)->no_spatial_reuse >> t) & 1)
				words *= nest_spatial_bound(view, i, d);
	return words;
}

/* First visits of a written dataspace at a level, where the sums come from nowhere. */
static double first_visits(const struct nest_view *view, int t, int j)
{
	double words = view->instances[j];
	for (uint32_t left = view->frame->spaces[t].relevant; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		words *= (double)view->temporal[d] * view->inside[j][d];
	}
	return words;
}

/* A dataspace's route from the k-th level that holds it to the next, or to the multipliers. */
struct word_route {
	int parent, child; /* child -1: the multipliers */
	double times;      /* of its words: 1 for X = 1, or all that there are */
	uint32_t passed;   /* levels that count what passes */
	struct nest_sums *price;
};

static struct word_route way_at(struct nest_view *view, int t, int k)
{
	struct nest_chain *chain = &view->chains[t];
	bool last = k + 1 == chain->count;
	struct word_route route = {.parent = chain->kept[k],
		.child = last ? -1 : chain->kept[k + 1],
		.times = last && view->direct ? view->cycles : 1,
		.price = last && view->direct ? &chain->base : &chain->crossings[k].price};
	route.passed = nest_view_passed(chain, route.parent, route.child);
	return route;
}

static void price_read(struct nest_view *view, int t)
{
	for (int k = 0; k < view->chains[t].count; k++) {
		struct word_route route = way_at(view, t, k);
		double words = route.times * served(view, t, route.child, route.parent, true);
		nest_view_add(view, t, route.parent, NEST_READ, words, route.price);
		nest_view_add_rows(view, t, route.parent, route.child, words, route.price);
		if (route.child >= 0)
			nest_view_add(view, t, route.child, NEST_FILL,
				served(view, t, route.child, route.child, true), route.price);
		for (uint32_t rest = route.passed; rest; rest &= rest - 1) {
			int j = __builtin_ctz(rest);
			words = route.times * served(view, t, route.child, j, true);
			nest_view_add(view, t, j, NEST_READ, words, route.price);
			nest_view_add(view, t, j, NEST_FILL, words, route.price);
		}
	}
}

/*
 * Timeloop's partial sums.  A level's updates are what its children drain; but for first visits, a
 * share of the dataspace, it reads as many, and they are filled.
 */
static void price_sums_timeloop(struct nest_view *view, int t)
{
	struct nest_chain *chain = &view->chains[t];
	for (int k = 0; k < chain->count; k++) {
		struct word_route route = way_at(view, t, k);
		double words = route.times * served(view, t, route.child, route.parent, false);
		double first = first_visits(view, t, route.parent);
		nest_view_add(view, t, route.parent, NEST_UPDATE, words, route.price);
		nest_view_add(view, t, route.parent, NEST_READ, words, route.price);
		nest_view_add(view, t, route.parent, NEST_READ, -first, &chain->base);
		if (k > 0)
			nest_view_add(view, t, route.parent, NEST_FILL, -first, &chain->base);
		if (route.child >= 0)
			nest_view_add(view, t, route.child, NEST_FILL,
				served(view, t, route.child, route.child, false), route.price);
	}
}

/* Sums that return on a route, which are read there again when they drain. */
static void add_returns(const struct nest_view *view, int t, const struct word_route *route,
	double words, struct nest_sums *sums)
{
	uint32_t levels = route->passed | (route->child < 0 ? 0 : 1u << route->child);
	for (; levels; levels &= levels - 1) {
		nest_view_add(view, t, __builtin_ctz(levels), NEST_FILL, words, sums);
		nest_view_add(view, t, __builtin_ctz(levels), NEST_READ, words, sums);
	}
}

static void add_updates(const struct nest_view *view, int t, const struct word_route *route)
{
	for (uint32_t levels = route->passed | 1u << route->parent; levels; levels &= levels - 1) {
		int j = __builtin_ctz(levels);
		double words = route->times * served(view, t, route->child, j, true);
		nest_view_add(view, t, j, NEST_UPDATE, words, route->price);
		nest_view_add(view, t, j, NEST_READ, words, route->price);
	}
}

/*
 * Partial sums, exactly (cost/nest/nest_exact.c).  Every sum that comes to a level, in an update or
 * a fill, is read there once, but for those that stay at home.  A visit is the first wherever the sum
 * did not come from the parent: E - (U - N) of them at a level that is entered by E words for U words
 * of its parent, of which N were first visits there.  With E and U linear in X, so is everything: what
 * returns on a route is U less the first visits at the parent.  After these an update there reads once more if
 * the level says so (rmw_first_update).
 *
 * If a level keeps nothing, N counts only the visits at which the child moves, and a child that
 * outlasts its parent finds fewer: there what returns is at least what this says, and such updates
 * are not counted beyond what is sure.
 */
static void price_sums(struct nest_view *view, int t)
{
	struct nest_chain *chain = &view->chains[t];
	const struct nest_frame *frame = view->frame;
	double home = first_visits(view, t, chain->kept[0]);
	nest_view_add(view, t, chain->kept[0], NEST_READ, -home, &chain->base);
	for (int k = 0; k < chain->count; k++) {
		struct word_route route = way_at(view, t, k);
		const struct nest_level *parent = nest_view_level(view, frame->level[route.parent]);
		bool again = parent->rmw_first_update >> t & 1;
		bool sure = again && !(k > 0 && chain->crossings[k - 1].resets);
		chain->sags |= again && !sure;
		add_updates(view, t, &route);
		add_returns(view, t, &route,
			route.times * served(view, t, route.child, route.parent, route.child < 0),
			route.price);
		add_returns(view, t, &route, -home, &chain->base);
		if (sure)
			nest_view_add(view, t, route.parent, NEST_READ, home, &chain->base);
		for (int i = 0; i < k; i++) {
			struct nest_crossing *outer = &chain->crossings[i];
			double fresh = served(view, t, outer->level, outer->level, false) -
				       served(view, t, outer->level, chain->kept[i], false);
			if (fresh <= 0)
				continue;
			add_returns(view, t, &route, -fresh, &outer->price);
			chain->sags |= route.child >= 0 || route.passed;
			if (sure && !chain->resets)
				nest_view_add(
					view, t, route.parent, NEST_READ, fresh, &outer->price);
		}
	}
}

/* Adds up the rest from each crossing on. */
static void sum_up(const struct nest_view *view, struct nest_chain *chain)
{
	for (int resets = 0; resets <= chain->resets; resets++) {
		struct nest_rest rest;
		memset(&rest, 0, sizeof rest);
		for (int k = chain->crossing_count - 1; k >= 0; k--) {
			struct nest_crossing *crossing = &chain->crossings[k];
			if (crossing->resets == resets) {
				nest_sums_add(view->frame, &rest.all, &crossing->price, 1);
				nest_sums_lower(view->frame, &rest.sag, &rest.all);
			}
			crossing->rest[resets] = rest;
		}
	}
}

static void nest_view_price_plain(struct nest_view *view, int space)
{
	bool written = view->frame->search->shape->spaces[space].written;
	if (!written)
		price_read(view, space);
	else if (view->frame->timeloop)
		price_sums_timeloop(view, space);
	else
		price_sums(view, space);
	sum_up(view, &view->chains[space]);
}

/* --- windows */

/* Distinct places along the ranks, at least, of children that stand along spatial loops of these
 * bounds.  Exactly: any two sums of a rank that differ; Timeloop distinguishes children of one block, and fewer of them
 * if there are links: no fewer than along one dimension. */
static double nest_view_places(const struct nest_view *view, int t, const double *bounds)
{
	const struct nest_space *space = &view->frame->spaces[t];
	double all = 1;
	for (int r = 0; r < view->frame->search->shape->spaces[t].rank_count; r++) {
		double sum = 1, most = 1;
		for (uint32_t own = space->own[r]; own; own &= own - 1) {
			double bound = bounds[__builtin_ctz(own)];
			sum += bound - 1;
			most = view_larger(most, bound);
		}
		all *= view->frame->timeloop ? most : sum;
	}
	return all;
}

/* The blocks between two levels; of the one that is next to the child, what links may save:
 * all places along one two-term rank but one, and the fills of all children there but one. */
struct between {
	double places;
	double linked, linked_fills;
	bool uneven; /* groups of children differ in size: averages need not be whole numbers */
};

static struct between look_between(const struct nest_view *view, int t, int parent, int child)
{
	const struct nest_frame *frame = view->frame;
	const struct shape *shape = frame->search->shape;
	const struct nest_space *space = &frame->spaces[t];
	struct between between = {1, 1, 1, false};
	double bounds[SHAPE_DIMENSIONS_MOST];
	int from = child < 0 ? 0 : frame->level[child] + 1;
	for (int i = from; i <= frame->level[parent]; i++) {
		for (int d = 0; d < shape->dimension_count; d++)
			bounds[d] = nest_spatial_bound(view, i, d);
		between.places *= nest_view_places(view, t, bounds);
		for (int r = 0; r < shape->spaces[t].rank_count; r++) {
			uint32_t own = space->own[r] & space->paired;
			double most = 1, product = 1;
			for (; own; own &= own - 1) {
				double bound = bounds[__builtin_ctz(own)];
				most = view_larger(most, bound);
				product *= bound;
			}
			between.uneven |= most < product;
			if (i > from)
				continue;
			between.linked = view_larger(between.linked, most);
			between.linked_fills = view_larger(between.linked_fills, product);
		}
	}
	bool one = from < frame->search->hierarchy->level_count && view->utilized[from] == 1;
	between.linked_fills = one ? 1 : between.linked_fills;
	return between;
}

/* A window all of whose dimensions are in one rank each, in Timeloop's counting. */
static void price_timeloop(struct nest_view *view, int t, int k)
{
	struct nest_crossing *crossing = &view->chains[t].crossings[k];
	int parent = view->chains[t].kept[k], child = crossing->level;
	struct between between = look_between(view, t, parent, child);
	double served = view->instances[parent] * between.places;
	double entered = child < 0 ? 0 : view->instances[child];
	crossing->uneven = between.uneven;
	nest_view_add(view, t, parent, NEST_READ, served, &crossing->apart);
	nest_view_add(view, t, parent, NEST_READ, served / between.linked, &crossing->price);
	nest_view_add(view, t, parent, NEST_READ, -view->instances[parent], &crossing->rounding);
	if (child < 0)
		return;
	nest_view_add(view, t, child, NEST_FILL, entered, &crossing->apart);
	nest_view_add(view, t, child, NEST_FILL, entered / between.linked_fills, &crossing->price);
	nest_view_add(view, t, child, NEST_FILL, -entered, &crossing->rounding);
}

/* True if neighbours among the children of a level may hand on words to each other. */
static bool may_link(const struct nest_view *view, int t, const struct nest_crossing *crossing)
{
	const struct nest_level *level =
		&view->frame->search->hierarchy->levels[view->frame->level[crossing->level] + 1];
	return !crossing->resets && !((level->no_link_transfer | level->no_spatial_reuse) >> t & 1);
}

/* Groups of the multipliers or instances of a child that take the same words, at least, in one
 * instance of a level j: as many as the sum of sets has, and in blocks that share nothing all. */
static double nest_view_groups(const struct nest_view *view, int t, int child, int j)
{
	const struct nest_frame *frame = view->frame;
	double all[SHAPE_DIMENSIONS_MOST], apart = 1;
	for (int d = 0; d < frame->search->shape->dimension_count; d++)
		all[d] = 1;
	for (int i = child < 0 ? 0 : frame->level[child] + 1; i <= frame->level[j]; i++) {
		bool split = frame->search->hierarchy->levels[i].no_spatial_reuse >> t & 1;
		for (int d = 0; d < frame->search->shape->dimension_count; d++)
			*(split ? &apart : &all[d]) *= nest_spatial_bound(view, i, d);
	}
	return apart * nest_view_places(view, t, all);
}

/* Prices the reads of a parent and of the levels on the route that count them as well, if each of
 * their instances serves `groups` of its children once, and the fills of the children. */
static void price_groups(struct nest_view *view, int t, int k, double times, struct nest_sums *sums)
{
	const struct nest_chain *chain = &view->chains[t];
	int parent = chain->kept[k], child = k + 1 < chain->count ? chain->kept[k + 1] : -1;
	uint32_t passed = nest_view_passed(chain, parent, child);
	for (uint32_t levels = passed | 1u << parent; levels; levels &= levels - 1) {
		int j = __builtin_ctz(levels);
		double words = times * view->instances[j] * nest_view_groups(view, t, child, j);
		nest_view_add(view, t, j, NEST_READ, words, sums);
		if (j != parent)
			nest_view_add(view, t, j, NEST_FILL, words, sums);
		else
			nest_view_add_rows(view, t, j, child, words, sums);
	}
	if (child >= 0)
		nest_view_add(view, t, child, NEST_FILL, times * view->instances[child], sums);
}

/* The same exactly.  Where there are links the parent reads the union of what its children want, block
 * by block that shares nothing, and all of that passes. */
static void price_exact(struct nest_view *view, int t, int k)
{
	const struct nest_frame *frame = view->frame;
	struct nest_chain *chain = &view->chains[t];
	struct nest_crossing *crossing = &chain->crossings[k];
	int parent = chain->kept[k], child = crossing->level;
	price_groups(view, t, k, 1, &crossing->apart);
	crossing->united =
		look_between(view, t, parent, child).linked > 1 && may_link(view, t, crossing);
	if (!crossing->united) {
		crossing->price = crossing->apart;
		return;
	}
	double words = view->instances[parent];
	for (int i = frame->level[child] + 1; i <= frame->level[parent]; i++)
		for (int d = 0; d < frame->search->shape->dimension_count; d++) {
			double bound = nest_spatial_bound(view, i, d);
			if (!(frame->search->hierarchy->levels[i].no_spatial_reuse >> t & 1))
				continue;
			words *= bound;
			crossing->parent_many /= bound;
			crossing->parent_inside[d] /= bound;
		}
	nest_view_add(view, t, parent, NEST_READ, words, &crossing->parent_price);
	nest_view_add_rows(view, t, parent, child, words, &crossing->parent_price);
	for (uint32_t rest = nest_view_passed(chain, parent, child); rest; rest &= rest - 1) {
		int j = __builtin_ctz(rest);
		nest_view_add(view, t, j, NEST_READ, words, &crossing->parent_price);
		nest_view_add(view, t, j, NEST_FILL, words, &crossing->parent_price);
	}
	nest_view_add(view, t, child, NEST_FILL, view->instances[child], &crossing->price);
}

/* Any other window: the union of what the children want, and in Timeloop's counting as if all
 * along its two-term ranks were one. */
static void price_knotted(struct nest_view *view, int t, int k)
{
	struct nest_chain *chain = &view->chains[t];
	struct nest_crossing *crossing = &chain->crossings[k];
	const struct shape *shape = view->frame->search->shape;
	const int ends[] = {chain->kept[k], crossing->level};
	double *inside[] = {crossing->parent_inside, crossing->inside};
	struct nest_sums *prices[] = {&crossing->parent_price, &crossing->price};
	uint32_t free = view->frame->timeloop ? view->frame->spaces[t].paired : 0;
	crossing->united = true;
	for (int e = 0; e < 2; e++) {
		if (ends[e] < 0)
			continue;
		double instances = view->instances[ends[e]], rounding = instances;
		for (int d = 0; d < shape->dimension_count; d++) {
			double within = view->inside[ends[e]][d];
			double outside =
				(double)(shape->dimensions[d].extent / view->temporal[d]) / within;
			inside[e][d] = free >> d & 1 ? 1 : within;
			instances /= free >> d & 1 ? outside : 1;
		}
		enum nest_action action = e == 0 ? NEST_READ : NEST_FILL;
		nest_view_add(view, t, ends[e], action, instances, prices[e]);
		if (view->frame->timeloop)
			nest_view_add(view, t, ends[e], action, -rounding, &crossing->rounding);
	}
	crossing->apart = crossing->price;
}

/* Prices the words that multipliers read at every step. */
static void price_multipliers(struct nest_view *view, int t)
{
	struct nest_chain *chain = &view->chains[t];
	const struct shape *shape = view->frame->search->shape;
	const struct nest_space *space = &view->frame->spaces[t];
	int last = chain->kept[chain->count - 1];
	double words = view->instances[last], rounding = words;
	if (!view->frame->timeloop) {
		price_groups(view, t, chain->count - 1, view->cycles, &chain->base);
		return;
	}
	if (space->simple) {
		struct between between = look_between(view, t, last, -1);
		words *= between.places;
		rounding = between.uneven ? rounding : 0;
	} else {
		for (int r = 0; r < shape->spaces[t].rank_count; r++) {
			double sum = 1;
			for (uint32_t own = space->own[r] & ~space->paired; own; own &= own - 1)
				sum += view->inside[last][__builtin_ctz(own)] - 1;
			words *= sum;
		}
		for (int d = 0; d < shape->dimension_count; d++)
			if (space->paired >> d & 1)
				words /= (double)(shape->dimensions[d].extent / view->temporal[d]) /
					 view->inside[last][d];
	}
	nest_view_add(view, t, last, NEST_READ, view->cycles * words - rounding, &chain->base);
}

static void nest_view_price_window(struct nest_view *view, int t)
{
	static const double ones[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct nest_chain *chain = &view->chains[t];
	const struct hierarchy *hierarchy = view->frame->search->hierarchy;
	for (int k = 0; k < chain->crossing_count; k++) {
		struct nest_crossing *crossing = &chain->crossings[k];
		int child = crossing->level;
		memcpy(crossing->inside, child < 0 ? ones : view->inside[child],
			sizeof crossing->inside);
		memcpy(crossing->parent_inside, view->inside[chain->kept[k]],
			sizeof crossing->parent_inside);
		if (child >= 0) {
			int64_t size = hierarchy->levels[view->frame->level[child]].size;
			crossing->size = size ? (double)size : INFINITY;
			crossing->parent_many =
				view->instances[child] / view->instances[chain->kept[k]];
		}
		(!view->frame->spaces[t].simple ? price_knotted
			: view->frame->timeloop ? price_timeloop
						: price_exact)(view, t, k);
	}
	if (view->direct)
		price_multipliers(view, t);
}
