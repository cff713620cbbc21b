#include "cost/nest/nest_count.h"

#include "base/arena.h"
#include "base/wide.h"
#include "cost/nest/nest_home.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The moves of the tile of one child while the temporal loops around it run, by
 * Timeloop's rules.  A loop of bound n is looked at twice, at its first
 * iteration and at its second, which stands for the n - 1 others; so between two
 * iterations of loop j all loops inside it fall back by one step, not by n - 1.
 *
 * Symbols: t_j the step of loop j in the dataspace's ranks, tau_j = t_j - sum of
 * t_i over the loops i inside j: what the tile moves when j advances.  Loop a is the innermost
 * with t_a != 0.  The words that an advance of j brings:
 *
 *	j = a:            what the tile at t_a does not share with the tile at 0
 *	tau_j = 0:        none
 *	tau_j = t_a:      as for a; the direction has not changed
 *	any other tau_j:  the whole tile: a change of direction drops what is left
 *
 * For every j > a the move before was one by t_a, or followed one; that is why
 * tau_j is compared with t_a alone.  An advance of j happens (n_j - 1) * product
 * of the bounds outside j times, and the first tile comes once.
 */
enum { NEST_MOVES_MOST = 64 };

struct timeloop_move {
	double times;                   /* advances of this loop */
	int64_t words;                  /* that each brings */
	int64_t step[SHAPE_RANKS_MOST]; /* tau */
};

struct timeloop_moves {
	int64_t tile;      /* words */
	int count;         /* temporal loops around the child */
	double iterations; /* of the innermost of them, without the first: bound - 1; 0 if none */
	struct timeloop_move at[NEST_MOVES_MOST]; /* innermost first */
};

/* `whole`: nothing is kept from one iteration to the next. */
static void nest_moves_find(const struct nest_loops *loops, const struct dataspace *space,
	int dimension_count, int block, bool whole, struct timeloop_moves *out);

/* The step of a loop in one rank. */
static inline int64_t nest_step(
	const struct dataspace *space, int rank, const struct nest_loop *loop)
{
	return space->ranks[rank].coefficient[loop->dimension] * loop->stride;
}

/*
 * The words that one instance of a level serves to the block below it, as Timeloop
 * records them: accesses by (m, s), where s groups of m children each take the
 * identical words at the same time.  Sums run in the order of m, then s, so that
 * they round as Timeloop's do.
 *
 * Hops are Manhattan distances: words enter the physical block at x = 0, half way
 * along Y, go along X to the farthest column of a group, and from that line up
 * and down the columns, each to the group's farthest child there.  Children stand
 * in rows, in the order of their numbers.
 */
enum { NEST_SERVED_MOST = 128 };

struct nest_served {
	int count;
	struct {
		int64_t children, groups; /* m, s */
		double words;
		double hops; /* of a word to all m children, on average */
	} at[NEST_SERVED_MOST];
	double links; /* words that children hand to neighbours */
};

static double nest_served_words(const struct nest_served *served);
static double nest_served_delivered(const struct nest_served *served);

/*
 * Children of one block: each takes the same box, moved by its place.  A child
 * takes its words from a neighbour (4 of them, no wrap-around) that got the
 * identical words one advance earlier, but only if the level then serves fewer
 * words.  `shares`: identical words are served once; `links`: neighbours hand on.  False when
 * places do not fit an int64_t.  Allocates for blocks of more than 2048 children.
 */
static bool nest_block_serve(const struct nest_model *model, const struct nest_loops *loops,
	const struct dataspace *space, int block, const struct timeloop_moves *moves, bool shares,
	bool links, struct nest_served *out);

/* Words of a box that the same box, moved, does not cover. */
static int64_t nest_timeloop_uncovered(
	const int64_t *extent, const int64_t *step, int rank_count, int64_t words)
{
	int64_t shared = 1;
	for (int r = 0; r < rank_count; r++) {
		int64_t away = step[r] < 0 ? -step[r] : step[r];
		shared *= away < extent[r] ? extent[r] - away : 0;
	}
	return words - shared;
}

static bool equal_steps(const int64_t *a, const int64_t *b, int rank_count)
{
	int64_t apart = 0;
	for (int r = 0; r < rank_count; r++)
		apart |= a[r] ^ b[r];
	return apart == 0;
}

