#include "sim/nest/nest_periods.h"

#include "base/arena.h"
#include "sim/nest/nest_array.h"
#include "sim/nest/nest_clock.h"
#include "sim/nest/nest_picture.h"

/* The beginning of an iteration of a loop. */
struct period_mark {
	struct nest_picture picture;
	struct nest_counts counts;
	uint64_t events;
	int64_t step;
	struct nest_clock *clock;
	struct nest_array_time array;
};

struct period_loop {
	bool known; /* whether the beginning of the iteration before is marked, in marks[latest] */
	int latest;
	struct period_mark marks[2];
};

struct nest_periods {
	struct nest_run *run;
	struct period_loop *loops;
	int64_t furthest[SHAPE_DIMENSIONS_MOST]; /* the largest shift of a multiplier */
};

struct nest_periods *nest_periods_open(struct nest_run *run)
{
	const struct nest_sim_options *options = run->options;
	if (options->data || options->trace || options->fault || options->every_step)
		return NULL;
	struct nest_periods *periods = arena_new(run->arena, struct nest_periods);
	periods->run = run;
	periods->loops = arena_array(run->arena, struct period_loop, run->round_count);
	for (int k = 0; k < run->round_count; k++)
		for (int m = 0; m < 2; m++) {
			struct period_mark *mark = &periods->loops[k].marks[m];
			mark->picture.arena = run->arena;
			if (run->clock && run->rounds[k].bound > 2)
				mark->clock = nest_clock_copy(run->clock, run->arena);
		}
	int dimensions = run->shape->dimension_count;
	const struct nest_site *site = site_of(run, MULTIPLIERS);
	for (int64_t n = 0; n < site->instances; n++)
		for (int d = 0; d < dimensions; d++)
			periods->furthest[d] =
				number_max(periods->furthest[d], site->shift[n * dimensions + d]);
	return periods;
}

static bool moves_in(const struct nest_store *store, int k)
{
	return !store->home && store->pace >= k;
}

static int64_t step_of(const struct nest_run *run, int space, int rank, int k)
{
	const struct nest_round *round = &run->rounds[k];
	return run->shape->spaces[space].ranks[rank].coefficient[round->dimension] * round->stride;
}

/*
 * Words that a dataspace's instances of one level, which move in loop k, exchange with a parent that does
 * not: those of one iteration, a box for each instance.
 */
struct border {
	struct nest_run *run;
	int k, level, space;
	const struct nest_feed *feed;
	bool relevant; /* each iteration has others */
	bool adjacent; /* which begin where those of the one before end */
	int64_t apart; /* places from those to these in the parent's buffer */
	int64_t reach[SHAPE_DIMENSIONS_MOST];
};

/* False if there is none. */
static bool find_border(struct nest_run *run, int k, int level, int space, struct border *out)
{
	const struct nest_store *store = level < 0 ? NULL : run->stores[level][space];
	const struct nest_feed *feed = store ? &store->feed : &run->multiplier_feed[space];
	if ((level >= 0 && (!store || !moves_in(store, k))) || moves_in(feed->parent, k))
		return false;
	const struct nest_site *site = site_of(run, level);
	*out = (struct border){.run = run, .k = k, .level = level, .space = space, .feed = feed};
	const struct nest_round *round = &run->rounds[k];
	out->relevant = run->shape->spaces[space].relevant >> round->dimension & 1;
	for (int r = 0; r < feed->parent->ranks; r++)
		out->apart += step_of(run, space, r, k) * feed->parent->stride[r];
	for (int d = 0; d < run->shape->dimension_count; d++)
		out->reach[d] = site->span[d];
	for (int q = k + 1; q < site->outside; q++)
		out->reach[run->rounds[q].dimension] +=
			(run->rounds[q].bound - 1) * run->rounds[q].stride;
	out->adjacent = out->reach[round->dimension] == round->stride;
	return true;
}

/* Of `count` iterations from the one that is `later` after the one that begins; false if the parent does not
 * hold it. */
