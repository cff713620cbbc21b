#include "sim/nest/nest_array.h"

#include "base/arena.h"
#include "sim/nest/nest_picture.h"
#include "sim/nest/nest_run.h"

#include <string.h>

/* A PE takes something from another, this many PEs away. */
struct hop {
	int64_t from, distance;
	struct hop *next;
};

struct nest_array {
	struct nest_run *run;
	int level;                /* whose instances are the PEs; MULTIPLIERS */
	int64_t arrays, pe_count; /* in the machine; in an array */
	int64_t lanes;            /* multipliers in a PE */
	int64_t width, height;
	int64_t *x, *y;                    /* of a PE in its array */
	int64_t *at;                       /* PE at y * width + x */
	bool shares[SHAPE_SPACES_MOST][2]; /* PEs of a row, of a column have the same tile of it */
	bool hands_on[2];                  /* along X, Y: something is */
	struct hop **hops;                 /* by PE of an array: what it takes */
	/* One after the other, the numbers that grow: all steps; by PE of the machine, when its last
	 * step ended and its tiles had come, and when its pass began. */
	int64_t *steps, *done, *begun;
	int64_t *before; /* tiles that are loaded: PEs of a column by order of their tiles */
	int64_t rate;    /* cycles of a step */
	bool begins;     /* a pass, with the next step */
	int64_t whole;   /* steps of the first pass, once it has ended: none has more */
};

/* Where the slots of nested blocks lie, the outer ones first. */
static void place_pes(struct nest_array *array, int outer)
{
	struct nest_run *run = array->run;
	for (int64_t p = 0; p < array->pe_count; p++) {
		int64_t rest = p, x = 0, y = 0, scale_x = 1, scale_y = 1;
		for (int i = array->level; i < outer; i++) {
			const struct nest_site *site = site_of(run, i);
			int64_t slot = rest % site->block;
			x += slot % site->block_x * scale_x;
			y += slot / site->block_x * scale_y;
			scale_x *= site->block_x;
			scale_y *= site->block / site->block_x;
			rest /= site->block;
		}
		array->x[p] = x;
		array->y[p] = y;
		array->at[y * array->width + x] = p;
	}
}

/* True if two PEs have the same place in a dataspace. */
static bool meet(const struct nest_array *array, int t, int64_t p, int64_t q)
{
	const struct dataspace *space = &array->run->shape->spaces[t];
	int dimensions = array->run->shape->dimension_count;
	const int64_t *shift = site_of(array->run, array->level)->shift;
	int64_t words[2][SHAPE_RANKS_MOST];
	dataspace_word(space, dimensions, &shift[p * dimensions], words[0]);
	dataspace_word(space, dimensions, &shift[q * dimensions], words[1]);
	return memcmp(words[0], words[1], (size_t)space->rank_count * sizeof words[0][0]) == 0;
}

/* What a dataspace has the links of the first row, or column, carry in a step. */
static int64_t count_different(const struct nest_array *array, int t, bool y)
{
	int64_t count = y ? array->height : array->width, step = y ? array->width : 1,
		different = 0;
	for (int64_t i = 0; i < count; i++) {
		bool known = false;
		for (int64_t k = 0; k < i && !known; k++)
			known = meet(array, t, array->at[i * step], array->at[k * step]);
		different += !known;
	}
	return different;
}

static int64_t find_rate(const struct nest_array *array)
{
	int64_t rate = 1;
	for (int t = 0; t < array->run->shape->space_count; t++) {
		bool held = false;
		for (int i = 0; i <= array->level; i++)
			held |= array->run->stores[i][t] != NULL;
		if (!held)
			rate = number_max(rate, number_min(count_different(array, t, false),
							count_different(array, t, true)));
	}
	return rate;
}

struct nest_array *nest_array_open(struct nest_run *run)
{
	const struct hierarchy *hierarchy = run->hierarchy;
	if (!hierarchy->array_end)
		return NULL;
	struct nest_array *array = arena_new(run->arena, struct nest_array);
	array->run = run;
	array->level = hierarchy->array_inner - 1;
	array->width = array->height = 1;
	for (int i = array->level; i < hierarchy->array_end - 1; i++) {
		const struct nest_site *site = site_of(run, i);
		array->width *= site->block_x;
		array->height *= site->block / site->block_x;
	}
	array->pe_count = array->width * array->height;
	int64_t all = site_of(run, array->level)->instances;
	array->arrays = all / array->pe_count;
	array->lanes = site_of(run, MULTIPLIERS)->instances / all;
	array->x = arena_array(run->arena, int64_t, array->pe_count);
	array->y = arena_array(run->arena, int64_t, array->pe_count);
	array->at = arena_array(run->arena, int64_t, array->pe_count);
	array->before = arena_array(run->arena, int64_t, array->height);
	array->hops = arena_array(run->arena, struct hop *, array->pe_count);
	array->steps = arena_array(run->arena, int64_t, 1 + 2 * all);
	array->done = array->steps + 1;
	array->begun = array->done + all;
	place_pes(array, hierarchy->array_end - 1);
	for (int y = 0; y < 2; y++)
		for (int t = 0; t < run->shape->space_count; t++) {
			int64_t pes = y ? array->height : array->width;
			array->shares[t][y] = count_different(array, t, y == 1) < pes;
			array->hands_on[y] |= array->shares[t][y];
		}
	array->rate = find_rate(array);
	array->begins = true;
	return array;
}