static void nest_moves_find(const struct nest_loops *loops, const struct dataspace *space,
	int dimension_count, int block, bool whole, struct timeloop_moves *out)
{
	static const int64_t still[SHAPE_RANKS_MOST];
	int64_t extent[SHAPE_RANKS_MOST], inside[SHAPE_RANKS_MOST] = {0};
	out->tile = 1;
	for (int r = 0; r < space->rank_count; r++) {
		extent[r] = 1;
		for (int d = 0; d < dimension_count; d++)
			extent[r] += space->ranks[r].coefficient[d] * (loops->child[block][d] - 1);
		out->tile *= extent[r];
	}
	out->count = 0;
	out->iterations = 0;
	const struct timeloop_move *first = NULL;
	for (int l = loops->own[block]; l < loops->count; l++) {
		const struct nest_loop *loop = &loops->at[l];
		if (loop->spatial)
			continue;
		if (out->count == 0)
			out->iterations = (double)(loop->bound - 1);
		struct timeloop_move *move = &out->at[out->count++];
		move->times = (double)loop->bound;
		for (int r = 0; r < space->rank_count; r++) {
			int64_t step = nest_step(space, r, loop);
			move->step[r] = step - inside[r];
			inside[r] += step;
		}
		if (whole) {
			move->words = out->tile;
		} else if (equal_steps(move->step, still, space->rank_count)) {
			move->words = 0;
		} else if (!first) {
			first = move;
			move->words = nest_timeloop_uncovered(
				extent, move->step, space->rank_count, out->tile);
		} else {
			bool on = equal_steps(move->step, first->step, space->rank_count);
			move->words = on ? first->words : out->tile;
		}
	}
	double outside = 1;
	for (int j = out->count - 1; j >= 0; j--) {
		double bound = out->at[j].times;
		out->at[j].times = (bound - 1) * outside;
		outside *= bound;
	}
}

static double nest_served_words(const struct nest_served *served)
{
	double sum = 0;
	for (int k = 0; k < served->count; k++)
		sum += served->at[k].words;
	return sum;
}

static double nest_served_delivered(const struct nest_served *served)
{
	double sum = 0;
	for (int k = 0; k < served->count; k++)
		sum += served->at[k].words * (double)served->at[k].children;
	return sum;
}

/* `hops`: of all the groups together. */
static void timeloop_serve(
	struct nest_served *served, int64_t children, int64_t groups, double words, double hops)
{
	double each = hops / (double)groups;
	int k = 0;
	while (k < served->count &&
		(served->at[k].children < children ||
			(served->at[k].children == children && served->at[k].groups < groups)))
		k++;
	bool there = k < served->count && served->at[k].children == children &&
		     served->at[k].groups == groups;
	/* A full record merges what differs in s alone: sums stay, their rounding may not. */
	if (!there && served->count == NEST_SERVED_MOST) {
		k = k < served->count ? k : served->count - 1;
		there = true;
	}
	if (!there) {
		memmove(&served->at[k + 1], &served->at[k],
			(size_t)(served->count - k) * sizeof served->at[0]);
		served->at[k].children = children;
		served->at[k].groups = groups;
		served->at[k].words = 0;
		served->at[k].hops = each;
		served->count++;
	}
	double before = served->at[k].words;
	served->at[k].words += words;
	if (served->at[k].hops != each)
		served->at[k].hops =
			(served->at[k].hops * before + each * words) / served->at[k].words;
}

/* All words to one child, which is where they enter. */
static void serve_whole(struct nest_served *served, double words)
{
	served->count = 0;
	served->links = 0;
	timeloop_serve(served, 1, 1, words, 0);
}

/*
 * The places of the words that children take, as one number each: the place in every rank,
 * in units of the greatest step that all loops of the block share, in a mixed
 * radix wide enough for differences of both signs.
 */
struct child_place {
	int64_t key, column, row;
};

struct places {
	int64_t count, width; /* children; of a row of the physical block */
	bool priced;          /* hops are wanted */
	double middle;        /* row, from 0, at which words enter the block */
	int64_t *key;         /* by child */
	struct child_place *scratch;
	int64_t unit[SHAPE_RANKS_MOST], reach[SHAPE_RANKS_MOST], radix[SHAPE_RANKS_MOST];
};

