#include "solvers/map/nest_view.h"

#include <string.h>

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static uint32_t bound_of(const struct nest_view *view, int level, int d)
{
	int row = view->frame->search->hierarchy->levels[level].block_row;
	return view->mapping.rows[row].spatial[d];
}

/* Walks the blocks from the multipliers outwards. */
static void find_spatial(struct nest_view *view)
{
	const struct nest_search *search = view->frame->search;
	const struct hierarchy *hierarchy = search->hierarchy;
	int dimension_count = search->shape->dimension_count, j = 0;
	double inside[SHAPE_DIMENSIONS_MOST], fan = 1, within[ARCH_LEVELS_MOST];
	for (int d = 0; d < dimension_count; d++)
		inside[d] = 1;
	for (int i = 0; i < hierarchy->level_count; i++) {
		for (int d = 0; d < dimension_count; d++) {
			uint32_t bound = bound_of(view, i, d);
			inside[d] *= bound;
			fan *= bound;
		}
		within[i] = fan;
		if (j < view->frame->count && view->frame->level[j] == i)
			memcpy(view->inside[j++], inside, sizeof inside);
	}
	view->multipliers = fan;
	view->cycles = 1;
	for (int d = 0; d < dimension_count; d++) {
		view->temporal[d] = search->shape->dimensions[d].extent / (int64_t)inside[d];
		view->cycles *= (double)view->temporal[d];
	}
	for (int i = 0; i < hierarchy->level_count; i++)
		view->utilized[i] = fan / within[i];
	view->direct = !view->frame->timeloop || within[0] == 1;
}

static void find_prices(struct nest_view *view)
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
			(double)(level->fill_cycles + level->drain_cycles + level->skew_cycles);
		view->leak_pj +=
			gates < all ? level->leak_pj * all / gates * view->utilized[level->gated_at]
				    : level->leak_pj * view->utilized[i];
	}
	for (int j = 0; j < view->frame->count; j++) {
		const struct nest_level *level = &hierarchy->levels[view->frame->level[j]];
		double instances = view->utilized[view->frame->level[j]];
		double clusters =
			larger(1, (double)(level->mesh_x * level->mesh_y / level->cluster_size));
		double share = instances < clusters ? 1 : clusters / instances;
		view->instances[j] = instances;
		for (int a = 0; a < NEST_ACTIONS; a++)
			view->pj[j][a] = level->pj[a] * share / (double)level->block_size;
	}
}

void nest_view_add(const struct nest_view *view, int space, int j, enum nest_action action,
	double words, struct nest_sums *sums)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->level[j]];
	sums->at[0][0] += words * view->pj[j][action];
	for (int m = 1; m < frame->meter_count; m++) {
		const struct nest_meter *meter = &frame->meters[m];
		if (meter->j != j || !(meter->actions >> action & 1))
			continue;
		double weight = meter->weight;
		if (meter->rate.num)
			weight = level->rate_scale[space] * (double)meter->rate.den /
				 ((double)meter->rate.num * view->instances[j]);
		sums->at[m / METER_LANES][m % METER_LANES] += words * weight;
	}
}

static void clear(const struct nest_view *view, struct nest_sums *sums)
{
	memset(sums, 0, (size_t)view->frame->group_count * sizeof sums->at[0]);
}

/* Of one temporal tile: the words that all instances of a level want of it, each of them what
 * its children want together. */