/* The next PE from p on in a direction that has the same words: its first multiplier of the crew,
 * and how far it is.  -1: there is none. */
static int64_t look(const struct nest_array *array, int t, const int64_t *crew, int64_t n, int dx,
	int dy, int64_t *distance)
{
	int64_t p = n / array->lanes;
	int64_t x = array->x[p] + dx, y = array->y[p] + dy;
	if (!array->shares[t][dy != 0])
		return -1;
	for (*distance = 1; x >= 0 && x < array->width && y >= 0 && y < array->height;
		x += dx, y += dy, ++*distance) {
		int64_t other = array->at[y * array->width + x], first = other * array->lanes;
		if (!meet(array, t, p, other))
			continue;
		for (int64_t lane = 0; lane < array->lanes; lane++)
			if (crew[first + lane] == crew[n])
				return first + lane;
	}
	return -1;
}

static void add_hop(struct nest_array *array, int64_t to, int64_t from, int64_t distance)
{
	for (const struct hop *hop = array->hops[to]; hop; hop = hop->next)
		if (hop->from == from)
			return;
	struct hop *hop = arena_new(array->run->arena, struct hop);
	*hop = (struct hop){from, distance, array->hops[to]};
	array->hops[to] = hop;
}

/* The neighbour before or after multiplier n of an array whose crews are given. */
static int64_t find_partner(
	struct nest_array *array, int t, const int64_t *crew, bool sums, int64_t n)
{
	int64_t p = n / array->lanes, distance;
	int step = sums ? 1 : -1;
	for (int64_t lane = n % array->lanes + step; lane >= 0 && lane < array->lanes; lane += step)
		if (crew[p * array->lanes + lane] == crew[n])
			return p * array->lanes + lane;
	int64_t partner = look(array, t, crew, n, step, 0, &distance);
	if (partner < 0)
		partner = look(array, t, crew, n, 0, step, &distance);
	if (partner >= 0 && sums)
		add_hop(array, partner / array->lanes, p, distance);
	else if (partner >= 0)
		add_hop(array, p, partner / array->lanes, distance);
	return partner;
}

const int64_t *nest_array_link(
	struct nest_array *array, int t, const int64_t *crew, struct arena *arena)
{
	bool sums = array->run->shape->spaces[t].written;
	int64_t count = array->pe_count * array->lanes;
	int64_t *partner = arena_array(arena, int64_t, count * array->arrays);
	for (int64_t first = 0; first < count * array->arrays; first += count)
		for (int64_t n = 0; n < count; n++) {
			int64_t other = find_partner(array, t, crew + first, sums, n);
			partner[first + n] = other < 0 ? -1 : first + other;
		}
	return partner;
}

static void step_array(struct nest_array *array, int64_t *done, int64_t *begun)
{
	int64_t rest = array->rate - 1; /* of a step, when the next PE may begin it */
	for (int64_t p = 0; p < array->pe_count; p++) {
		int64_t x = array->x[p], y = array->y[p], begin = done[p];
		if (array->hands_on[0] && x > 0)
			begin = number_max(begin, done[array->at[y * array->width + x - 1]] - rest);
		if (array->hands_on[1] && y > 0)
			begin = number_max(
				begin, done[array->at[(y - 1) * array->width + x]] - rest);
		for (const struct hop *hop = array->hops[p]; hop; hop = hop->next)
			begin = number_max(begin, done[hop->from] - rest + hop->distance - 1);
		done[p] = begin + array->rate;
		if (array->begins)
			begun[p] = begin;
	}
}

void nest_array_step(struct nest_array *array)
{
	for (int64_t a = 0; a < array->arrays; a++)
		step_array(array, &array->done[a * array->pe_count],
			&array->begun[a * array->pe_count]);
	array->begins = false;
	++*array->steps;
}

static bool overlaps(const struct nest_array *array)
{
	return array->run->hierarchy->array_overlaps;
}

/* When a PE is through with its pass: where they overlap, all are as long as the first one. */
static int64_t find_end(const struct nest_array *array, int64_t p)
{
	int64_t end = array->done[p];
	if (overlaps(array) && !array->begins)
		end = number_max(end, array->begun[p] + array->whole * array->rate);
	return end;
}

static int64_t find_last(const struct nest_array *array)
{
	int64_t last = 0;
	for (int64_t p = 0; p < array->arrays * array->pe_count; p++)
		last = number_max(last, find_end(array, p));
	return last;
}

/*
 * Tiles of one dataspace enter a column, those of the farthest PEs first, that of the first PE last:
 * word number w of all passes PE y in cycle w + y.  The head gets them a cycle after the one of
 * the column before if they are the same.  When the last has entered.
 */
