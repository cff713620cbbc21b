#include "solvers/map/exact/plain.h"

#include <string.h>

static const struct nest_level *level_of(const struct nest_view *view, int i)
{
	return &view->frame->search->hierarchy->levels[i];
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
			if ((relevant >> d | level_of(view, i)->no_spatial_reuse >> t) & 1)
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

/* A dataspace's way from the k-th level that holds it to the next, or to the multipliers. */
struct way {
	int parent, child; /* child -1: the multipliers */
	double times;      /* of its words: 1 for X = 1, or all that there are */
	uint32_t passed;   /* levels that count what passes */
	struct nest_sums *price;
};

static struct way way_at(struct nest_view *view, int t, int k)
{
	struct nest_chain *chain = &view->chains[t];
	bool last = k + 1 == chain->count;
	struct way way = {.parent = chain->kept[k],
		.child = last ? -1 : chain->kept[k + 1],
		.times = last && view->direct ? view->cycles : 1,
		.price = last && view->direct ? &chain->base : &chain->crossings[k].price};
	way.passed = nest_view_passed(chain, way.parent, way.child);
	return way;
}

static void price_read(struct nest_view *view, int t)
{
	for (int k = 0; k < view->chains[t].count; k++) {
		struct way way = way_at(view, t, k);
		nest_view_add(view, t, way.parent, NEST_READ,
			way.times * served(view, t, way.child, way.parent, true), way.price);
		if (way.child >= 0)
			nest_view_add(view, t, way.child, NEST_FILL,
				served(view, t, way.child, way.child, true), way.price);
		for (uint32_t rest = way.passed; rest; rest &= rest - 1) {
			int j = __builtin_ctz(rest);
			double words = way.times * served(view, t, way.child, j, true);
			nest_view_add(view, t, j, NEST_READ, words, way.price);
			nest_view_add(view, t, j, NEST_FILL, words, way.price);
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
		struct way way = way_at(view, t, k);
		double words = way.times * served(view, t, way.child, way.parent, false);
		double first = first_visits(view, t, way.parent);
		nest_view_add(view, t, way.parent, NEST_UPDATE, words, way.price);
		nest_view_add(view, t, way.parent, NEST_READ, words, way.price);
		nest_view_add(view, t, way.parent, NEST_READ, -first, &chain->base);
		if (k > 0)
			nest_view_add(view, t, way.parent, NEST_FILL, -first, &chain->base);
		if (way.child >= 0)
			nest_view_add(view, t, way.child, NEST_FILL,
				served(view, t, way.child, way.child, false), way.price);
	}
}

/* Sums that return on a way, which are read there again when they drain. */
static void add_returns(const struct nest_view *view, int t, const struct way *way, double words,
	struct nest_sums *sums)
{
	uint32_t levels = way->passed | (way->child < 0 ? 0 : 1u << way->child);
	for (; levels; levels &= levels - 1) {
		nest_view_add(view, t, __builtin_ctz(levels), NEST_FILL, words, sums);
		nest_view_add(view, t, __builtin_ctz(levels), NEST_READ, words, sums);
	}
}

static void add_updates(const struct nest_view *view, int t, const struct way *way)
{
	for (uint32_t levels = way->passed | 1u << way->parent; levels; levels &= levels - 1) {
		int j = __builtin_ctz(levels);
		double words = way->times * served(view, t, way->child, j, true);
		nest_view_add(view, t, j, NEST_UPDATE, words, way->price);
		nest_view_add(view, t, j, NEST_READ, words, way->price);
	}
}

/*
 * Partial sums, exactly (cost/nest/nest_exact.c).  Every sum that comes to a level, in an update or
 * a fill, is read there once, but for those that stay at home.  A visit is the first wherever the sum
 * did not come from the parent: E - (U - N) of them at a level that is entered by E words for U words
 * of its parent, of which N were first visits there.  With E and U linear in X, so is everything: what
 * returns on a way is U less the first visits at the parent.  After these an update there reads once
 * more if it is told so (rmw_first_update).
 *
 * Where a level keeps nothing N counts only the visits at which the child moves, and a child that
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
		struct way way = way_at(view, t, k);
		const struct nest_level *parent = level_of(view, frame->level[way.parent]);
		bool again = parent->rmw_first_update >> t & 1;
		bool sure = again && !(k > 0 && chain->crossings[k - 1].resets);
		chain->sags |= again && !sure;
		add_updates(view, t, &way);
		add_returns(view, t, &way,
			way.times * served(view, t, way.child, way.parent, way.child < 0),
			way.price);
		add_returns(view, t, &way, -home, &chain->base);
		if (sure)
			nest_view_add(view, t, way.parent, NEST_READ, home, &chain->base);
		for (int i = 0; i < k; i++) {
			struct nest_crossing *outer = &chain->crossings[i];
			double fresh = served(view, t, outer->level, outer->level, false) -
				       served(view, t, outer->level, chain->kept[i], false);
			if (fresh <= 0)
				continue;
			add_returns(view, t, &way, -fresh, &outer->price);
			chain->sags |= way.child >= 0 || way.passed;
			if (sure && !chain->resets)
				nest_view_add(view, t, way.parent, NEST_READ, fresh, &outer->price);
		}
	}
}

/* What is left from each crossing on. */
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

void nest_view_price_plain(struct nest_view *view, int space)
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