static double spread_words(const struct nest_view *view, int t, int j)
{
	if (j < 0)
		return view->multipliers;
	double words = view->instances[j];
	for (uint32_t left = view->frame->spaces[t].relevant; left; left &= left - 1)
		words *= view->inside[j][__builtin_ctz(left)];
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

static void price_read(struct nest_view *view, int t)
{
	struct nest_chain *chain = &view->chains[t];
	for (int k = 0; k < chain->crossing_count; k++) {
		struct nest_crossing *crossing = &chain->crossings[k];
		int parent = chain->kept[k];
		nest_view_add(view, t, parent, NEST_READ, spread_words(view, t, parent),
			&crossing->price);
		if (crossing->level >= 0)
			nest_view_add(view, t, crossing->level, NEST_FILL,
				spread_words(view, t, crossing->level), &crossing->price);
	}
	int last = chain->kept[chain->count - 1];
	if (view->direct)
		nest_view_add(view, t, last, NEST_READ, view->cycles * spread_words(view, t, last),
			&chain->base);
}

/*
 * Partial sums.  A level's updates are what its children drain; but for first visits it
 * reads as many, and they are filled.  Timeloop's first visits are a share of the
 * dataspace; exactly, a visit is the first wherever the sum did not come from the parent:
 * E - (U - N) of them at a level that is entered by E words for U words of its parent, of
 * which N were first visits there.  With E and U linear in X, so is everything.
 */
static void price_written(struct nest_view *view, int t)
{
	struct nest_chain *chain = &view->chains[t];
	bool timeloop = view->frame->timeloop;
	int last = chain->kept[chain->count - 1];
	if (view->direct) {
		double all = view->cycles * spread_words(view, t, last);
		nest_view_add(view, t, last, NEST_UPDATE, all, &chain->base);
		nest_view_add(view, t, last, NEST_READ, all, &chain->base);
	}
	double home = first_visits(view, t, chain->kept[0]);
	for (int k = 0; k < chain->count; k++) {
		int j = chain->kept[k], outside = k > 0 ? chain->kept[k - 1] : -1;
		double first = timeloop ? first_visits(view, t, j) : home;
		nest_view_add(view, t, j, NEST_READ, -first, &chain->base);
		if (outside >= 0)
			nest_view_add(view, t, j, NEST_FILL, -first, &chain->base);
	}
	for (int k = 0; k < chain->crossing_count; k++) {
		struct nest_crossing *crossing = &chain->crossings[k];
		struct nest_sums *price = &crossing->price;
		int parent = chain->kept[k], child = crossing->level;
		double served = spread_words(view, t, parent);
		nest_view_add(view, t, parent, NEST_UPDATE, served, price);
		nest_view_add(view, t, parent, NEST_READ, served, price);
		if (child < 0)
			continue;
		double entered = spread_words(view, t, child);
		nest_view_add(view, t, child, NEST_FILL, timeloop ? entered : served, price);
		if (timeloop || entered <= served)
			continue;
		chain->sags = true;
		for (int i = k + 1; i < chain->count; i++) {
			nest_view_add(view, t, chain->kept[i], NEST_READ, served - entered, price);
			if (i > k + 1)
				nest_view_add(view, t, chain->kept[i], NEST_FILL, served - entered,
					price);
		}
	}
}

/* What is left from each crossing on. */
static void sum_up(const struct nest_view *view, struct nest_chain *chain)
{
	struct nest_sums rest, sag;
	clear(view, &rest);
	clear(view, &sag);
	for (int k = chain->crossing_count - 1; k >= 0; k--) {
		struct nest_crossing *crossing = &chain->crossings[k];
		for (int g = 0; g < view->frame->group_count; g++) {
			rest.at[g] += crossing->price.at[g];
			for (int i = 0; i < METER_LANES; i++)
				if (rest.at[g][i] < sag.at[g][i])
					sag.at[g][i] = rest.at[g][i];
		}
		crossing->rest = rest;
		crossing->sag = sag;
	}
}

/* Distinct places along the ranks, at least, of children that stand along spatial loops of these
 * bounds.  Exactly: any two sums of a rank that differ; Timeloop tells children of one block
 * apart, and by links it may do so less: no fewer than along one dimension. */
static double places(const struct nest_view *view, int t, const double *bounds)
{
	const struct nest_space *space = &view->frame->spaces[t];
	double all = 1;
	for (int r = 0; r < view->frame->search->shape->spaces[t].rank_count; r++) {
		double sum = 1, most = 1;
		for (uint32_t own = space->own[r]; own; own &= own - 1) {
			double bound = bounds[__builtin_ctz(own)];
			sum += bound - 1;
			most = larger(most, bound);
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
	bool uneven; /* groups of children differ in size: averages are no whole numbers */
};

static struct between look_between(const struct nest_view *view, int t, int parent, int child)
{
	const struct nest_frame *frame = view->frame;
	const struct shape *shape = frame->search->shape;
	const struct nest_space *space = &frame->spaces[t];
	struct between between = {1, 1, 1, false};
	double bounds[SHAPE_DIMENSIONS_MOST], all[SHAPE_DIMENSIONS_MOST];
	int from = child < 0 ? 0 : frame->level[child] + 1;
	for (int d = 0; d < shape->dimension_count; d++)
		all[d] = 1;
	for (int i = from; i <= frame->level[parent]; i++) {
		for (int d = 0; d < shape->dimension_count; d++) {
			bounds[d] = bound_of(view, i, d);
			all[d] *= bounds[d];
		}
		between.places *= places(view, t, bounds);
		for (int r = 0; r < shape->spaces[t].rank_count; r++) {
			uint32_t own = space->own[r] & space->paired;
			double most = 1, product = 1;
			for (; own; own &= own - 1) {
				double bound = bounds[__builtin_ctz(own)];
				most = larger(most, bound);
				product *= bound;
			}
			between.uneven |= most < product;
			if (i > from)
				continue;
			between.linked = larger(between.linked, most);
			between.linked_fills = larger(between.linked_fills, product);
		}
	}
	if (!frame->timeloop)
		between.places = places(view, t, all);
	bool one = from < frame->search->hierarchy->level_count && view->utilized[from] == 1;
	between.linked_fills = one ? 1 : between.linked_fills;
	return between;
}

/* A window all of whose dimensions are in one rank each. */
static void price_simple(struct nest_view *view, int t, int k)
{
	struct nest_chain *chain = &view->chains[t];
	struct nest_crossing *crossing = &chain->crossings[k];
	int parent = chain->kept[k], child = crossing->level;
	bool timeloop = view->frame->timeloop;
	struct between between = look_between(view, t, parent, child);
	double served = view->instances[parent] * between.places;
	double entered = child < 0 ? 0 : view->instances[child];
	nest_view_add(view, t, parent, NEST_READ, served, &crossing->apart);
	if (child >= 0)
		nest_view_add(view, t, child, NEST_FILL, entered, &crossing->apart);
	if (timeloop) {
		crossing->uneven = between.uneven;
		nest_view_add(
			view, t, parent, NEST_READ, served / between.linked, &crossing->price);
		nest_view_add(
			view, t, parent, NEST_READ, -view->instances[parent], &crossing->rounding);
		if (child < 0)
			return;
		nest_view_add(view, t, child, NEST_FILL, entered / between.linked_fills,
			&crossing->price);
		nest_view_add(view, t, child, NEST_FILL, -entered, &crossing->rounding);
		return;
	}
	crossing->united = between.linked > 1;
	if (!crossing->united)
		nest_view_add(view, t, parent, NEST_READ, served, &crossing->price);
	else
		nest_view_add(view, t, parent, NEST_READ, view->instances[parent],
			&crossing->parent_price);
	if (child >= 0)
		nest_view_add(view, t, child, NEST_FILL, entered, &crossing->price);
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

/* What multipliers read at every step. */
static void price_multipliers(struct nest_view *view, int t)
{
	struct nest_chain *chain = &view->chains[t];
	const struct shape *shape = view->frame->search->shape;
	const struct nest_space *space = &view->frame->spaces[t];
	int last = chain->kept[chain->count - 1];
	double words = view->instances[last];
	double rounding = view->frame->timeloop ? view->instances[last] : 0;
	if (space->simple && view->frame->timeloop) {
		struct between between = look_between(view, t, last, -1);
		words *= between.places;
		rounding = between.uneven ? rounding : 0;
	} else {
		uint32_t free = view->frame->timeloop ? space->paired : 0;
		for (int r = 0; r < shape->spaces[t].rank_count; r++) {
			double sum = 1;
			for (uint32_t own = space->own[r] & ~free; own; own &= own - 1)
				sum += view->inside[last][__builtin_ctz(own)] - 1;
			words *= sum;
		}
		for (int d = 0; d < shape->dimension_count; d++)
			if (free >> d & 1)
				words /= (double)(shape->dimensions[d].extent / view->temporal[d]) /
					 view->inside[last][d];
	}
	nest_view_add(view, t, last, NEST_READ, view->cycles * words - rounding, &chain->base);
}

static void price_window(struct nest_view *view, int t)
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
		crossing->held = 0;
		crossing->parent_held = 0;
		if (child >= 0 && !view->frame->timeloop) {
			int64_t size = hierarchy->levels[view->frame->level[child]].size;
			crossing->held = size ? (double)size : 0x1p62;
			crossing->parent_held = crossing->held * view->instances[child] /
						view->instances[chain->kept[k]];
		}
		(view->frame->spaces[t].simple ? price_simple : price_knotted)(view, t, k);
	}
	if (view->direct)
		price_multipliers(view, t);
}

static void open_chain(struct nest_view *view, int t, uint32_t residency)
{
	const struct nest_frame *frame = view->frame;
	struct nest_chain *chain = &view->chains[t];
	chain->count = 0;
	chain->crossing_count = 0;
	chain->sags = false;
	chain->words = 1;
	clear(view, &chain->base);
	for (int d = 0; d < frame->search->shape->dimension_count; d++)
		if (frame->spaces[t].relevant >> d & 1)
			chain->words *= (double)view->temporal[d];
	for (int j = frame->count - 1; j >= 0; j--)
		if (residency >> frame->search->hierarchy->levels[frame->level[j]].row & 1)
			chain->kept[chain->count++] = j;
	bool counts = chain->count > 0 && !frame->spaces[t].silent;
	if (counts)
		chain->crossing_count = chain->count - view->direct;
	for (int k = 0; k < chain->crossing_count; k++) {
		struct nest_crossing *crossing = &chain->crossings[k];
		crossing->level = k + 1 < chain->count ? chain->kept[k + 1] : -1;
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

void nest_view_keep(struct nest_view *view, int space, uint32_t residency)
{
	const struct nest_frame *frame = view->frame;
	struct nest_chain *chain = &view->chains[space];
	view->mapping.residency[space] = residency;
	open_chain(view, space, residency);
	if (!chain->count || frame->spaces[space].silent)
		return;
	if (!frame->spaces[space].plain)
		price_window(view, space);
	else if (frame->search->shape->spaces[space].written)
		price_written(view, space);
	else
		price_read(view, space);
	sum_up(view, chain);
}

void nest_view_spread(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out)
{
	out->frame = frame;
	out->mapping = *mapping;
	find_spatial(out);
	find_prices(out);
}

void nest_view_make(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out)
{
	nest_view_spread(frame, mapping, out);
	clear(out, &out->base);
	out->base.at[0][0] = out->cycles * out->multipliers * frame->search->hierarchy->compute_pj;
	for (int t = 0; t < frame->search->shape->space_count; t++) {
		nest_view_keep(out, t, mapping->residency[t]);
		for (int g = 0; g < frame->group_count; g++)
			out->base.at[g] += out->chains[t].base.at[g];
	}
}

bool nest_view_fits(const struct nest_view *view, int j, const int64_t *left)
{
	const struct nest_search *search = view->frame->search;
	const struct nest_level *level = &search->hierarchy->levels[view->frame->level[j]];
	if (!level->size)
		return true;
	double sum = 0;
	for (int t = 0; t < search->shape->space_count; t++) {
		if (!(view->mapping.residency[t] >> level->row & 1))
			continue;
		const struct dataspace *space = &search->shape->spaces[t];
		const struct nest_space *known = &view->frame->spaces[t];
		double words = 1;
		if (known->plain) {
			for (uint32_t own = known->relevant; own; own &= own - 1) {
				int d = __builtin_ctz(own);
				words *= (double)left[d] * view->inside[j][d];
			}
			sum += words;
			continue;
		}
		for (int r = 0; r < space->rank_count; r++) {
			double reach = 1;
			for (int d = 0; d < search->shape->dimension_count; d++)
				if (space->ranks[r].coefficient[d])
					reach += (double)space->ranks[r].coefficient[d] *
						 ((double)left[d] * view->inside[j][d] - 1);
			words *= reach;
		}
		sum += words;
	}
	return sum <= (double)level->size;
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
			if (bound_of(view, i, __builtin_ctz(left)) > 1)
				return true;
	return false;
}
