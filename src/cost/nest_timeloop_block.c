#include "cost/nest_timeloop_block.h"

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

static void serve(struct nest_served *served, int64_t children, int64_t groups, double words)
{
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
		served->count++;
	}
	served->at[k].words += words;
}

/*
 * Where children take their words, as one number each: the place in every rank,
 * in units of the greatest step that all loops of the block share, in a mixed
 * radix wide enough for differences of both signs.
 */
struct places {
	int64_t count, width; /* children; of a row of the physical block */
	int64_t *key, *scratch;
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
	const struct nest_move *move, int64_t *out)
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
	} at[NEST_SERVED_MOST];
};

static int compare_keys(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void add_group(struct groups *groups, int64_t size)
{
	groups->groups++;
	for (int k = 0; k < groups->count; k++)
		if (groups->at[k].size == size) {
			groups->at[k].count++;
			return;
		}
	if (groups->count < NEST_SERVED_MOST) {
		groups->at[groups->count].size = size;
		groups->at[groups->count++].count = 1;
	}
}

/* The first `count` keys of the scratch. */
static struct groups group(struct places *places, int64_t count, bool shares)
{
	struct groups groups = {.children = count};
	if (!shares) {
		groups.groups = count;
		groups.count = count > 0;
		groups.at[0].size = 1;
		groups.at[0].count = count;
		return groups;
	}
	qsort(places->scratch, (size_t)count, sizeof *places->scratch, compare_keys);
	for (int64_t from = 0, to; from < count; from = to) {
		to = from + 1;
		while (to < count && places->scratch[to] == places->scratch[from])
			to++;
		add_group(&groups, to - from);
	}
	return groups;
}

static struct groups group_all(struct places *places, bool shares)
{
	memcpy(places->scratch, places->key, (size_t)places->count * sizeof *places->key);
	return group(places, places->count, shares);
}

static struct groups group_served(struct places *places, int64_t away, bool shares)
{
	int64_t count = 0;
	for (int64_t c = 0; c < places->count; c++)
		if (!handed_on(places, c, away))
			places->scratch[count++] = places->key[c];
	return group(places, count, shares);
}

static void serve_groups(
	struct nest_served *served, const struct groups *groups, int64_t words, double times)
{
	for (int k = 0; k < groups->count; k++)
		serve(served, groups->at[k].size, groups->at[k].count,
			(double)words * (double)groups->at[k].count * times);
}

/*
 * Advances of loop j that follow one which brought a tile of the same shape, so that neighbours
 * can have it.  Before an advance of j > 0 loop 0 advanced; before one of loop 0 came the
 * first tile of all or an advance of another loop.
 */
static double follows_alike(const struct nest_moves *moves, int j)
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
	const struct nest_moves *moves, bool shares, bool links, struct nest_served *out)
{
	struct groups all = group_all(places, shares);
	serve_groups(out, &all, moves->tile, 1);
	for (int j = 0; j < moves->count; j++) {
		const struct nest_move *move = &moves->at[j];
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

enum { PLACES_ON_STACK = 2048 };

bool nest_block_serve(const struct nest_model *model, const struct nest_loops *loops,
	const struct dataspace *space, int block, const struct nest_moves *moves, bool shares,
	bool links, struct nest_served *out)
{
	out->count = 0;
	out->links = 0;
	if (loops->fan[block] == 1) {
		double words = (double)moves->tile;
		for (int j = 0; j < moves->count; j++)
			words += (double)moves->at[j].words * moves->at[j].times;
		serve(out, 1, 1, words);
		return true;
	}
	struct places places = {
		.count = loops->fan[block],
		.width = number_max(model->hierarchy->levels[block].fanout_x, loops->fan_x[block]),
	};
	if (!measure_places(loops, space, block, &places))
		return false;
	int64_t stack[2 * PLACES_ON_STACK];
	struct arena *arena = places.count > PLACES_ON_STACK ? arena_open() : NULL;
	places.key = arena ? arena_array(arena, int64_t, 2 * places.count) : stack;
	places.scratch = places.key + places.count;
	find_places(loops, space, block, &places);
	serve_places(&places, space, moves, shares, links, out);
	arena_close(arena);
	return true;
}
