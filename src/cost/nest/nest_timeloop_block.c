#include "cost/nest/nest_timeloop_block.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

double nest_served_words(const struct nest_served *served)
{
	double sum = 0;
	for (int k = 0; k < served->count; k++)
		sum += served->at[k].words;
	return sum;
}

double nest_served_delivered(const struct nest_served *served)
{
	double sum = 0;
	for (int k = 0; k < served->count; k++)
		sum += served->at[k].words * (double)served->at[k].children;
	return sum;
}

/* `hops`: of all the groups together. */
static void serve(
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
	serve(served, 1, 1, words, 0);
}

/*
 * Where children take their words, as one number each: the place in every rank,
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

static void find_places(const struct nest_loops *loops, const struct dataspace *space, int block,
	struct places *places)
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

/* Whether a neighbour of child c stood, one advance earlier, where c stands now. */
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

static int compare_places(const void *a, const void *b)
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
		qsort(places->scratch, (size_t)count, sizeof *places->scratch, compare_places);
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
		serve(served, groups->at[k].size, groups->at[k].count,
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

bool nest_block_serve(const struct nest_model *model, const struct nest_loops *loops,
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
		.width = number_max(level->fanout_x, loops->fan_x[block]),
		.priced = model->priced_hops,
		.middle = (double)(number_max(level->fanout_y, loops->fan_y[block]) - 1) / 2,
	};
	if (!measure_places(loops, space, block, &places))
		return false;
	int64_t keys[PLACES_ON_STACK];
	struct child_place scratch[PLACES_ON_STACK];
	struct arena *arena = places.count > PLACES_ON_STACK ? arena_open() : NULL;
	places.key = arena ? arena_array(arena, int64_t, places.count) : keys;
	places.scratch = arena ? arena_array(arena, struct child_place, places.count) : scratch;
	find_places(loops, space, block, &places);
	serve_places(&places, space, moves, shares, links, out);
	arena_close(arena);
	return true;
}
