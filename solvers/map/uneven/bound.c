#include "solvers/map/uneven/uneven.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/map/exact/exact.h"

#include <math.h>
#include <string.h>

static int64_t nest_view_extent(const struct nest_view *view, int d)
{
	return view->frame->search->shape->dimensions[d].extent;
}

bool uneven_is_open(const struct nest_view *view, const struct uneven_part *part, int d)
{
	uint32_t open = part->level == view->frame->count ? view->frame->search->domain->imperfect
							  : part->open[part->level + 1];
	return open >> d & 1;
}

int64_t uneven_cover(const struct nest_view *view, int j, int d)
{
	return number_ceil_div(nest_view_extent(view, d), (int64_t)view->inside[j][d]);
}

/* Temporal loops of this level and those inside, where a loop outside has fixed it. */
static int64_t nest_view_total(const struct nest_view *view, const struct uneven_part *part, int d)
{
	return part->level == view->frame->count
		       ? nest_view_extent(view, d) / (int64_t)view->inside[part->level][d]
		       : part->rest[part->level + 1][d];
}

static int64_t nest_view_bound(
	const struct nest_view *view, const struct uneven_part *part, int d, int64_t rest)
{
	if (!uneven_is_open(view, part, d))
		return nest_view_total(view, part, d) / rest;
	return number_ceil_div(uneven_cover(view, part->level, d), rest);
}

/* The smallest divisor from `value` on; 0: none. */
static int64_t next_divisor(int64_t n, int64_t value)
{
	if (value > n)
		return 0;
	for (; value * value <= n; value++)
		if (n % value == 0)
			return value;
	int64_t other = n / value;
	while (n % other)
		other--;
	return n / other;
}

static struct factor_domain factor_of(const struct nest_view *view, int j, int d)
{
	const struct space *space = view->frame->search->space;
	if (j == view->frame->count)
		return (struct factor_domain){.least = 1, .most = 1};
	return space->domain->rows[space->levels[view->frame->tiling[j]].row].temporal[d];
}

/* Rests of an open dimension, all of which make up the extent. */
static void clip_open(const struct nest_view *view, const struct uneven_part *part, int d,
	int64_t *least, int64_t *most)
{
	int j = part->level;
	int64_t extent = nest_view_extent(view, d), all = uneven_cover(view, part->level, d);
	int64_t edge = view->edge[j][d], within = view->within_edge[j][d], end = all;
	if (edge > 1) /* that loop needs all its iterations */
		end = number_ceil_div(number_ceil_div(extent, edge - 1), within) - 1;
	*most = number_min(*most, end);
	if (j == view->frame->count && edge == 1)
		*least = number_max(*least, all);
}

bool uneven_clip(const struct nest_view *view, const struct uneven_part *part, int d, int first,
	int64_t *least, int64_t *most)
{
	int j = part->level;
	bool open = uneven_is_open(view, part, d);
	struct factor_domain factor = factor_of(view, j, d);
	int64_t all = open ? uneven_cover(view, part->level, d) : nest_view_total(view, part, d);
	if (j == 0)
		*most = number_min(*most, 1);
	if (first == d)
		factor.least = number_max(factor.least, 2);
	if (first == -1)
		factor.most = number_min(factor.most, 1);
	if (factor.most < factor.least)
		return false;
	*least = number_max(*least, number_ceil_div(all, factor.most));
	if (open)
		clip_open(view, part, d, least, most);
	if (factor.least > 1) /* ceil(all / rest) >= least */
		*most = number_min(
			*most, open ? (all - 1) / (factor.least - 1) : all / factor.least);
	if (*least > *most)
		return false;
	if (open)
		return true;
	*least = next_divisor(all, *least);
	int64_t other = next_divisor(all, number_ceil_div(all, *most));
	*most = other ? all / other : 0;
	return *least && *least <= *most;
}

void uneven_choose(const struct nest_view *view, struct uneven_part *part)
{
	int j = part->level;
	part->open[j] = 0;
	for (int d = 0; d < view->frame->search->shape->dimension_count; d++) {
		bool open = uneven_is_open(view, part, d);
		part->bound[j][d] = nest_view_bound(view, part, d, part->least[d]);
		part->rest[j][d] = part->least[d];
		if (open && part->bound[j][d] == 1 && view->edge[j][d] == 1)
			part->open[j] |= 1u << d;
	}
}