static bool find_box(const struct border *border, int64_t instance, int64_t later, int64_t count,
	struct nest_box *box)
{
	struct nest_run *run = border->run;
	const struct shape *shape = run->shape;
	const struct nest_round *round = &run->rounds[border->k];
	const int64_t *shift =
		&site_of(run, border->level)->shift[instance * shape->dimension_count];
	int64_t low[SHAPE_DIMENSIONS_MOST], high[SHAPE_DIMENSIONS_MOST];
	box->words = 0;
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t extent = shape->dimensions[d].extent;
		low[d] = run->base[d] + shift[d];
		low[d] += d == round->dimension ? later * round->stride : 0;
		high[d] = low[d] + border->reach[d];
		high[d] += d == round->dimension ? (count - 1) * round->stride : 0;
		high[d] = number_min(high[d], extent) - 1;
		if (low[d] >= extent)
			return true;
	}
	nest_run_project(&shape->spaces[border->space], shape->dimension_count, low, high, box);
	struct nest_words all = {.hull = *box, .count = box->words};
	const struct nest_store *parent = border->feed->parent;
	return nest_words_inside(
		parent->ranks, &all, &parent->held[instance / border->feed->children]);
}

enum row_act { ROWS_PICTURE, ROWS_EQUAL, ROWS_COPY };

static bool act_on(
	uint8_t *row, int64_t length, enum row_act act, int64_t apart, struct nest_picture *picture)
{
	if (act == ROWS_PICTURE)
		nest_picture_add(picture, row, (size_t)length);
	else if (act == ROWS_EQUAL)
		return memcmp(row, row + apart, (size_t)length) == 0;
	else if (apart >= length)
		memcpy(row, row - apart, (size_t)length);
	else
		for (int64_t w = 0; w < length; w++) /* which may copy what it has copied */
			row[w] = row[w - apart];
	return true;
}

/* Goes through the states of a box's words in the order of their places, row by row: adds them to a picture,
 * compares them with those `apart` places on, false if they differ, or copies those so far before them. */
static bool go_through(const struct nest_store *store, int64_t instance, const struct nest_box *box,
	enum row_act act, int64_t apart, struct nest_picture *picture)
{
	int last = store->ranks - 1;
	struct nest_words heads = {.hull = *box, .count = box->words};
	int64_t length = 1;
	if (box->words && last >= 0) {
		length = box->high[last] - box->low[last];
		heads.hull.high[last] = heads.hull.low[last] + 1;
		heads.count /= length;
	}
	struct nest_walk walk;
	bool goes_on = true;
	for (bool any = nest_walk_first(store->ranks, &heads, &walk); any && goes_on;
		any = nest_walk_next(store->ranks, &heads, &walk)) {
		int64_t place = nest_store_place(store, &store->held[instance], walk.at);
		goes_on = act_on(&store->state[instance][place], length, act, apart, picture);
	}
	return goes_on;
}

/* The same at a border, for `count` iterations from `later` on, and once for instances that follow each other and
 * share words.  False also if the parent does not hold them. */
static bool go_along(const struct border *border, int64_t later, int64_t count, enum row_act act,
	int64_t apart, struct nest_picture *picture)
{
	int64_t instances = site_of(border->run, border->level)->instances, parent = -1;
	const struct nest_feed *feed = border->feed;
	struct nest_box box, before = {0};
	bool goes_on = true;
	for (int64_t n = 0; n < instances && goes_on; n++) {
		goes_on = find_box(border, n, later, count, &box);
		if (parent == n / feed->children &&
			nest_box_equal(feed->parent->ranks, &box, &before))
			continue;
		parent = n / feed->children;
		before = box;
		goes_on = goes_on && go_through(feed->parent, parent, &box, act, apart, picture);
	}
	return goes_on;
}

/* The sums at a border that the iteration before and the one that begins touch. */
static bool draw_border(const struct border *border, struct nest_picture *picture)
{
	return (!border->relevant || go_along(border, -1, 1, ROWS_PICTURE, 0, picture)) &&
	       go_along(border, 0, 1, ROWS_PICTURE, 0, picture);
}