/* False when the numbers do not fit. */
static bool measure_places(const struct nest_loops *loops, const struct dataspace *space, int block,
	struct places *out)
{
	int64_t radix = 1;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t unit = 0, reach = 0;
		for (int l = loops->block[block]; l < loops->own[block]; l++) {
			int64_t step = nest_step(space, r, &loops->at[l]);
			unit = number_gcd(unit, step);
			reach += step * (loops->at[l].bound - 1);
		}
		out->unit[r] = unit ? unit : 1;
		out->reach[r] = reach / out->unit[r];
		out->radix[r] = radix;
		if (!number_mul(radix, 2 * out->reach[r] + 1, &radix))
			return false;
	}
	return true;
}

static void nest_loops_find_places(const struct nest_loops *loops, const struct dataspace *space,
	int block, struct places *places)
{
	places->key[0] = 0;
	int64_t filled = 1;
	for (int l = loops->block[block]; l < loops->own[block]; l++) {
		const struct nest_loop *loop = &loops->at[l];
		int64_t step = 0;
		for (int r = 0; r < space->rank_count; r++)
			step += nest_step(space, r, loop) / places->unit[r] * places->radix[r];
		for (int64_t index = 1; index < loop->bound; index++)
			for (int64_t k = 0; k < filled; k++)
				places->key[index * filled + k] = places->key[k] + index * step;
		filled *= loop->bound;
	}
}

/* The difference of keys that a move makes; false if no two children are that far apart. */
static bool key_of_move(const struct places *places, const struct dataspace *space,
	const struct timeloop_move *move, int64_t *out)
{
	*out = 0;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t away = move->step[r] / places->unit[r];
		if (move->step[r] % places->unit[r] || llabs(away) > places->reach[r])
			return false;
		*out += away * places->radix[r];
	}
	return true;
}

/* True if a neighbour of child c stood, one advance earlier, where c stands now. */
static bool handed_on(const struct places *places, int64_t c, int64_t away)
{
	int64_t wanted = places->key[c] + away, column = c % places->width;
	return (column > 0 && places->key[c - 1] == wanted) ||
	       (column + 1 < places->width && c + 1 < places->count &&
		       places->key[c + 1] == wanted) ||
	       (c >= places->width && places->key[c - places->width] == wanted) ||
	       (c + places->width < places->count && places->key[c + places->width] == wanted);
}

/* Groups of equal keys, by their size. */
struct groups {
	int64_t children, groups; /* in all */
	int count;
	struct {
		int64_t size, count;
		double hops;
	} at[NEST_SERVED_MOST];
};

