#include "sim/nest/nest.h"

#include "base/arena.h"
#include "sim/nest/nest_array.h"
#include "sim/nest/nest_check.h"
#include "sim/nest/nest_lay.h"
#include "sim/nest/nest_moves.h"
#include "sim/nest/nest_multiply.h"
#include "sim/nest/nest_periods.h"
#include "sim/nest/nest_run.h"

#include <inttypes.h>

/* Goes to the next step, the loops inside loop k being at their ends.  The outermost loop that went on, all
 * others inside it being at 0 again; NEST_END if there is none. */
static int next_step(struct nest_run *run, int k)
{
	for (; k >= 0; k--) {
		const struct nest_round *round = &run->rounds[k];
		int64_t *base = &run->base[round->dimension];
		*base += round->stride;
		if (++run->index[k] < round->bound &&
			*base < run->shape->dimensions[round->dimension].extent) {
			run->step++;
			return k;
		}
		*base -= run->index[k] * round->stride;
		run->index[k] = 0;
	}
	return NEST_END;
}

struct phase {
	struct nest_run *run;
	struct nest_sim_moves *moves;
	int changed; /* the loop that went on, or NEST_START, NEST_END */
};

/* True if a store's transfer may be in the background of the work before or after it. */
static bool is_background(const struct phase *phase, const struct nest_store *store)
{
	const struct nest_level *level = &phase->run->hierarchy->levels[store->level];
	return level->multiple_buffering >= 2 && phase->changed >= 0 && !store->feed.parent->moving;
}

/* What the networks to levels `from` up to before `to` take; marks those levels in *taken. */
static int64_t find_latency(
	const struct nest_run *run, int from, int to, enum nest_transfer transfer, uint32_t *taken)
{
	int64_t latency = 0;
	for (int i = from; i < to; i++) {
		const struct nest_level *level = &run->hierarchy->levels[i];
		latency += transfer == NEST_FILLS ? level->fill_cycles : level->drain_cycles;
		*taken |= 1u << i;
	}
	return latency;
}

/* A mapping takes the latencies of all networks, also of those that nothing went through: the one to
 * the home, those to levels that are bypassed. */
static void wait_for_others(struct nest_run *run)
{
	int levels = run->hierarchy->level_count;
	for (int transfer = 0; run->clock && transfer <= NEST_DRAINS; transfer++)
		for (int i = 0; i < levels; i++) {
			uint32_t taken = run->latencies[transfer];
			if (!(taken >> i & 1))
				nest_clock_wait(run->clock, i,
					find_latency(run, i, i + 1, transfer, &taken));
		}
}

static void move_level(const struct phase *phase, int level, enum nest_transfer transfer)
{
	struct nest_run *run = phase->run;
	for (int background = 0; background < 2; background++) {
		int64_t events = run->events;
		int64_t latency = 0;
		uint32_t taken = 0;
		for (int t = 0; t < run->shape->space_count; t++) {
			struct nest_store *store = run->stores[level][t];
			if (!store || !store->moving ||
				is_background(phase, store) != (background == 1))
				continue;
			if (transfer == NEST_FILLS)
				nest_moves_fill(phase->moves, store);
			else if (store->written)
				nest_moves_drain(phase->moves, store);
			latency = number_max(
				latency, find_latency(run, level, store->feed.parent->level,
						 transfer, &taken));
		}
		if (!run->clock || run->events == events)
			continue;
		run->latencies[transfer] |= taken;
		nest_clock_transfer(run->clock, level, transfer, background == 1, latency);
	}
}

static bool any_moves(const struct nest_run *run, int level)
{
	bool any = false;
	for (int t = 0; t < run->shape->space_count; t++)
		any |= run->stores[level][t] && run->stores[level][t]->moving;
	return any;
}

/* All moves of one step: drains from the innermost level outwards, then fills inwards. */
static void move(const struct phase *phase)
{
	struct nest_run *run = phase->run;
	int levels = run->hierarchy->level_count;
	for (struct nest_store *store = run->first_store; store; store = store->after)
		nest_moves_plan(phase->moves, store, phase->changed);
	for (int i = 0; i < levels; i++)
		move_level(phase, i, NEST_DRAINS);
	for (int i = levels - 1; i >= 0 && phase->changed != NEST_END; i--) {
		move_level(phase, i, NEST_FILLS);
		if (run->clock && any_moves(run, i))
			nest_clock_turn(run->clock, i);
	}
}