/* Words of one dataspace while the levels are followed inwards. */
struct word_flow {
	int t;
	double words; /* all of it */
	double whole; /* the part that no last round lets stay */
	double cut
		[SHAPE_DIMENSIONS_MOST]; /* temporal loops inside the one that makes it enter again */
	double served[ARCH_LEVELS_MOST];   /* by place in the chain: words that its parent sends */
	double entering[ARCH_LEVELS_MOST]; /* and words that enter it */
	double multiplied;                 /* words between the innermost of them and multipliers */
};

static const struct nest_space *nest_view_space(const struct nest_view *view, int t)
{
	return &view->frame->spaces[t];
}

static double real_extent(const struct nest_view *view, int d)
{
	return (double)view->frame->search->shape->dimensions[d].extent;
}

static double nest_view_rounds(const struct nest_view *view, const double *cut, uint32_t relevant,
	int j, double words, double whole)
{
	double all = 1, least = 1;
	for (int d = 0; d < view->frame->search->shape->dimension_count; d++) {
		if (relevant >> d & 1)
			continue;
		double round = cut[d] * view->inside[j][d];
		all *= fmax(view->apart[j][d], real_extent(view, d) / round);
		least *= view->apart[j][d];
	}
	return whole * all + (words - whole) * least;
}

/* Returns the part of one dimension that may stay: the last round of a loop, where it is no more than half of
 * a round, can have a single iteration of one inside. */
static double nest_view_staying(const struct nest_view *view, const struct uneven_part *part, int d)
{
	double extent = real_extent(view, d), most = 0;
	for (int j = view->frame->count - 1; j > part->level; j--) {
		if (part->bound[j][d] <= 1)
			continue;
		double round = (double)part->rest[j][d] * view->inside[j][d];
		double last = extent - (ceil(extent / round) - 1) * round;
		most = fmax(most, last <= round / 2 ? last : 0);
	}
	if (part->level < 0) /* all bounds are chosen */
		return most;
	double round = (double)part->most[d] * view->inside[part->level][d];
	return fmax(most, floor(fmin(extent / 3, round / 2)));
}

/* True if all loops of a dimension may lie inside. */
static bool may_stay_open(const struct nest_view *view, const struct uneven_part *part, int d)
{
	int j = part->level;
	return uneven_is_open(view, part, d) && view->edge[j][d] == 1 &&
	       part->most[d] >= uneven_cover(view, j, d);
}

/* Loops of a chosen level: the run of those that do not move the dataspace, if one ends it. */
static void follow_level(
	const struct nest_view *view, const struct uneven_part *part, int j, struct word_flow *flow)
{
	uint32_t relevant = nest_view_space(view, flow->t)->relevant;
	int dimension_count = view->frame->search->shape->dimension_count;
	uint32_t run = 0;
	for (int n = 0; n < dimension_count; n++) {
		int d = part->order[j][n];
		if (part->bound[j][d] <= 1)
			continue;
		if (!(relevant >> d & 1)) {
			run |= 1u << d;
			continue;
		}
		for (int e = 0; e < dimension_count; e++)
			flow->cut[e] =
				part->open[j] >> e & 1
					? INFINITY
					: (double)part->rest[j][e] *
						  (run >> e & 1 ? (double)part->bound[j][e] : 1);
		return;
	}
}

/* True if a level is too small for what a dataspace needs inside part->level: some loop between
 * them moves it. */
static bool moves_inside(const struct nest_view *view, const struct uneven_part *part, int t, int c)
{
	const struct hierarchy *hierarchy = view->frame->search->hierarchy;
	double tile = 1;
	for (uint32_t left = nest_view_space(view, t)->relevant; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		tile *= fmin(real_extent(view, d), (double)part->least[d] * view->inside[c][d]);
	}
	int64_t size = hierarchy->levels[view->frame->level[c]].size;
	return size && tile > (double)size;
}

static void nest_view_pass(const struct nest_view *view, int k, struct word_flow *flow)
{
	int t = flow->t, c = view->chains[t].kept[k], p = view->chains[t].kept[k - 1];
	uint32_t relevant = nest_view_space(view, t)->relevant;
	flow->served[k] = nest_view_rounds(view, flow->cut, relevant, p, flow->words, flow->whole);
	flow->entering[k] =
		nest_view_rounds(view, flow->cut, relevant, c, flow->words, flow->whole);
}

