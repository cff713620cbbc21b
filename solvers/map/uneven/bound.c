#include "solvers/map/exact/skew.h"
#include "solvers/map/uneven/array.h"

#include <math.h>

/* Sums of doubles err by less: a cycle or a word is not counted, energies that differ by less are
 * equal. */
#define MARGIN (1 - 1e-9)
#define ENERGY_MARGIN (1 + 1e-12)

/* What is known of one dataspace while the levels are followed inwards. */
struct flow {
	int t;
	double words;                      /* all of it */
	double whole;                      /* the part that no last round lets stay */
	double cut[SHAPE_DIMENSIONS_MOST]; /* temporal loops inside what makes it enter anew */
	double served[ARCH_LEVELS_MOST];   /* by place in the chain: words that its parent sends */
	double entering[ARCH_LEVELS_MOST]; /* and words that enter it */
	double multiplied;                 /* words between the innermost of them and multipliers */
};

struct least {
	double reads[ARCH_LEVELS_MOST], writes[ARCH_LEVELS_MOST]; /* scaled, for the ports */
	double words[ARCH_LEVELS_MOST];                           /* reads, fills and updates */
	double pj;
};

static const struct nest_space *space_of(const struct uneven_view *view, int t)
{
	return &view->frame->spaces[t];
}

static double extent_of(const struct uneven_view *view, int d)
{
	return (double)view->frame->search->shape->dimensions[d].extent;
}

static double rounds(const struct uneven_view *view, const double *cut, uint32_t relevant, int j,
	double words, double whole)
{
	double all = 1, least = 1;
	for (int d = 0; d < view->frame->search->shape->dimension_count; d++) {
		if (relevant >> d & 1)
			continue;
		double round = cut[d] * (double)view->inside[j][d];
		all *= fmax(view->apart[j][d], extent_of(view, d) / round);
		least *= view->apart[j][d];
	}
	return whole * all + (words - whole) * least;
}

/* How much of one dimension may stay: the last round of a loop, where it is no more than half of
 * a round, can have a single iteration of one inside. */
static double staying(const struct uneven_view *view, const struct uneven_part *part, int d)
{
	double extent = extent_of(view, d), most = 0;
	for (int j = view->frame->count - 1; j > part->level; j--) {
		if (part->bound[j][d] <= 1)
			continue;
		double round = (double)part->rest[j][d] * (double)view->inside[j][d];
		double last = extent - (ceil(extent / round) - 1) * round;
		most = fmax(most, last <= round / 2 ? last : 0);
	}
	double round = (double)part->most[d] * (double)view->inside[part->level][d];
	return fmax(most, floor(fmin(extent / 3, round / 2)));
}

/* Whether all loops of a dimension may lie inside. */
static bool may_stay_open(const struct uneven_view *view, const struct uneven_part *part, int d)
{
	int j = part->level;
	return uneven_is_open(view, part, d) && view->edge[j][d] == 1 &&
	       part->most[d] >= uneven_cover(view, j, d);
}