static int nest_timeloop_compare_places(const void *a, const void *b)
{
	const struct child_place *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Cost of a word to all children of a group, columns one after the other and rows ascending. */
static double hops_to(const struct places *places, const struct child_place *group, int64_t size)
{
	double hops = 0;
	for (int64_t from = 0, to; from < size; from = to) {
		to = from + 1;
		while (to < size && group[to].column == group[from].column)
			to++;
		double up = places->middle - (double)group[from].row;
		double down = (double)group[to - 1].row - places->middle;
		hops += (up > 0 ? up : 0) + (down > 0 ? down : 0);
	}
	return hops + (double)group[size - 1].column;
}

static void add_group(struct groups *groups, int64_t size, double hops)
{
	groups->groups++;
	for (int k = 0; k < groups->count; k++)
		if (groups->at[k].size == size) {
			groups->at[k].count++;
			groups->at[k].hops += hops;
			return;
		}
	if (groups->count < NEST_SERVED_MOST) {
		groups->at[groups->count].size = size;
		groups->at[groups->count].hops = hops;
		groups->at[groups->count++].count = 1;
	}
}

/* The first `count` places of the scratch; without sharing each is a group. */
static struct groups group(struct places *places, int64_t count, bool shares)
{
	struct groups groups = {.children = count};
	if (shares || places->priced)
		qsort(places->scratch, (size_t)count, sizeof *places->scratch,
			nest_timeloop_compare_places);
	for (int64_t from = 0, to; from < count; from = to) {
		to = from + 1;
		while (shares && to < count && places->scratch[to].key == places->scratch[from].key)
			to++;
		double hops =
			places->priced ? hops_to(places, places->scratch + from, to - from) : 0;
		add_group(&groups, to - from, hops);
	}
	return groups;
}

static void take_place(struct places *places, int64_t child, int64_t at)
{
	struct child_place *place = &places->scratch[at];
	place->key = places->key[child];
	place->column = places->priced ? child % places->width : 0;
	place->row = places->priced ? child / places->width : 0;
}

static struct groups group_all(struct places *places, bool shares)
{
	for (int64_t c = 0; c < places->count; c++)
		take_place(places, c, c);
	return group(places, places->count, shares);
}

static struct groups group_served(struct places *places, int64_t away, bool shares)
{
	int64_t count = 0;
	for (int64_t c = 0; c < places->count; c++)
		if (!handed_on(places, c, away))
			take_place(places, c, count++);
	return group(places, count, shares);
}

static void serve_groups(
	struct nest_served *served, const struct groups *groups, int64_t words, double times)
{
	for (int k = 0; k < groups->count; k++)
		timeloop_serve(served, groups->at[k].size, groups->at[k].count,
			(double)words * (double)groups->at[k].count * times, groups->at[k].hops);
}

/*
 * Advances of loop j that follow one which brought a tile of the same shape, so that neighbours
 * can have it.  Before an advance of j > 0 loop 0 advanced; before one of loop 0 came the
 * first tile of all or an advance of another loop.
 */
static double follows_alike(const struct timeloop_moves *moves, int j)
{
	int64_t words = moves->at[j].words;
	if (j > 0)
		return words == moves->at[0].words ? moves->at[j].times : 0;
	double before = words == moves->tile;
	for (int k = 1; k < moves->count; k++)
		if (moves->at[k].words == words)
			before += moves->at[k].times;
	return moves->iterations * before;
}

static void serve_places(struct places *places, const struct dataspace *space,
	const struct timeloop_moves *moves, bool shares, bool links, struct nest_served *out)
{
	struct groups all = group_all(places, shares);
	serve_groups(out, &all, moves->tile, 1);
	for (int j = 0; j < moves->count; j++) {
		const struct timeloop_move *move = &moves->at[j];
		if (!move->words)
			continue;
		double alike = links ? follows_alike(moves, j) : 0;
		int64_t away;
		if (alike > 0 && key_of_move(places, space, move, &away)) {
			struct groups rest = group_served(places, away, shares);
			if (rest.groups < all.groups) {
				serve_groups(out, &rest, move->words, alike);
				out->links += (double)move->words *
					      (double)(places->count - rest.children) * alike;
				if (move->times > alike)
					serve_groups(out, &all, move->words, move->times - alike);
				continue;
			}
		}
		serve_groups(out, &all, move->words, move->times);
	}
}

enum { PLACES_ON_STACK = 1024 };

static bool nest_block_serve(const struct nest_model *model, const struct nest_loops *loops,
	const struct dataspace *space, int block, const struct timeloop_moves *moves, bool shares,
	bool links, struct nest_served *out)
{
	const struct nest_level *level = &model->hierarchy->levels[block];
	if (loops->fan[block] == 1) {
		double words = (double)moves->tile;
		for (int j = 0; j < moves->count; j++)
			words += (double)moves->at[j].words * moves->at[j].times;
		serve_whole(out, words);
		return true;
	}
	out->count = 0;
	out->links = 0;
	struct places places = {
		.count = loops->fan[block],
		.width = number_max(level->fanout.x, loops->fan_x[block]),
		.priced = model->priced_hops,
		.middle = (double)(number_max(level->fanout.y, loops->fan_y[block]) - 1) / 2,
	};
	if (!measure_places(loops, space, block, &places))
		return false;
	int64_t keys[PLACES_ON_STACK];
	struct child_place scratch[PLACES_ON_STACK];
	struct arena *arena = places.count > PLACES_ON_STACK ? arena_open() : NULL;
	places.key = arena ? arena_array(arena, int64_t, places.count) : keys;
	places.scratch = arena ? arena_array(arena, struct child_place, places.count) : scratch;
	nest_loops_find_places(loops, space, block, &places);
	serve_places(&places, space, moves, shares, links, out);
	arena_close(arena);
	return true;
}

/* One dataspace at one level while its counts are made; words per instance. */
struct station {
	struct nest_served served; /* to the block below */
	double content;            /* words accessed for it */
	double share;              /* words from the parent */
	double links;              /* handed on among the children */
	double part;               /* share of the whole dataspace: read first, not refetched */
};

static bool flags_have_space(uint8_t flags, int space)
{
	return flags >> space & 1;
}

static bool dataspace_words(
	const struct dataspace *space, int dimension_count, const int64_t *extents, wide *out)
{
	int64_t words;
	if (!nest_words(space, dimension_count, extents, &words))
		return false;
	*out = words;
	return true;
}

/*
 * The part of a dataspace that is an instance's own, from the outermost level
 * inwards: part(i) = floor(part(i + 1) * tile(i) / tile of the whole block
 * below i + 1); a block without loops changes nothing.
 */
static bool find_parts(const struct nest_model *model, const struct nest_loops *loops, int t,
	struct station *stations)
{
	const struct dataspace *space = &model->shape->spaces[t];
	int dimension_count = model->shape->dimension_count;
	wide part, tile, spanned;
	int outermost = model->hierarchy->level_count - 1;
	if (!dataspace_words(space, dimension_count, loops->tile[outermost], &part))
		return false;
	stations[outermost].part = (double)part;
	for (int i = outermost - 1; i >= 0; i--) {
		if (loops->fan[i + 1] > 1) {
			if (!dataspace_words(space, dimension_count, loops->tile[i], &tile) ||
				!dataspace_words(
					space, dimension_count, loops->block_tile[i + 1], &spanned))
				return false;
			part = part * tile / spanned;
		}
		stations[i].part = (double)part;
	}
	return true;
}

/*
 * Serves from level `outer` in place of the level inside it: as many words per child as that one
 * served, at its own multicast.  The factor is rounded as Timeloop's is: 39 words in place of 77
 * become a little less than 39, and their routers are cut to 38.
 */
static void serve_instead(struct station *stations, int outer, int64_t fan)
{
	struct station *station = &stations[outer];
	double factor =
		stations[outer - 1].content * (double)fan / nest_served_delivered(&station->served);
	for (int k = 0; k < station->served.count; k++)
		station->served.at[k].words *= factor;
	station->links = 0;
	station->content = nest_served_words(&station->served);
}

/* Rounded; false for what no counter holds: a negative number, or one beyond exact doubles. */
static bool nest_timeloop_rounded(double words, int64_t *out)
{
	double whole = round(words);
	if (!(whole >= 0 && whole < 0x1p53))
		return false;
	*out = (int64_t)whole;
	return true;
}

/* Reads, fills and updates of one kept level, all instances. */
static bool take_counts(const struct nest_model *model, const struct nest_loops *loops, int t,
	int i, const struct station *stations, struct nest_count *out)
{
	const struct nest_level *level = &model->hierarchy->levels[i];
	const struct station *station = &stations[i];
	bool home = i == loops->home[t];
	double content = station->content, share = home ? 0 : station->share;
	double peer = home ? 0 : stations[i + 1].links / (double)loops->instances[i];
	int64_t reads, fills, updates = 0;
	bool fits;
	if (!model->shape->spaces[t].written) {
		fits = nest_timeloop_rounded(content + peer, &reads) &&
		       nest_timeloop_rounded(floor(share + peer), &fills);
	} else {
		bool elided = !flags_have_space(level->rmw_first_update, t);
		double part = elided ? station->part : 0;
		bool passes = flags_have_space(level->no_coalesce, t) && !home;
		double filled = home ? 0 : share + peer - part;
		fits = nest_timeloop_rounded(content, &updates) &&
		       nest_timeloop_rounded(content + peer - (passes ? 0 : part), &reads) &&
		       nest_timeloop_rounded(passes ? content + peer : filled, &fills);
	}
	int64_t links = 0;
	if (peer > 0)
		fits &= nest_timeloop_rounded(stations[i + 1].links, &links);
	int64_t instances = loops->instances[i];
	out->links = links;
	return fits && number_mul(reads, instances, &out->reads) &&
	       number_mul(fills, instances, &out->fills) &&
	       number_mul(updates, instances, &out->updates);
}

/* Serves the block below level i; the level inside keeps the dataspace or not. */
static bool serve_level(const struct nest_model *model, const struct nest_loops *loops, int t,
	int i, struct station *stations)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	const struct nest_level *level = &hierarchy->levels[i];
	const struct dataspace *space = &model->shape->spaces[t];
	bool whole = i == 0 || flags_have_space(hierarchy->levels[i - 1].no_temporal_reuse, t);
	struct timeloop_moves moves;
	nest_moves_find(loops, space, model->shape->dimension_count, i, whole, &moves);
	struct nest_served *served = &stations[i].served;
	if (!nest_block_serve(model, loops, space, i, &moves,
		    !flags_have_space(level->no_spatial_reuse, t),
		    !flags_have_space(level->no_link_transfer, t), served))
		return false;
	stations[i].content = nest_served_words(served);
	stations[i].links = served->links;
	if (i == 0)
		return true;
	stations[i - 1].share = 0;
	for (int k = 0; k < served->count; k++)
		stations[i - 1].share += served->at[k].words * (double)served->at[k].children /
					 (double)loops->fan[i];
	return true;
}