/* Follows a dataspace whose ranks have one dimension each. */
static void follow_plain(
	const struct nest_view *view, const struct uneven_part *part, struct word_flow *flow)
{
	const struct shape *shape = view->frame->search->shape;
	int t = flow->t, k = 1, last = view->chains[t].count - 1;
	uint32_t relevant = nest_view_space(view, t)->relevant;
	flow->words = flow->whole = 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		flow->cut[d] = INFINITY;
		if (!(relevant >> d & 1))
			continue;
		flow->words *= real_extent(view, d);
		flow->whole *= real_extent(view, d) - nest_view_staying(view, part, d);
	}
	for (int j = view->frame->count - 1; j >= 0 && j >= part->level; j--) {
		if (j > part->level)
			follow_level(view, part, j, flow);
		else if ((part->first >= 0 && relevant >> part->first & 1) ||
			 (k <= last && moves_inside(view, part, t, view->chains[t].kept[k])))
			for (int d = 0; d < shape->dimension_count; d++)
				flow->cut[d] = may_stay_open(view, part, d) ? INFINITY
									    : (double)part->most[d];
		for (; k <= last && view->chains[t].kept[k] == j - 1; k++)
			nest_view_pass(view, k, flow);
	}
	for (; k <= last; k++)
		nest_view_pass(view, k, flow);
	static const double once[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	int innermost = view->chains[t].kept[last];
	flow->multiplied = view->direct ? nest_view_rounds(view, once, relevant, innermost,
						  flow->words, flow->words)
					: nest_view_rounds(view, flow->cut, relevant, innermost,
						  flow->words, flow->whole);
}

/* Follows a dataspace whose tiles may overlap: every word enters once; a multiplier's word serves no more of them than
 * find the same sum of indices. */
static void follow_sliding(const struct nest_view *view, struct word_flow *flow)
{
	const struct shape *shape = view->frame->search->shape;
	const struct nest_space *space = nest_view_space(view, flow->t);
	int last = view->chains[flow->t].count - 1, innermost = view->chains[flow->t].kept[last];
	double macs = 1, group = 1;
	flow->words = 1;
	for (int r = 0; r < shape->spaces[flow->t].rank_count; r++) {
		double reach = 1, most = 1;
		for (uint32_t own = space->own[r]; own; own &= own - 1) {
			int d = __builtin_ctz(own);
			reach += real_extent(view, d) - 1;
			most = fmax(most, view->inside[innermost][d]);
		}
		flow->words *= reach;
		group /= most;
	}
	for (int d = 0; d < shape->dimension_count; d++) {
		macs *= real_extent(view, d);
		group *= view->inside[innermost][d];
	}
	if (view->frame->timeloop) /* averages are rounded */
		flow->words = 0;
	for (int k = 1; k <= last; k++)
		flow->served[k] = flow->entering[k] = flow->words;
	flow->multiplied = view->direct && !view->frame->timeloop ? fmax(flow->words, macs / group)
								  : flow->words;
}

static void take_words(const struct nest_view *view, int t, int j, double reads, double fills,
	double updates, struct nest_sums *sums)
{
	struct nest_sums here;
	memset(&here, 0, sizeof here);
	nest_view_add(view, t, j, NEST_READ, reads, &here);
	nest_view_add(view, t, j, NEST_FILL, fills, &here);
	nest_view_add(view, t, j, NEST_UPDATE, updates, &here);
	nest_sums_add(view->frame, sums, &here, 1);
}

static void nest_view_read_only(
	const struct nest_view *view, const struct word_flow *flow, struct nest_sums *sums)
{
	int last = view->chains[flow->t].count - 1;
	for (int k = 0; k <= last; k++)
		take_words(view, flow->t, view->chains[flow->t].kept[k],
			k < last ? flow->served[k + 1] : flow->multiplied,
			k > 0 ? flow->entering[k] : 0, 0, sums);
}

/* Returns how many children at most enter the same words together. */
static double group_of(const struct nest_view *view, int t, int p, int c)
{
	double group = 1;
	for (int d = 0; d < view->frame->search->shape->dimension_count; d++)
		if (!(nest_view_space(view, t)->relevant >> d & 1))
			group *= view->inside[p][d] / view->inside[c][d];
	return group;
}