/* Loops of a chosen level: the run of those that do not move the dataspace, if one ends it. */
static void follow_level(
	const struct uneven_view *view, const struct uneven_part *part, int j, struct flow *flow)
{
	uint32_t relevant = space_of(view, flow->t)->relevant;
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

/* Whether a level is too small for what a dataspace needs inside part->level: some loop between
 * them moves it. */
static bool moves_inside(
	const struct uneven_view *view, const struct uneven_part *part, int t, int c)
{
	const struct hierarchy *hierarchy = view->frame->search->hierarchy;
	double tile = 1;
	for (uint32_t left = space_of(view, t)->relevant; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		tile *= fmin(
			extent_of(view, d), (double)part->least[d] * (double)view->inside[c][d]);
	}
	int64_t size = hierarchy->levels[view->frame->level[c]].size;
	return size && tile > (double)size;
}

static void pass(const struct uneven_view *view, int k, struct flow *flow)
{
	int t = flow->t, c = view->chain[t][k], p = view->chain[t][k - 1];
	uint32_t relevant = space_of(view, t)->relevant;
	flow->served[k] = rounds(view, flow->cut, relevant, p, flow->words, flow->whole);
	flow->entering[k] = rounds(view, flow->cut, relevant, c, flow->words, flow->whole);
}

/* Whose ranks have one dimension each. */
static void follow_plain(
	const struct uneven_view *view, const struct uneven_part *part, struct flow *flow)
{
	const struct shape *shape = view->frame->search->shape;
	int t = flow->t, k = 1, last = view->chain_count[t] - 1;
	uint32_t relevant = space_of(view, t)->relevant;
	flow->words = flow->whole = 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		flow->cut[d] = INFINITY;
		if (!(relevant >> d & 1))
			continue;
		flow->words *= extent_of(view, d);
		flow->whole *= extent_of(view, d) - staying(view, part, d);
	}
	for (int j = view->frame->count - 1; j >= 0 && j >= part->level; j--) {
		if (j > part->level)
			follow_level(view, part, j, flow);
		else if ((part->first >= 0 && relevant >> part->first & 1) ||
			 (k <= last && moves_inside(view, part, t, view->chain[t][k])))
			for (int d = 0; d < shape->dimension_count; d++)
				flow->cut[d] = may_stay_open(view, part, d) ? INFINITY
									    : (double)part->most[d];
		for (; k <= last && view->chain[t][k] == j - 1; k++)
			pass(view, k, flow);
	}
	for (; k <= last; k++)
		pass(view, k, flow);
	static const double once[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	int innermost = view->chain[t][last];
	flow->multiplied =
		view->direct
			? rounds(view, once, relevant, innermost, flow->words, flow->words)
			: rounds(view, flow->cut, relevant, innermost, flow->words, flow->whole);
}

/* Whose tiles may overlap: every word enters once; a multiplier's word serves no more of them than
 * find the same sum of indices. */
static void follow_sliding(const struct uneven_view *view, struct flow *flow)
{
	const struct shape *shape = view->frame->search->shape;
	const struct nest_space *space = space_of(view, flow->t);
	int last = view->chain_count[flow->t] - 1, innermost = view->chain[flow->t][last];
	double macs = 1, group = 1;
	flow->words = 1;
	for (int r = 0; r < shape->spaces[flow->t].rank_count; r++) {
		double reach = 1, most = 1;
		for (uint32_t own = space->own[r]; own; own &= own - 1) {
			int d = __builtin_ctz(own);
			reach += extent_of(view, d) - 1;
			most = fmax(most, (double)view->inside[innermost][d]);
		}
		flow->words *= reach;
		group /= most;
	}
	for (int d = 0; d < shape->dimension_count; d++) {
		macs *= extent_of(view, d);
		group *= (double)view->inside[innermost][d];
	}
	if (view->frame->timeloop) /* averages are rounded */
		flow->words = 0;
	for (int k = 1; k <= last; k++)
		flow->served[k] = flow->entering[k] = flow->words;
	flow->multiplied = view->direct && !view->frame->timeloop ? fmax(flow->words, macs / group)
								  : flow->words;
}

static void take(const struct uneven_view *view, const struct flow *flow, int j, double reads,
	double fills, double updates, struct least *least)
{
	const struct nest_level *level =
		&view->frame->search->hierarchy->levels[view->frame->level[j]];
	double scale = level->rate_scale[flow->t];
	least->reads[j] += reads * scale;
	least->writes[j] += (fills + updates) * scale;
	least->words[j] += reads + fills + updates;
	least->pj += reads * view->pj[j][NEST_READ] + fills * view->pj[j][NEST_FILL] +
		     updates * view->pj[j][NEST_UPDATE];
}

static void read_only(const struct uneven_view *view, const struct flow *flow, struct least *least)
{
	int last = view->chain_count[flow->t] - 1;
	for (int k = 0; k <= last; k++)
		take(view, flow, view->chain[flow->t][k],
			k < last ? flow->served[k + 1] : flow->multiplied,
			k > 0 ? flow->entering[k] : 0, 0, least);
}

/* How many children at most enter the same words together. */
static double group_of(const struct uneven_view *view, int t, int p, int c)
{
	double group = 1;
	for (int d = 0; d < view->frame->search->shape->dimension_count; d++)
		if (!(space_of(view, t)->relevant >> d & 1))
			group *= (double)view->inside[p][d] / (double)view->inside[c][d];
	return group;
}

/*
 * Partial sums.  g[k] groups enter and drain between chain[k - 1] and chain[k]; each drain is an
 * update outside.  Inside, the updates that are no first visits read, and first visits are no
 * more than what enters: g[k + 1] - group * g[k] at least.  More groups cost updates and save
 * reads; a share of the reads small enough not to make that worth while is a bound for any g.
 */
static void written(const struct uneven_view *view, const struct flow *flow, struct least *least)
{
	int t = flow->t, last = view->chain_count[t] - 1;
	int home = view->chain[t][0];
	double first = flow->words * group_of(view, t, view->frame->count, home);
	double spared = 0; /* of a read at chain[k - 1], what the bound counts per group */
	for (int k = 0; k <= last; k++) {
		int j = view->chain[t][k];
		double updates = k < last ? flow->served[k + 1] : flow->multiplied, fills = 0;
		double reads = k == 0 ? fmax(updates - first, 0) : 0;
		if (k == 1)
			fills = fmax(flow->served[1] - first, 0);
		take(view, flow, j, reads, fills, updates, least);
		double read_pj = view->pj[j][NEST_READ];
		if (k > 0 && read_pj > 0) {
			int parent = view->chain[t][k - 1];
			double group = group_of(view, t, parent, j);
			double worth = view->pj[parent][NEST_UPDATE] + spared;
			double share = fmin(1, worth / (read_pj * group));
			least->pj += share * read_pj * (updates - group * flow->served[k]);
			spared = share * read_pj;
		} else {
			spared = 0;
		}
	}
}

static double port_cycles(double words, double instances, struct ratio rate)
{
	return rate.num ? words * (double)rate.den / (instances * (double)rate.num) : 0;
}

/* Without those of networks. */
static double cycles_of(
	const struct uneven_view *view, const struct least *least, double array_cycles)
{
	const struct hierarchy *hierarchy = view->frame->search->hierarchy;
	double cycles = view->cycles + array_cycles, waiting = 0;
	for (int j = 0; j < view->frame->count; j++) {
		const struct nest_level *level = &hierarchy->levels[view->frame->level[j]];
		double all = view->instances[j], reads = least->reads[j], writes = least->writes[j];
		waiting = fmax(waiting, port_cycles(reads, all, level->read_rate));
		waiting = fmax(waiting, port_cycles(writes, all, level->write_rate));
		waiting = fmax(waiting, port_cycles(reads + writes, all, level->shared_rate));
	}
	return fmax(cycles, ceil(waiting * MARGIN));
}

static double network_cycles_of(const struct hierarchy *hierarchy)
{
	double cycles = 0;
	for (int i = 0; i < hierarchy->level_count; i++)
		cycles += (double)(hierarchy->levels[i].fill_cycles +
				   hierarchy->levels[i].drain_cycles);
	return cycles;
}

static void add_space(
	const struct uneven_view *view, const struct uneven_part *part, int t, struct least *least)
{
	struct flow flow = {.t = t};
	bool plain = space_of(view, t)->plain, sums = view->frame->search->shape->spaces[t].written;
	if (view->frame->flagged || (sums && !plain))
		return;
	if (plain)
		follow_plain(view, part, &flow);
	else
		follow_sliding(view, &flow);
	(sums ? written : read_only)(view, &flow, least);
}

static struct score score_of(
	const struct uneven_view *view, const struct least *least, double array_cycles)
{
	const struct nest_search *search = view->frame->search;
	const struct hierarchy *hierarchy = search->hierarchy;
	double macs = 1, leaking = cycles_of(view, least, array_cycles);
	double cycles = leaking + network_cycles_of(hierarchy);
	leaking = view->frame->timeloop ? leaking : cycles;
	for (int d = 0; d < search->shape->dimension_count; d++)
		macs *= extent_of(view, d);
	double pj = macs * hierarchy->compute_pj + least->pj;
	for (int i = 0; i < hierarchy->level_count; i++)
		pj += hierarchy->levels[i].leak_pj * leaking *
		      view->utilized[hierarchy->levels[i].gated_at];
	struct score score = {.feasible = true,
		.cycles = cycles < 0x1p62 ? (int64_t)cycles : INT64_MAX / 2,
		.energy_pj = pj * ENERGY_MARGIN};
	for (int j = 0; j < view->frame->count; j++) {
		double words = floor(least->words[j] * MARGIN);
		const struct nest_level *level = &hierarchy->levels[view->frame->level[j]];
		score.accesses[view->frame->level[j]] = words < 0x1p53 ? (int64_t)words : 0;
		if (j == view->frame->count - 1)
			score.hbm_bytes =
				(int64_t)fmin(words * (double)level->word_bits / 8, 0x1p62);
	}
	return score;
}

struct score uneven_view_bound(const struct uneven_view *view, const struct uneven_part *part)
{
	struct least least = {.pj = 0};
	for (int t = 0; t < view->frame->search->shape->space_count; t++)
		add_space(view, part, t, &least);
	return score_of(view, &least, uneven_array(view));
}

/* Bits of the space's free residency that are of a dataspace. */
static uint64_t free_bits(const struct space *space, int t)
{
	uint64_t bits = 0;
	for (int i = 0; i < space->free_count; i++)
		bits |= (uint64_t)(space->free[i].space == t) << i;
	return bits;
}

struct score uneven_view_bound_anywhere(struct uneven_view *view)
{
	const struct space *space = view->frame->search->space;
	struct uneven_part part = {.level = view->frame->count, .first = -1};
	struct least sum = {.pj = 0};
	for (int t = 0; t < view->frame->search->shape->space_count; t++) {
		uint64_t all = free_bits(space, t), bits = all;
		double least_pj = INFINITY;
		for (bool more = true; more; bits = (bits - 1) & all) {
			struct least least = {.pj = 0};
			more = bits != 0;
			view->mapping.residency[t] = space->blank.residency[t];
			for (int i = 0; i < space->free_count; i++)
				if (bits >> i & 1)
					view->mapping.residency[t] |= 1u << space->free[i].row;
			uneven_view_keep(view, t);
			if (!view->chain_count[t])
				continue;
			add_space(view, &part, t, all ? &least : &sum);
			least_pj = fmin(least_pj, least.pj);
		}
		sum.pj += least_pj;
	}
	return score_of(view, &sum, nest_skew_least(view->frame, &view->mapping));
}
