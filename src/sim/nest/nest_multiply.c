#include "sim/nest/nest_run.h"

#include "base/arena.h"

#include <inttypes.h>
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

/* Places the slots of nested blocks, the outer ones first. */
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
static bool nest_array_meet(const struct nest_array *array, int t, int64_t p, int64_t q)
{
	const struct dataspace *space = &array->run->shape->spaces[t];
	int dimensions = array->run->shape->dimension_count;
	const int64_t *shift = site_of(array->run, array->level)->shift;
	int64_t words[2][SHAPE_RANKS_MOST];
	dataspace_word(space, dimensions, &shift[p * dimensions], words[0]);
	dataspace_word(space, dimensions, &shift[q * dimensions], words[1]);
	return memcmp(words[0], words[1], (size_t)space->rank_count * sizeof words[0][0]) == 0;
}

/* Counts the words of a dataspace on the links of the first row, or column, in a step. */
static int64_t count_different(const struct nest_array *array, int t, bool y)
{
	int64_t count = y ? array->height : array->width, step = y ? array->width : 1,
		different = 0;
	for (int64_t i = 0; i < count; i++) {
		bool known = false;
		for (int64_t k = 0; k < i && !known; k++)
			known = nest_array_meet(array, t, array->at[i * step], array->at[k * step]);
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
static int64_t array_look(const struct nest_array *array, int t, const int64_t *crew, int64_t n,
	int dx, int dy, int64_t *distance)
{
	int64_t p = n / array->lanes;
	int64_t x = array->x[p] + dx, y = array->y[p] + dy;
	if (!array->shares[t][dy != 0])
		return -1;
	for (*distance = 1; x >= 0 && x < array->width && y >= 0 && y < array->height;
		x += dx, y += dy, ++*distance) {
		int64_t other = array->at[y * array->width + x], first = other * array->lanes;
		if (!nest_array_meet(array, t, p, other))
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
	int64_t partner = array_look(array, t, crew, n, step, 0, &distance);
	if (partner < 0)
		partner = array_look(array, t, crew, n, 0, step, &distance);
	if (partner >= 0 && sums)
		add_hop(array, partner / array->lanes, p, distance);
	else if (partner >= 0)
		add_hop(array, p, partner / array->lanes, distance);
	return partner;
}

/* Ways of one dataspace's words or sums that do not stay in the PEs: by multiplier, of which
 * those with the same crew have the same word.  For words whom each takes it from, for sums whom it
 * gives them; -1: the level outside. */
static const int64_t *nest_array_link(
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

static bool nest_array_overlaps(const struct nest_array *array)
{
	return array->run->hierarchy->array_overlaps;
}

/* When a PE is through with its pass: where they overlap, all are as long as the first one. */
static int64_t find_end(const struct nest_array *array, int64_t p)
{
	int64_t end = array->done[p];
	if (nest_array_overlaps(array) && !array->begins)
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
		if (number[y] >= 0 ||
			(y > 0 && nest_array_meet(array, store->space, p, array->at[x])))
			continue;
		for (int64_t k = y; k >= 0; k--)
			if (nest_array_meet(
				    array, store->space, p, array->at[k * array->width + x]))
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
		int64_t shared = x > 0 && nest_array_meet(array, store->space, array->at[x],
						  array->at[x - 1]);
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
		array->done[p] = nest_array_overlaps(array) ? find_end(array, p) : last;
	for (int64_t a = 0; a < array->arrays; a++) {
		int64_t first = a * array->pe_count;
		/* The second buffers have been free since the pass began. */
		int64_t from =
			nest_array_overlaps(array) ? array->begun[first + array->at[0]] : last;
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
	if (!nest_array_overlaps(array) || array->begins)
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

/* If passes do not end in the loop, but last as long as the first one, that must stay so. */
bool nest_array_goes_on(const struct nest_array *array, const int64_t *since, int k, int64_t times)
{
	int64_t steps, pass, passed;
	find_ends(array, &steps, &pass);
	return turns_in(array, k) || pass < steps ||
	       (number_mul(times, array->done[0] - since[1], &passed) && passed <= pass - steps);
}

/* Multipliers below one instance of the parent that have the same word. */
struct crew {
	int64_t first;                   /* the lowest that has work at this step */
	int64_t parent;                  /* instance */
	int64_t shift[SHAPE_RANKS_MOST]; /* what the place of its multipliers adds to the word */
	int64_t step;                    /* the last one at which it had work */
	int64_t place;                   /* of the word in the parent's buffer then */
	bool held;                       /* whether it was there */
	double sum;
	int64_t through[ARCH_LEVELS_MOST]; /* the last instance passed on the way, by pass */
};

/* One dataspace as the multipliers see it. */
struct nest_operand {
	const struct nest_feed *feed;
	int space;
	int64_t base[SHAPE_RANKS_MOST]; /* the word at this step, without shift */
	int64_t *crew;                  /* by multiplier */
	struct crew *crews;
	int64_t *pending; /* written: crews with work at this step */
	int64_t pending_count;
	/* Through a systolic array, by multiplier; NULL elsewhere. */
	const int64_t *partner; /* read: whom it takes its word from; written: gives its sum; -1 */
	double *latch;          /* the word that it has; the sums that it was given */
	int64_t *latched;       /* read: the step at which it got that */
};

struct nest_multipliers {
	struct nest_run *run;
	int operand_count, read_count; /* those that are read come first */
	struct nest_operand operands[SHAPE_SPACES_MOST];
};

static void find_shift(struct nest_run *run, int t, int64_t n, int64_t shift[])
{
	int dimensions = run->shape->dimension_count;
	dataspace_word(&run->shape->spaces[t], dimensions,
		&site_of(run, MULTIPLIERS)->shift[n * dimensions], shift);
}

static void find_crews(struct nest_run *run, struct nest_operand *operand)
{
	const struct nest_feed *feed = operand->feed;
	int64_t count = site_of(run, MULTIPLIERS)->instances, crew_count = 0;
	int ranks = run->shape->spaces[operand->space].rank_count;
	operand->crew = arena_array(run->arena, int64_t, count);
	operand->crews = arena_array(run->arena, struct crew, count);
	operand->pending = arena_array(run->arena, int64_t, count);
	struct arena_mark mark = arena_mark(run->arena);
	struct nest_groups groups;
	nest_groups_open(&groups, feed->children, run->arena);
	struct nest_words *sets = arena_array(run->arena, struct nest_words, feed->children);
	for (int64_t first = 0; first < count; first += feed->children) {
		for (int64_t n = 0; n < feed->children; n++) {
			struct nest_box *word = &sets[n].hull;
			find_shift(run, operand->space, first + n, word->low);
			for (int r = 0; r < ranks; r++)
				word->high[r] = word->low[r] + 1;
			sets[n].count = word->words = 1;
		}
		nest_groups_find(&groups, ranks, sets, feed->children, feed->apart, NULL);
		for (int64_t n = 0; n < feed->children; n++) {
			if (groups.leader[n] != n) {
				operand->crew[first + n] = operand->crew[first + groups.leader[n]];
				continue;
			}
			struct crew *crew = &operand->crews[crew_count];
			crew->parent = first / feed->children;
			crew->step = -1;
			find_shift(run, operand->space, first + n, crew->shift);
			operand->crew[first + n] = crew_count++;
		}
	}
	arena_release(run->arena, mark);
}

static void link_array(struct nest_run *run, struct nest_operand *operand)
{
	if (!run->array || operand->feed->parent->level < run->hierarchy->array_end - 1)
		return;
	operand->partner = nest_array_link(run->array, operand->space, operand->crew, run->arena);
	int64_t count = site_of(run, MULTIPLIERS)->instances;
	operand->latch = arena_array(run->arena, double, count);
	operand->latched = arena_array(run->arena, int64_t, count);
	for (int64_t n = 0; n < count; n++) {
		operand->latched[n] = -1;
		operand->latch[n] =
			run->shape->spaces[operand->space].written ? run->arithmetic.neutral : 0;
	}
}

struct nest_multipliers *nest_multipliers_open(struct nest_run *run)
{
	struct nest_multipliers *multipliers = arena_new(run->arena, struct nest_multipliers);
	multipliers->run = run;
	for (int written = 0; written < 2; written++) {
		for (int t = 0; t < run->shape->space_count; t++) {
			if (run->shape->spaces[t].written != (written == 1))
				continue;
			struct nest_operand *operand =
				&multipliers->operands[multipliers->operand_count++];
			multipliers->read_count += !written;
			operand->space = t;
			operand->feed = &run->multiplier_feed[t];
			find_crews(run, operand);
			link_array(run, operand);
		}
	}
	return multipliers;
}

static void nest_run_miss(
	struct nest_run *run, const struct nest_operand *operand, const struct crew *crew)
{
	const struct nest_store *parent = operand->feed->parent;
	struct nest_words word = {.hull.words = 1, .count = 1};
	for (int r = 0; r < parent->ranks; r++) {
		word.hull.low[r] = operand->base[r] + crew->shift[r];
		word.hull.high[r] = word.hull.low[r] + 1;
	}
	nest_run_wrong(run,
		"multiplier %" PRId64 " needs %s of %s %" PRId64 ", which does not hold it",
		crew->first, nest_run_word(run, operand->space, &word),
		run->hierarchy->levels[parent->level].name, crew->parent);
}

/* Finds the word of a crew that begins its work at this step. */
static void begin(struct nest_run *run, struct nest_operand *operand, struct crew *crew, int64_t n)
{
	const struct nest_store *parent = operand->feed->parent;
	const struct nest_box *held = &parent->held[crew->parent];
	int64_t place = 0;
	bool there = held->words;
	for (int r = 0; r < parent->ranks; r++) {
		int64_t at = operand->base[r] + crew->shift[r];
		there &= at >= held->low[r] && at < held->high[r];
		place += (at - held->low[r]) * parent->stride[r];
	}
	for (int p = 0; p < operand->feed->pass_count; p++)
		crew->through[p] = -1;
	crew->step = run->step;
	crew->first = n;
	crew->sum = run->arithmetic.neutral;
	crew->place = place;
	crew->held = there;
	if (!there)
		nest_run_miss(run, operand, crew);
}

/* Counts the word of multiplier n at levels on the way that only count, if it passes again. */
static void pass(struct nest_run *run, struct nest_operand *operand, struct crew *crew, int64_t n)
{
	const struct nest_feed *feed = operand->feed;
	for (int p = 0; p < feed->pass_count; p++) {
		int64_t through = n / feed->below[p];
		if (through == crew->through[p])
			continue;
		crew->through[p] = through;
		nest_run_pass(run, feed->pass[p], through, operand->space,
			feed->parent->written ? NEST_UPDATE : NEST_FILL, 1);
	}
}

/* Takes the word that the PE before has at this step, whether there is work with it or not; false
 * if there is none. */
static bool hand_on(struct nest_run *run, struct nest_operand *operand, int64_t n)
{
	int64_t from = operand->partner ? operand->partner[n] : -1;
	if (from < 0 || operand->latched[from] != run->step)
		return false;
	if (!nest_run_fault(run, NEST_SIM_HOP_LATE))
		operand->latch[n] = operand->latch[from];
	operand->latched[n] = run->step;
	return true;
}

static double read_word(struct nest_run *run, struct nest_operand *operand, int64_t n)
{
	const struct nest_store *parent = operand->feed->parent;
	struct crew *crew = &operand->crews[operand->crew[n]];
	if (crew->step != run->step) {
		begin(run, operand, crew, n);
		nest_run_count(run, parent->level, crew->parent, operand->space, NEST_READ, 1);
	}
	if (operand->feed->pass_count)
		pass(run, operand, crew, n);
	if (hand_on(run, operand, n))
		return operand->latch[n];
	double value = run->tensors && crew->held ? parent->value[crew->parent][crew->place] : 0;
	if (operand->partner) {
		operand->latch[n] = value;
		operand->latched[n] = run->step;
	}
	return value;
}

/* To the sum of the crew; in an array by way of the PEs after it.  One without work only hands on
 * what it was given. */
static void give_sum(
	const struct nest_run *run, struct nest_operand *operand, int64_t n, double product)
{
	const struct nest_arithmetic *arithmetic = &run->arithmetic;
	double *to = &operand->crews[operand->crew[n]].sum;
	if (operand->partner && operand->partner[n] >= 0)
		to = &operand->latch[operand->partner[n]];
	if (operand->partner) {
		product = nest_arithmetic_join(arithmetic, operand->latch[n], product);
		operand->latch[n] = arithmetic->neutral;
	}
	*to = nest_arithmetic_join(arithmetic, *to, product);
}

static void add_product(
	struct nest_run *run, struct nest_operand *operand, int64_t n, double product)
{
	struct crew *crew = &operand->crews[operand->crew[n]];
	if (crew->step != run->step) {
		begin(run, operand, crew, n);
		operand->pending[operand->pending_count++] = operand->crew[n];
	}
	if (operand->feed->pass_count)
		pass(run, operand, crew, n);
	give_sum(run, operand, n, product);
}

/* The sum of a crew goes to its level, once what is there has come to be added. */
static void nest_run_update(struct nest_run *run, struct nest_operand *operand, struct crew *crew)
{
	const struct nest_feed *feed = operand->feed;
	struct nest_store *parent = feed->parent;
	if (!crew->held)
		return;
	uint8_t *state = &parent->state[crew->parent][crew->place];
	if (*state & WORD_SUM) {
		nest_run_count(run, parent->level, crew->parent, operand->space, NEST_READ, 1);
		for (int p = 0; p < feed->pass_count; p++)
			nest_run_pass(run, feed->pass[p], crew->first / feed->below[p],
				operand->space, NEST_FILL, 1);
		if (nest_run_fault(run, NEST_SIM_SUM_UNREAD))
			*state = 0;
	}
	nest_store_add(run, parent, crew->parent, crew->place, crew->sum);
	nest_run_count(run, parent->level, crew->parent, operand->space, NEST_UPDATE, 1);
}

/* A PE without work hands on what others need. */
static void pass_by(struct nest_multipliers *multipliers, int64_t n)
{
	int k = 0;
	for (; k < multipliers->read_count; k++)
		hand_on(multipliers->run, &multipliers->operands[k], n);
	for (; k < multipliers->operand_count; k++)
		give_sum(multipliers->run, &multipliers->operands[k], n,
			multipliers->run->arithmetic.neutral);
}

static bool all_work(const struct nest_run *run)
{
	for (int d = 0; d < run->shape->dimension_count; d++) {
		if (run->base[d] + run->furthest[d] >= run->shape->dimensions[d].extent)
			return false;
	}
	return true;
}

/* True if what a multiplier does at this step is beyond what exists. */
static bool is_padding(struct nest_run *run, int64_t n)
{
	const struct nest_values *values = run->options->values;
	const struct shape *shape = run->shape;
	const int64_t *shift = &site_of(run, MULTIPLIERS)->shift[n * shape->dimension_count];
	for (int d = 0; values && d < shape->dimension_count; d++) {
		if (run->base[d] + shift[d] >= values->extents[d])
			return true;
	}
	return false;
}

static void find_bases(struct nest_multipliers *multipliers)
{
	const struct nest_run *run = multipliers->run;
	for (int k = 0; k < multipliers->operand_count; k++) {
		struct nest_operand *operand = &multipliers->operands[k];
		dataspace_word(&run->shape->spaces[operand->space], run->shape->dimension_count,
			run->base, operand->base);
		operand->pending_count = 0;
	}
}

void nest_multipliers_step(struct nest_multipliers *multipliers)
{
	struct nest_run *run = multipliers->run;
	struct nest_operand *operands = multipliers->operands;
	bool all = all_work(run);
	find_bases(multipliers);
	for (int64_t n = 0; n < site_of(run, MULTIPLIERS)->instances; n++) {
		if (!all && !nest_run_works(run, MULTIPLIERS, n)) {
			pass_by(multipliers, n);
			continue;
		}
		run->counts.computes++;
		double product = run->arithmetic.neutral, words[SHAPE_SPACES_MOST] = {0};
		int k = 0;
		for (; k < multipliers->read_count; k++)
			words[k] = read_word(run, &operands[k], n);
		if (run->tensors && !is_padding(run, n))
			product = nest_arithmetic_point(&run->arithmetic, words, k);
		for (; k < multipliers->operand_count; k++)
			add_product(run, &operands[k], n, product);
	}
	for (int k = multipliers->read_count; k < multipliers->operand_count; k++) {
		for (int64_t i = 0; i < operands[k].pending_count; i++)
			nest_run_update(
				run, &operands[k], &operands[k].crews[operands[k].pending[i]]);
	}
	run->counts.compute_cycles++;
	run->events++;
}