/*
 * Partial sums, in Timeloop's counting.  g[k] groups enter and drain between chain[k - 1] and
 * chain[k]; each drain is an update outside.  Inside, updates other than first visits read, and first visits
 * are at most the entries: g[k + 1] - group * g[k] at least.  More groups cost
 * updates and save reads; a share of the reads small enough not to make that worth while is a bound
 * for any g.  *spared: of a read at chain[k - 1], what the bound counts per group.
 */
static double updates_that_read_pj(const struct nest_view *view, const struct word_flow *flow,
	int k, double updates, double *spared)
{
	int j = view->chains[flow->t].kept[k], parent = view->chains[flow->t].kept[k - 1];
	double read_pj = view->pj[j][NEST_READ];
	if (read_pj <= 0) {
		*spared = 0;
		return 0;
	}
	double group = group_of(view, flow->t, parent, j);
	double share = fmin(1, (view->pj[parent][NEST_UPDATE] + *spared) / (read_pj * group));
	*spared = share * read_pj;
	return *spared * (updates - group * flow->served[k]);
}

/* Exactly, what comes to a level inside the home is read there: updates, and sums that return. */
static void nest_view_written(
	const struct nest_view *view, const struct word_flow *flow, struct nest_sums *sums)
{
	int t = flow->t, last = view->chains[t].count - 1;
	int home = view->chains[t].kept[0];
	double first = flow->words * group_of(view, t, view->frame->count, home);
	double spared = 0;
	for (int k = 0; k <= last; k++) {
		int j = view->chains[t].kept[k];
		double updates = k < last ? flow->served[k + 1] : flow->multiplied, fills = 0;
		double reads = k == 0 ? fmax(updates - first, 0) : 0;
		if (k == 1)
			fills = fmax(flow->served[1] - first, 0);
		if (k > 0 && !view->frame->timeloop)
			reads = fills + updates;
		take_words(view, t, j, reads, fills, updates, sums);
		if (k > 0 && view->frame->timeloop)
			sums->at[0][0] += updates_that_read_pj(view, flow, k, updates, &spared);
	}
}

static void nest_view_add_space(
	const struct nest_view *view, const struct uneven_part *part, int t, struct nest_sums *sums)
{
	struct word_flow flow = {.t = t};
	bool plain = nest_view_space(view, t)->plain,
	     adds = view->frame->search->shape->spaces[t].written;
	if (nest_view_space(view, t)->silent)
		return;
	if (plain)
		follow_plain(view, part, &flow);
	else
		follow_sliding(view, &flow);
	(adds ? nest_view_written : nest_view_read_only)(view, &flow, sums);
}

/* Words of a dataspace for each tile that instances of a storage level may have at a time. */
static double words_each(const struct nest_view *view, int t, int j)
{
	double words = 1;
	for (uint32_t left = nest_view_space(view, t)->relevant; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		words *= real_extent(view, d) * view->inside[j][d] /
			 view->inside[view->frame->count][d];
	}
	return words;
}

static double array_cycles(const struct nest_view *view)
{
	const struct nest_frame *frame = view->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	double passes = 1, load = 0, rate = 1;
	if (!hierarchy->array_end)
		return 0;
	for (int t = 0; t < frame->search->shape->space_count; t++) {
		const struct nest_chain *chain = &view->chains[t];
		if (!frame->spaces[t].plain)
			continue;
		rate = fmax(rate, chain->rate);
		if (chain->held_at < 0)
			continue;
		double words = words_each(view, t, chain->held_at);
		int64_t size = hierarchy->levels[frame->level[chain->held_at]].size;
		if (size)
			passes = fmax(passes, words / (double)size);
		if (!frame->search->shape->spaces[t].written)
			load += words * nest_skew_tiles(frame, &view->mapping, t, true);
	}
	double waits = view->cycles * (rate - 1);
	if (hierarchy->array_overlaps)
		return view->skew_cycles + waits;
	return floor((passes * view->skew_cycles + load) * (1 - 1e-9)) + waits;
}

