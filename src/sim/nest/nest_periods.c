#include "sim/nest/nest_periods.h"

#include "base/arena.h"
#include "sim/nest/nest_array.h"
#include "sim/nest/nest_moves.h"
#include "sim/nest/nest_picture.h"
#include "sim/nest/nest_run.h"

/* Numbers of the run that grow with each period; none of what the run does without. */
enum { OF_COUNTS, OF_EVENTS, OF_STEPS, OF_CLOCK, OF_ARRAY, NUMBERS };

/* The beginning of an iteration of a loop. */
struct period_mark {
	struct nest_picture picture;
	int64_t *grown[NUMBERS]; /* the numbers then */
};

struct period_loop {
	bool known; /* whether the beginning of the iteration before is marked, in marks[latest] */
	int latest;
	struct period_mark marks[2];
	struct nest_borders *borders; /* once it is asked for */
};

struct nest_periods {
	struct nest_run *run;
	struct nest_numbers numbers[NUMBERS];
	struct period_loop *loops;
};

struct nest_periods *nest_periods_open(struct nest_run *run)
{
	const struct nest_sim_options *options = run->options;
	if (options->data || options->trace || options->fault || options->every_step)
		return NULL;
	struct nest_periods *periods = arena_new(run->arena, struct nest_periods);
	periods->run = run;
	periods->loops = arena_array(run->arena, struct period_loop, run->round_count);
	periods->numbers[OF_COUNTS] = (struct nest_numbers){(int64_t *)&run->counts, NEST_INTEGERS};
	periods->numbers[OF_EVENTS] = (struct nest_numbers){&run->events, 1};
	periods->numbers[OF_STEPS] = (struct nest_numbers){&run->step, 1};
	if (run->clock)
		periods->numbers[OF_CLOCK] = nest_clock_numbers(run->clock);
	if (run->array)
		periods->numbers[OF_ARRAY] = nest_array_numbers(run->array);
	for (int k = 0; k < run->round_count; k++)
		for (int m = 0; m < 2; m++)
			periods->loops[k].marks[m].picture.arena = run->arena;
	return periods;
}

static void draw_box(const struct nest_run *run, const struct nest_store *store, int k,
	const struct nest_box *box, struct nest_picture *picture)
{
	nest_picture_number(picture, box->words);
	for (int r = 0; box->words && r < store->ranks; r++) {
		int64_t origin = run->index[k] * nest_run_step(run, store->space, r, k);
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
			nest_states_draw(store, n, &store->held[n], picture);
	}
}

/* Levels whose tiles move in loop k, as bits. */
static uint32_t moving_levels(const struct nest_run *run, int k)
{
	uint32_t levels = 0;
	for (const struct nest_store *store = run->first_store; store; store = store->after)
		if (nest_store_moves_in(store, k))
			levels |= 1u << store->level;
	return levels;
}

/* False if iterations touch what is not there. */
static bool draw(struct nest_run *run, int k, const struct nest_borders *borders,
	struct nest_picture *picture)
{
	picture->count = 0;
	if (!nest_borders_draw(borders, picture))
		return false;
	for (const struct nest_store *store = run->first_store; store; store = store->after)
		if (nest_store_moves_in(store, k))
			draw_store(run, store, k, picture);
	nest_picture_add(picture, run->latencies, sizeof run->latencies);
	if (run->clock)
		nest_clock_draw(run->clock, moving_levels(run, k), picture);
	if (run->array)
		nest_array_draw(run->array, k, picture);
	return true;
}

/* Iterations from the one that begins here on of which no instance reaches beyond the extent. */
static int64_t count_whole(const struct nest_run *run, int k)
{
	const struct nest_round *round = &run->rounds[k];
	int64_t last = run->base[round->dimension] + run->furthest[round->dimension];
	for (int q = k + 1; q < run->round_count; q++)
		if (run->rounds[q].dimension == round->dimension)
			last += (run->rounds[q].bound - 1) * run->rounds[q].stride;
	int64_t left = run->shape->dimensions[round->dimension].extent - last;
	return left <= 0 ? 0
			 : number_min(number_ceil_div(left, round->stride),
				   round->bound - run->index[k]);
}

static void shift_box(const struct nest_run *run, const struct nest_store *store, int k,
	int64_t times, struct nest_box *box)
{
	for (int r = 0; box->words && r < store->ranks; r++) {
		box->low[r] += times * nest_run_step(run, store->space, r, k);
		box->high[r] += times * nest_run_step(run, store->space, r, k);
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

static void move_on(struct nest_run *run, int k, int64_t times)
{
	for (struct nest_store *store = run->first_store; store; store = store->after)
		if (nest_store_moves_in(store, k))
			shift_store(run, store, k, times);
	run->index[k] += times - 1;
	run->base[run->rounds[k].dimension] += (times - 1) * run->rounds[k].stride;
}

/* What has happened since the mark happens this many times more. */
static void grow(struct nest_periods *periods, const struct period_mark *mark, int64_t times)
{
	for (int n = 0; n < NUMBERS; n++)
		for (size_t i = 0; i < periods->numbers[n].count; i++) {
			int64_t *number = &periods->numbers[n].at[i], more;
			bool fits = number_mul(*number - mark->grown[n][i], times, &more) &&
				    number_add(*number, more, number);
			periods->run->overflow |= !fits;
		}
}

static void set_mark(struct nest_periods *periods, struct period_mark *mark)
{
	for (int n = 0; n < NUMBERS; n++) {
		size_t count = periods->numbers[n].count;
		if (count && !mark->grown[n])
			mark->grown[n] = arena_array(periods->run->arena, int64_t, count);
		for (size_t i = 0; i < count; i++)
			mark->grown[n][i] = periods->numbers[n].at[i];
	}
}

bool nest_periods_skip(struct nest_periods *periods, int k)
{
	if (!periods || k < 0)
		return false;
	struct nest_run *run = periods->run;
	struct period_loop *loop = &periods->loops[k];
	for (int q = k + 1; q < run->round_count; q++)
		periods->loops[q].known = false;
	int64_t times = count_whole(run, k);
	if (run->index[k] == 1)
		loop->known = false;
	const struct period_mark *before = loop->known ? &loop->marks[loop->latest] : NULL;
	struct period_mark *mark = &loop->marks[!loop->latest];
	loop->known = false;
	if (times + (before == NULL ? 0 : 1) < 2)
		return false;
	if (!loop->borders)
		loop->borders = nest_borders_find(run, k);
	if (!draw(run, k, loop->borders, &mark->picture))
		return false;
	if (before && nest_picture_equal(&before->picture, &mark->picture) &&
		(!run->array ||
			nest_array_goes_on(run->array, before->grown[OF_ARRAY], k, times)) &&
		nest_borders_go_on(loop->borders, times)) {
		grow(periods, before, times);
		nest_borders_leave(loop->borders, times);
		move_on(run, k, times);
		return true;
	}
	set_mark(periods, mark);
	loop->latest = !loop->latest;
	loop->known = true;
	return false;
}