static int64_t load_column(struct nest_array *array, const struct nest_store *store, int64_t x,
	int64_t from, int64_t *done)
{
	int64_t *number = array->before, count = 0;
	for (int64_t y = array->height - 1; y >= 0; y--)
		number[y] = -1;
	for (int64_t y = array->height - 1; y >= 0; y--) {
		int64_t p = array->at[y * array->width + x];
		if (number[y] >= 0 || (y > 0 && meet(array, store->space, p, array->at[x])))
			continue;
		for (int64_t k = y; k >= 0; k--)
			if (meet(array, store->space, p, array->at[k * array->width + x]))
				number[k] = count;
		count++;
	}
	for (int64_t y = 0; y < array->height; y++) {
		int64_t p = array->at[y * array->width + x];
		/* Others that have the first PE's tile get it with that. */
		int64_t tile = number[y] < 0 ? number[0] : number[y];
		done[p] = number_max(done[p], from + (tile + 1) * store->room + y);
	}
	return from + count * store->room;
}

static void load_array(
	struct nest_array *array, const struct nest_store *store, int64_t *from, int64_t *done)
{
	int64_t last = *from;
	for (int64_t x = 0; x < array->width; x++) {
		int64_t shared = x > 0 && meet(array, store->space, array->at[x], array->at[x - 1]);
		int64_t late = shared ? x : 0,
			end = load_column(array, store, x, *from + late, done);
		last = number_max(last, end - late);
	}
	*from = last;
}

/* The outermost level in the PEs that holds a dataspace which comes from outside. */
static const struct nest_store *find_store(const struct nest_array *array, int t)
{
	for (int i = array->level; i >= 0; i--) {
		const struct nest_store *store = array->run->stores[i][t];
		if (store)
			return store->home ? NULL : store;
	}
	return NULL;
}

void nest_array_turn(struct nest_array *array)
{
	const struct shape *shape = array->run->shape;
	bool ends = false;
	for (int t = 0; t < shape->space_count; t++) {
		const struct nest_store *store = find_store(array, t);
		ends |= store && store->moving;
	}
	if (!ends)
		return;
	int64_t last = find_last(array);
	if (*array->steps && !array->whole)
		array->whole = *array->steps;
	for (int64_t p = 0; p < array->arrays * array->pe_count; p++)
		array->done[p] = overlaps(array) ? find_end(array, p) : last;
	for (int64_t a = 0; a < array->arrays; a++) {
		int64_t first = a * array->pe_count;
		/* The second buffers have been free since the pass began. */
		int64_t from = overlaps(array) ? array->begun[first + array->at[0]] : last;
		for (int t = 0; t < shape->space_count; t++) {
			const struct nest_store *store = find_store(array, t);
			if (store && store->moving && !store->written)
				load_array(array, store, &from, &array->done[first]);
		}
	}
	array->begins = true;
}

int64_t nest_array_lag(const struct nest_array *array)
{
	return find_last(array) - *array->steps;
}

/* True if passes end in loop k. */
static bool turns_in(const struct nest_array *array, int k)
{
	bool turns = false;
	for (int t = 0; t < array->run->shape->space_count; t++) {
		const struct nest_store *store = find_store(array, t);
		turns |= store && store->pace >= k;
	}
	return turns;
}

/* When PEs are through with their steps, and when a pass that has fewer steps than the first one ends: find_last
 * is the later of the two. */
static void find_ends(const struct nest_array *array, int64_t *steps, int64_t *pass)
{
	*steps = *pass = 0;
	for (int64_t p = 0; p < array->arrays * array->pe_count; p++) {
		*steps = number_max(*steps, array->done[p]);
		*pass = number_max(*pass, array->begun[p] + array->whole * array->rate);
	}
	if (!overlaps(array) || array->begins)
		*pass = 0;
}

void nest_array_draw(const struct nest_array *array, int k, struct nest_picture *picture)
{
	bool turns = turns_in(array, k);
	int64_t steps, pass;
	for (int64_t p = 0; p < array->arrays * array->pe_count; p++) {
		nest_picture_number(picture, array->done[p] - array->done[0]);
		if (turns)
			nest_picture_number(picture, array->begun[p] - array->done[0]);
	}
	find_ends(array, &steps, &pass);
	nest_picture_number(picture, !turns && pass >= steps);
	nest_picture_number(picture, array->begins);
	nest_picture_number(picture, array->whole);
	nest_picture_number(picture, nest_array_lag(array) - array->run->counts.array_cycles);
}

struct nest_numbers nest_array_numbers(struct nest_array *array)
{
	size_t pes = (size_t)(array->arrays * array->pe_count);
	return (struct nest_numbers){array->steps, 1 + 2 * pes};
}

/* Where passes do not end in the loop, but last as long as the first one, that must go on so. */
bool nest_array_goes_on(const struct nest_array *array, const int64_t *since, int k, int64_t times)
{
	int64_t steps, pass, passed;
	find_ends(array, &steps, &pass);
	return turns_in(array, k) || pass < steps ||
	       (number_mul(times, array->done[0] - since[1], &passed) && passed <= pass - steps);
}