static struct score score_of(const struct nest_view *view, struct nest_cost *cost)
{
	const struct nest_search *search = view->frame->search;
	cost->sums.at[0][0] += view->frame->macs * search->hierarchy->compute_pj;
	nest_cost_finish(view, cost);
	struct score score = {.feasible = true,
		.cycles = cost->cycles < 0x1p62 ? (int64_t)cost->cycles : INT64_MAX / 2,
		.energy_pj = cost->energy_pj};
	for (size_t k = 0; k < search->wishes.objectives.count; k++) {
		enum objective objective = search->wishes.objectives.at[k];
		double words = floor(nest_cost_value(view, cost, objective));
		if (objective == OBJECTIVE_HBM_BYTES)
			score.hbm_bytes = (int64_t)fmin(words, 0x1p62);
		if (objective >= OBJECTIVE_ACCESSES)
			score.accesses[objective - OBJECTIVE_ACCESSES] =
				(int64_t)fmin(words, 0x1p62);
	}
	return score;
}

struct score uneven_bound(const struct nest_view *view, const struct uneven_part *part)
{
	struct nest_cost cost;
	memset(&cost.sums, 0, sizeof cost.sums);
	for (int t = 0; t < view->frame->search->shape->space_count; t++)
		nest_view_add_space(view, part, t, &cost.sums);
	cost.array_cycles = array_cycles(view);
	return score_of(view, &cost);
}

/* Bits of the space's free residency that are of a dataspace. */
static uint64_t free_bits(const struct space *space, int t)
{
	uint64_t bits = 0;
	for (int i = 0; i < space->free_count; i++)
		bits |= (uint64_t)(space->free[i].space == t) << i;
	return bits;
}

struct score uneven_bound_anywhere(struct nest_view *view)
{
	const struct space *space = view->frame->search->space;
	struct uneven_part part = {.level = view->frame->count, .first = -1};
	struct nest_cost cost;
	memset(&cost.sums, 0, sizeof cost.sums);
	for (int t = 0; t < view->frame->search->shape->space_count; t++) {
		uint64_t all = free_bits(space, t), bits = all;
		double least_pj = INFINITY;
		for (bool more = true; more; bits = (bits - 1) & all) {
			struct nest_sums sums;
			uint32_t residency = space->blank.residency[t];
			more = bits != 0;
			for (int i = 0; i < space->free_count; i++)
				if (bits >> i & 1)
					residency |= 1u << space->free[i].row;
			nest_view_keep(view, t, residency);
			if (!view->chains[t].count)
				continue;
			memset(&sums, 0, sizeof sums);
			nest_view_add_space(view, &part, t, all ? &sums : &cost.sums);
			least_pj = fmin(least_pj, nest_meter(&sums, 0));
		}
		cost.sums.at[0][0] += least_pj;
	}
	cost.array_cycles = view->skew_cycles;
	return score_of(view, &cost);
}

bool uneven_branch_view(const struct nest_frame *frame, const struct uneven_branches *branches,
	size_t i, uint64_t residency, struct nest_view *out)
{
	const struct space *space = frame->search->space;
	struct mapping mapping;
	spatial_bounds_set(&branches->spatial, space, branches->at[i].spatial, &mapping);
	for (int b = 0; b < space->free_count; b++)
		if (residency >> b & 1)
			mapping.residency[space->free[b].space] |= 1u << space->free[b].row;
	nest_view_make(frame, &mapping, out);
	return nest_view_least_fits(out);
}

struct uneven_branches uneven_branches_make(
	struct run *run, struct arena *arena, const struct nest_frame *frame)
{
	const struct nest_search *search = frame->search;
	struct uneven_branches branches = {
		.floor = nest_floor(search, search->wishes.objectives.at[0])};
	branches.spatial = spatial_bounds_find(run, arena, frame, NULL,
		search->space->free_count <= UNEVEN_FREE_MOST ? UNEVEN_SPATIAL_MOST : 0);
	branches.at = arena_array(arena, struct spatial_choice, branches.spatial.count);
	struct arena *scratch = arena_open();
	struct nest_view *view = arena_new(scratch, struct nest_view);
	for (size_t s = 0; s < branches.spatial.count && run_go_on(run, BOUND_TICKS); s++) {
		branches.at[s].spatial = s;
		uneven_branch_view(frame, &branches, s, 0, view);
		struct score bound = uneven_bound_anywhere(view);
		branches.at[s].bound = objective_value(search->wishes.objectives.at[0], &bound);
		branches.count++;
	}
	arena_close(scratch);
	branches.complete = branches.spatial.complete && run_go_on(run, 0);
	spatial_choices_sort(branches.at, branches.count);
	return branches;
}