/*
 * Adds the words that pass the network below a level, whether it keeps the dataspace or not.  A word
 * touches one router more than whole hops.  If a level cannot add to a sum, the sum that comes up for
 * it goes down first, but for its part of the dataspace (none if it does not keep it), and touches as many
 * routers as that.
 */
static void add_passage(const struct nest_model *model, int t, int i, const struct station *station,
	double part, int64_t instances, struct nest_counts *counts)
{
	bool twice = model->shape->spaces[t].written && !model->hierarchy->levels[i].store.reduces;
	double hops = station->links, routers = 0;
	for (int k = 0; k < station->served.count; k++) {
		double words = station->served.at[k].words, each = station->served.at[k].hops;
		double touching = twice ? 2 * words - part : words;
		hops += each * words;
		if (touching > 0)
			routers =
				floor(routers + (1 + floor(each * (words / touching))) * touching);
	}
	counts->hops[i] += hops * (double)instances;
	counts->routers[i] += (routers + 2 * station->links) * (double)instances;
}

/* From the innermost level to the home. */
static bool count_space(const struct nest_model *model, const struct nest_loops *loops, int t,
	struct nest_counts *counts)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	struct station stations[ARCH_LEVELS_MOST];
	bool passed = false;
	for (int i = 0; i <= loops->home[t]; i++) {
		if (!serve_level(model, loops, t, i, stations))
			return false;
		if (passed)
			serve_instead(stations, i, loops->fan[i]);
		passed = !(loops->kept[i] >> t & 1) ||
			 flags_have_space(hierarchy->levels[i].no_coalesce, t);
	}
	if (model->shape->spaces[t].written && !find_parts(model, loops, t, stations))
		return false;
	bool fits = true;
	for (int i = 0; i <= loops->home[t]; i++) {
		struct nest_count *count = &counts->at[i][t];
		/* Timeloop masks a level that does not coalesce, and takes its counts from the next
		 * one outside; a home has none. */
		if (i == loops->home[t] && flags_have_space(hierarchy->levels[i].no_coalesce, t))
			*count = (struct nest_count){0};
		else if (loops->kept[i] >> t & 1)
			fits &= take_counts(model, loops, t, i, stations, count);
		if (model->priced_hops)
			add_passage(model, t, i, &stations[i],
				loops->kept[i] >> t & 1 ? stations[i].part : 0, loops->instances[i],
				counts);
	}
	return fits;
}

enum nest_verdict nest_timeloop_counts(const struct nest_model *model,
	const struct nest_loops *loops, uint32_t spaces, struct nest_counts *counts,
	struct nest_score *score)
{
	for (int i = 0; i < model->hierarchy->level_count; i++)
		counts->hops[i] = counts->routers[i] = 0;
	for (int t = 0; t < model->shape->space_count; t++)
		if (spaces >> t & 1 && !count_space(model, loops, t, counts)) {
			score->space = t;
			return NEST_MEANINGLESS;
		}
	int64_t cycles = 1;
	for (int l = 0; l < loops->count; l++)
		if (!loops->at[l].spatial)
			cycles *= loops->at[l].bound;
	counts->compute_cycles = cycles;
	counts->utilized_computes = loops->multipliers;
	for (int i = 0; i < model->hierarchy->level_count; i++)
		counts->utilized[i] = loops->instances[i];
	return NEST_FITS;
}