/* The array ends a pass where tiles in its PEs move, and at the end; its multipliers wait for what
 * a pass takes longer than its steps. */
static void turn_array(struct nest_run *run, bool end)
{
	if (!run->array)
		return;
	int64_t before = run->counts.array_cycles;
	if (!end)
		nest_array_turn(run->array);
	run->counts.array_cycles = nest_array_lag(run->array);
	if (run->clock)
		nest_clock_wait(run->clock, run->hierarchy->array_end - 1,
			run->counts.array_cycles - before);
}

/* Why it is to stop; NULL. */
static const char *why_stop(struct nest_run *run)
{
	uint64_t most = run->options->steps_most;
	run->work += (uint64_t)site_of(run, MULTIPLIERS)->instances;
	if (stopper_stops(&run->options->stopper))
		return "it was to stop";
	if (most && run->work > most)
		return "its steps of multipliers exceed the budget, though iterations that are alike "
		       "are executed once";
	return NULL;
}

/* Why it was to stop; NULL. */
static const char *execute(struct nest_run *run)
{
	struct phase phase = {.run = run, .moves = nest_moves_open(run), .changed = NEST_START};
	run->array = nest_array_open(run);
	struct nest_multipliers *multipliers = nest_multipliers_open(run);
	struct nest_periods *periods = nest_periods_open(run);
	do {
		const char *why = why_stop(run);
		if (why)
			return why;
		move(&phase);
		turn_array(run, false);
		nest_multipliers_step(multipliers);
		if (run->array)
			nest_array_step(run->array);
		if (run->clock)
			nest_clock_step(run->clock);
		phase.changed = next_step(run, run->round_count - 1);
		while (nest_periods_skip(periods, phase.changed))
			phase.changed = next_step(run, phase.changed);
	} while (phase.changed != NEST_END && !run->wrong);
	phase.changed = NEST_END;
	turn_array(run, true);
	move(&phase);
	wait_for_others(run);
	if (run->tensors)
		nest_tensors_end(run);
	return NULL;
}

static void open_clock(struct nest_run *run)
{
	int64_t instances[ARCH_LEVELS_MOST];
	for (int i = 0; i < run->hierarchy->level_count; i++)
		instances[i] = site_of(run, i)->instances;
	run->clock = nest_clock_open(run->hierarchy, instances, run->options->trace, run->arena);
}

struct nest_sim nest_simulate(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, const struct nest_sim_options *options, struct arena *arena)
{
	struct nest_sim out = {0};
	struct nest_run *run = arena_new(arena, struct nest_run);
	run->hierarchy = hierarchy;
	run->shape = shape;
	run->mapping = mapping;
	run->options = options;
	run->arena = arena;
	run->arithmetic = nest_arithmetic_make(options->values);
	out.verdict = nest_check(hierarchy, shape, mapping, &run->counts);
	if (out.verdict != NEST_FITS && out.verdict != NEST_CAPACITY &&
		out.verdict != NEST_UTILIZATION && out.verdict != NEST_IDLE) {
		out.finished = true;
		return out;
	}
	int64_t work = nest_check_work(hierarchy, shape, mapping);
	bool all = options->data || options->trace || options->every_step;
	if (all && options->steps_most && work > (int64_t)options->steps_most) {
		out.wrong = arena_format(arena,
			"%" PRId64 " steps of multipliers, and at most %" PRIu64 " are taken", work,
			options->steps_most);
		return out;
	}
	out.wrong = nest_run_lay_out(run);
	if (!out.wrong && options->data)
		run->tensors = nest_tensors_name(shape, options->values, arena);
	if (!out.wrong)
		out.wrong = nest_buffers_open(run);
	if (out.wrong)
		return out;
	if (options->timing)
		open_clock(run);
	out.wrong = execute(run);
	out.finished = !out.wrong;
	out.work = run->work;
	if (!out.finished)
		return out;
	if (run->overflow || (run->clock && !nest_clock_close(run->clock, &out)))
		out.verdict = NEST_OVERFLOW;
	else if (!run->wrong && nest_homes_apart(run))
		out.verdict = NEST_SUMS_APART;
	out.counts = run->counts;
	out.counts.compute_cycles = hierarchy_cycles(hierarchy, run->counts.compute_cycles);
	out.wrong = run->wrong;
	out.right = !run->wrong;
	out.events = (uint64_t)run->events;
	out.faulty = run->faults > options->fault_at;
	return out;
}