static void draw_box(const struct nest_run *run, const struct nest_store *store, int k,
	const struct nest_box *box, struct nest_picture *picture)
{
	nest_picture_number(picture, box->words);
	for (int r = 0; box->words && r < store->ranks; r++) {
		int64_t origin = run->index[k] * step_of(run, store->space, r, k);
		nest_picture_number(picture, box->low[r] - origin);
		nest_picture_number(picture, box->high[r] - origin);
	}
}

static void draw_store(
	struct nest_run *run, const struct nest_store *store, int k, struct nest_picture *picture)
{
	for (int64_t n = 0; n < site_of(run, store->level)->instances; n++) {
		draw_box(run, store, k, &store->held[n], picture);
		if (store->refetch)
			nest_picture_number(picture, store->stays[n]);
		if (store->links) {
			nest_picture_number(picture, store->entered[n].count);
			draw_box(run, store, k, &store->entered[n].hull, picture);
			draw_box(run, store, k, &store->entered[n].hole, picture);
		}
		if (store->written)
			go_through(store, n, &store->held[n], ROWS_PICTURE, 0, picture);
	}
}

/* Levels whose tiles move in loop k, as bits. */
static uint32_t moving_levels(const struct nest_run *run, int k)
{
	uint32_t levels = 0;
	for (int i = 0; i < run->hierarchy->level_count; i++)
		for (int t = 0; t < run->shape->space_count; t++)
			if (run->stores[i][t] && moves_in(run->stores[i][t], k))
				levels |= 1u << i;
	return levels;
}

/* False if iterations touch what is not there. */
static bool draw(struct nest_run *run, int k, struct nest_picture *picture)
{
	picture->count = 0;
	for (int t = 0; t < run->shape->space_count; t++)
		for (int i = MULTIPLIERS; i < run->hierarchy->level_count; i++) {
			struct border border;
			if (run->shape->spaces[t].written && find_border(run, k, i, t, &border) &&
				!draw_border(&border, picture))
				return false;
			if (i >= 0 && run->stores[i][t] && moves_in(run->stores[i][t], k))
				draw_store(run, run->stores[i][t], k, picture);
		}
	nest_picture_add(picture, run->latencies, sizeof run->latencies);
	if (run->clock)
		nest_clock_draw(run->clock, moving_levels(run, k), picture);
	if (run->array)
		nest_array_draw(run->array, k, picture);
	return true;
}

/* Iterations from the one that begins here on of which no instance reaches beyond the extent. */
static int64_t count_whole(const struct nest_periods *periods, int k)
{
	const struct nest_run *run = periods->run;
	const struct nest_round *round = &run->rounds[k];
	int64_t last = run->base[round->dimension] + periods->furthest[round->dimension];
	for (int q = k + 1; q < run->round_count; q++)
		if (run->rounds[q].dimension == round->dimension)
			last += (run->rounds[q].bound - 1) * run->rounds[q].stride;
	int64_t left = run->shape->dimensions[round->dimension].extent - last;
	return left <= 0 ? 0
			 : number_min(number_ceil_div(left, round->stride),
				   round->bound - run->index[k]);
}

/* Whether the next `times` iterations find what this one finds: the parents hold the words of the last
 * one, so that they hold those of all, and sums are as this one's. */
static bool border_goes_on(const struct border *border, int64_t times)
{
	bool sums = border->relevant && border->run->shape->spaces[border->space].written;
	struct nest_box box;
	for (int64_t n = 0; n < site_of(border->run, border->level)->instances; n++)
		if (!find_box(border, n, times - 1, 1, &box))
			return false;
	int64_t at_once = border->adjacent ? times - 1 : 1;
	for (int64_t later = 0; sums && later < times - 1; later += at_once)
		if (!go_along(border, later, at_once, ROWS_EQUAL, border->apart, NULL))
			return false;
	return true;
}

/* Sums of the iterations that are skipped become those that they would have left: the last one's as those of
 * the iteration before this one are now, all others' as those of the one before that. */
static void leave_sums(const struct border *border, int64_t times)
{
	go_along(border, times - 1, 1, ROWS_COPY, times * border->apart, NULL);
	int64_t at_once = border->adjacent ? times : 1;
	for (int64_t later = -1; later < times - 1; later += at_once)
		go_along(border, later, at_once, ROWS_COPY, border->apart, NULL);
}

static void shift_box(const struct nest_run *run, const struct nest_store *store, int k,
	int64_t times, struct nest_box *box)
{
	for (int r = 0; box->words && r < store->ranks; r++) {
		box->low[r] += times * step_of(run, store->space, r, k);
		box->high[r] += times * step_of(run, store->space, r, k);
	}
}

static void shift_store(struct nest_run *run, struct nest_store *store, int k, int64_t times)
{
	for (int64_t n = 0; n < site_of(run, store->level)->instances; n++) {
		shift_box(run, store, k, times, &store->held[n]);
		if (store->links) {
			shift_box(run, store, k, times, &store->entered[n].hull);
			shift_box(run, store, k, times, &store->entered[n].hole);
		}
	}
}

/* Whether what is around the loop lets it go on so. */
static bool surroundings_go_on(
	struct nest_run *run, int k, const struct period_mark *mark, int64_t times)
{
	struct border border;
	if (run->array && !nest_array_goes_on(run->array, mark->array, k, times))
		return false;
	for (int t = 0; t < run->shape->space_count; t++)
		for (int i = MULTIPLIERS; i < run->hierarchy->level_count; i++)
			if (find_border(run, k, i, t, &border) && !border_goes_on(&border, times))
				return false;
	return true;
}

static void move_on(struct nest_run *run, int k, int64_t times)
{
	struct border border;
	for (int t = 0; t < run->shape->space_count; t++)
		for (int i = MULTIPLIERS; i < run->hierarchy->level_count; i++) {
			if (run->shape->spaces[t].written && find_border(run, k, i, t, &border) &&
				border.relevant)
				leave_sums(&border, times);
			if (i >= 0 && run->stores[i][t] && moves_in(run->stores[i][t], k))
				shift_store(run, run->stores[i][t], k, times);
		}
	run->index[k] += times - 1;
	run->base[run->rounds[k].dimension] += (times - 1) * run->rounds[k].stride;
}

/* Counts what has happened since the mark this many times more. */
static void count_on(struct nest_run *run, int k, const struct period_mark *mark, int64_t times)
{
	struct nest_counts once = run->counts;
	int64_t steps = 0;
	run->overflow |= !nest_counts_add(&once, &mark->counts, -1) ||
			 !nest_counts_add(&run->counts, &once, times) ||
			 !number_mul(run->step - mark->step, times, &steps) ||
			 !number_add(run->step, steps, &run->step);
	run->events += (run->events - mark->events) * (uint64_t)times;
	if (run->clock)
		nest_clock_repeat(run->clock, mark->clock, moving_levels(run, k), times);
	if (run->array)
		nest_array_repeat(run->array, mark->array, k, times);
}

static void set_mark(struct nest_run *run, struct period_mark *mark)
{
	mark->counts = run->counts;
	mark->events = run->events;
	mark->step = run->step;
	if (run->clock)
		nest_clock_take(mark->clock, run->clock);
	if (run->array)
		mark->array = nest_array_time(run->array);
}

bool nest_periods_skip(struct nest_periods *periods, int k)
{
	if (!periods || k < 0)
		return false;
	struct nest_run *run = periods->run;
	struct period_loop *loop = &periods->loops[k];
	for (int q = k + 1; q < run->round_count; q++)
		periods->loops[q].known = false;
	int64_t times = count_whole(periods, k);
	if (run->index[k] == 1)
		loop->known = false;
	const struct period_mark *before = loop->known ? &loop->marks[loop->latest] : NULL;
	struct period_mark *mark = &loop->marks[!loop->latest];
	loop->known = false;
	if (times + (before == NULL ? 0 : 1) < 2 || !draw(run, k, &mark->picture))
		return false;
	if (before && nest_picture_equal(&before->picture, &mark->picture) &&
		surroundings_go_on(run, k, before, times)) {
		count_on(run, k, before, times);
		move_on(run, k, times);
		return true;
	}
	set_mark(run, mark);
	loop->latest = !loop->latest;
	loop->known = true;
	return false;
}
