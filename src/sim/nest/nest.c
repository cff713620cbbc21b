#include "sim/nest/nest.h"

#include "base/arena.h"
#include "sim/nest/nest_run.h"

#include <inttypes.h>

/* The loops of one dimension, innermost first; a level's temporal loop and that of its block. */
struct checked_factor {
	int64_t bound, inside; /* inside: the product of the bounds further in */
	int level;
	bool spatial;
};

struct checked_factors {
	int count;
	struct checked_factor at[2 * ARCH_LEVELS_MOST];
};

/* False if the product does not fit, or a bound is 0. */
static bool list_factors(const struct hierarchy *hierarchy, const struct mapping *mapping, int d,
	struct checked_factors *out)
{
	int64_t inside = 1;
	out->count = 0;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t bounds[2] = {
			level->block_row < 0 ? 1 : mapping->rows[level->block_row].spatial[d],
			mapping->rows[hierarchy_loops_row(hierarchy, level)].temporal[d]};
		for (int k = 0; k < 2; k++) {
			out->at[out->count++] =
				(struct checked_factor){bounds[k], inside, i, k == 0};
			if (bounds[k] < 1 || !number_mul(inside, bounds[k], &inside))
				return false;
		}
	}
	return true;
}

/* No loop is longer than it must be, and the outermost is as long. */
static bool make_extent(const struct checked_factors *factors, int64_t extent)
{
	for (int k = 0; k < factors->count; k++) {
		int64_t needed = number_ceil_div(extent, factors->at[k].inside);
		bool outermost = k == factors->count - 1;
		if (factors->at[k].bound > needed || (outermost && factors->at[k].bound != needed))
			return false;
	}
	return true;
}

static bool fit_fanout(
	const struct hierarchy *hierarchy, const struct shape *shape, const struct mapping *mapping)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t along[2] = {1, 1};
		for (int d = 0; level->block_row >= 0 && d < shape->dimension_count; d++) {
			const struct mapping_row *row = &mapping->rows[level->block_row];
			int64_t *side = &along[row->spatial_y >> d & 1];
			if (!number_mul(*side, row->spatial[d], side))
				return false;
		}
		if (along[0] > level->fanout.x || along[1] > level->fanout.y)
			return false;
	}
	return true;
}

/* Words of the tile of the first instance at the first step, which no tile exceeds. */
static bool size_tile(const struct shape *shape, int t, const struct checked_factors *factors,
	int level, int64_t *words)
{
	const struct dataspace *space = &shape->spaces[t];
	*words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t side = 1;
		for (int d = 0; d < shape->dimension_count; d++) {
			const struct checked_factor *own = &factors[d].at[2 * level + 1];
			int64_t span =
				number_min(own->inside * own->bound, shape->dimensions[d].extent);
			int64_t reach;
			if (!number_mul(space->ranks[r].coefficient[d], span - 1, &reach) ||
				!number_add(side, reach, &side))
				return false;
		}
		if (!number_mul(*words, side, words))
			return false;
	}
	return true;
}

/* True if no level outside keeps it. */
static bool is_home(
	const struct hierarchy *hierarchy, const struct mapping *mapping, int t, int level)
{
	for (int i = level + 1; i < hierarchy->level_count; i++)
		if (hierarchy->levels[i].storage &&
			mapping->residency[t] >> hierarchy->levels[i].row & 1)
			return false;
	return true;
}

/* All that the first instance of a level ever has in its tile. */
static enum nest_verdict size_home(const struct shape *shape, int t,
	const struct checked_factors *factors, int level, int64_t *words)
{
	struct nest_reach reaches[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < shape->dimension_count; d++) {
		const struct checked_factor *own = &factors[d].at[2 * level + 1];
		struct nest_reach *reach = &reaches[d];
		*reach = (struct nest_reach){.extent = shape->dimensions[d].extent};
		reach->tile = number_min(own->inside * own->bound, reach->extent);
		for (int k = factors[d].count - 1; k > 2 * level + 1; k--) {
			const struct checked_factor *factor = &factors[d].at[k];
			if (factor->spatial || factor->bound == 1)
				continue;
			reach->bound[reach->count] = factor->bound;
			reach->stride[reach->count++] = factor->inside;
		}
	}
	bool moves = false;
	for (int d = 0; d < shape->dimension_count; d++)
		moves |= reaches[d].count && shape->spaces[t].relevant >> d & 1;
	return moves ? nest_homes_mark(shape, t, reaches, words) : NEST_FITS;
}

/* The innermost level that does not take its tiles has the verdict, unless a number does not fit. */
static enum nest_verdict check_tiles(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, const struct checked_factors *factors,
	struct nest_counts *counts)
{
	enum nest_verdict verdict = NEST_FITS;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t together = 0;
		for (int t = 0; t < shape->space_count; t++) {
			int64_t *words = &counts->at[i][t].capacity;
			if (!level->storage || !(mapping->residency[t] >> level->row & 1))
				continue;
			bool home = is_home(hierarchy, mapping, t, i);
			enum nest_verdict sized = NEST_OVERFLOW;
			if (size_tile(shape, t, &factors[0], i, words))
				sized = home ? size_home(shape, t, factors, i, words) : NEST_FITS;
			if (sized == NEST_FITS && !number_add(together, *words, &together))
				sized = NEST_OVERFLOW;
			if (sized != NEST_FITS)
				return sized;
		}
		if (verdict != NEST_FITS)
			continue;
		if ((level->size || level->store.no_room) && together > level->size)
			verdict = NEST_CAPACITY;
		else if ((double)together < level->store.least_utilization * (double)level->size)
			verdict = NEST_UTILIZATION;
	}
	return verdict;
}

/* Counts the tuples of spatial (or temporal) indices of levels >= `level` that exist. */
static int64_t count_tuples(
	const struct checked_factors *factors, int64_t extent, int level, bool spatial)
{
	int64_t whole[2 * ARCH_LEVELS_MOST + 1] = {1}, tuples = 0;
	for (int k = 0; k < factors->count; k++) {
		const struct checked_factor *factor = &factors->at[k];
		bool counts = factor->spatial == spatial && factor->level >= level;
		whole[k + 1] = whole[k] * (counts ? factor->bound : 1);
	}
	int64_t left = extent;
	for (int k = factors->count - 1; k >= 0; k--) {
		const struct checked_factor *factor = &factors->at[k];
		if (factor->spatial != spatial || factor->level < level)
			continue;
		int64_t rounds = number_min(factor->bound, number_ceil_div(left, factor->inside));
		tuples += (rounds - 1) * whole[k];
		left -= (rounds - 1) * factor->inside;
	}
	return tuples + 1;
}

static bool list_all(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct checked_factors *factors)
{
	for (int d = 0; d < shape->dimension_count; d++) {
		if (!list_factors(hierarchy, mapping, d, &factors[d]) ||
			!make_extent(&factors[d], shape->dimensions[d].extent))
			return false;
	}
	return true;
}

static bool has_home(const struct hierarchy *hierarchy, const struct mapping *mapping, int t)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		if (level->storage && mapping->residency[t] >> level->row & 1)
			return true;
	}
	return false;
}

enum nest_verdict nest_check(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *counts)
{
	struct checked_factors factors[SHAPE_DIMENSIONS_MOST];
	int64_t computes;
	if (shape_writes_overlap(shape))
		return NEST_UNCOUNTABLE;
	if (!list_all(hierarchy, shape, mapping, factors))
		return NEST_FACTORS;
	if (!fit_fanout(hierarchy, shape, mapping))
		return NEST_FANOUT;
	for (int t = 0; t < shape->space_count; t++) {
		int64_t words;
		if (!has_home(hierarchy, mapping, t))
			return NEST_HOMELESS;
		if (!size_tile(shape, t, factors, hierarchy->level_count - 1, &words))
			return NEST_OVERFLOW;
	}
	if (!shape_computes(shape, &computes))
		return NEST_OVERFLOW;
	enum nest_verdict verdict = check_tiles(hierarchy, shape, mapping, factors, counts);
	if (!nest_verdict_counts(verdict))
		return verdict;
	counts->utilized_computes = 1;
	for (int i = 0; i < hierarchy->level_count; i++)
		counts->utilized[i] = 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t extent = shape->dimensions[d].extent;
		counts->utilized_computes *= count_tuples(&factors[d], extent, 0, true);
		for (int i = 0; i < hierarchy->level_count; i++)
			counts->utilized[i] *= count_tuples(&factors[d], extent, i + 1, true);
	}
	const struct nest_level *inner = hierarchy->levels;
	while (!inner->storage)
		inner++;
	double parallel = (double)counts->utilized_computes /
			  ((double)hierarchy->compute_mesh_x * (double)hierarchy->compute_mesh_y);
	if (verdict == NEST_FITS && parallel < hierarchy->least_parallelism)
		verdict = NEST_UTILIZATION;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		double busy = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			busy *= mapping->rows[level->block_row].spatial[d];
		busy /= (double)level->fanout.x * (double)level->fanout.y;
		if (verdict == NEST_FITS && busy < level->least_usage)
			verdict = NEST_IDLE;
	}
	return verdict;
}

int64_t nest_check_work(
	const struct hierarchy *hierarchy, const struct shape *shape, const struct mapping *mapping)
{
	struct checked_factors factors;
	int64_t work = 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		list_factors(hierarchy, mapping, d, &factors);
		int64_t extent = shape->dimensions[d].extent;
		int64_t steps = count_tuples(&factors, extent, 0, false);
		if (!number_mul(work, steps, &work))
			return INT64_MAX;
		for (int k = 0; k < factors.count; k++) {
			if (factors.at[k].spatial && !number_mul(work, factors.at[k].bound, &work))
				return INT64_MAX;
		}
	}
	return work;
}

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
	return level->store.multiple_buffering >= 2 && phase->changed >= 0 &&
	       !store->feed.parent->moving;
}

/* Returns the latency of the networks to levels `from` up to before `to`; marks those levels in *taken. */
static int64_t find_latency(
	const struct nest_run *run, int from, int to, enum nest_transfer transfer, uint32_t *taken)
{
	int64_t latency = 0;
	for (int i = from; i < to; i++) {
		const struct nest_level *level = &run->hierarchy->levels[i];
		latency += transfer == NEST_FILLS ? level->store.fill_cycles
						  : level->store.drain_cycles;
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

/* Begins the rounds of the levels outside which a loop went on, once their tiles are there; all end before the last
 * tiles leave. */
static void turn_rounds(const struct phase *phase)
{
	struct nest_run *run = phase->run;
	for (int i = 0; i < run->hierarchy->level_count; i++) {
		bool begins = phase->changed == NEST_START ||
			      (phase->changed >= 0 && phase->changed < site_of(run, i)->outside);
		if (!run->hierarchy->levels[i].store.round_cycles.num)
			continue;
		run->counts.rounds[i] += begins;
		if (run->clock && (begins || phase->changed == NEST_END))
			nest_clock_round(run->clock, i, phase->changed == NEST_START);
	}
}

/* All moves of one step: drains from the innermost level outwards, then fills inwards. */
static void phase_move_tiles(const struct phase *phase)
{
	struct nest_run *run = phase->run;
	int levels = run->hierarchy->level_count;
	if (phase->changed == NEST_END)
		turn_rounds(phase);
	for (struct nest_store *store = run->first_store; store; store = store->after)
		nest_moves_plan(phase->moves, store, phase->changed);
	for (int i = 0; i < levels; i++)
		move_level(phase, i, NEST_DRAINS);
	for (int i = levels - 1; i >= 0 && phase->changed != NEST_END; i--) {
		move_level(phase, i, NEST_FILLS);
		if (run->clock && any_moves(run, i))
			nest_clock_turn(run->clock, i);
	}
	if (phase->changed != NEST_END)
		turn_rounds(phase);
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

/* Steps between two calls of the stopper: each can move whole tiles. */
enum { STOP_STEPS = 16 };

/* Why it is to stop; NULL. */
static const char *why_stop(struct nest_run *run)
{
	uint64_t most = run->options->steps_most;
	run->work += (uint64_t)site_of(run, MULTIPLIERS)->instances;
	if (stop_poll_ends(&run->poll, 1))
		return "it was to stop";
	if (most && run->work > most)
		return "its steps of multipliers exceed the budget, though iterations that are alike "
		       "are executed once";
	return NULL;
}

/* Why it was to stop; NULL. */
static const char *nest_run_execute(struct nest_run *run)
{
	struct phase phase = {.run = run, .moves = nest_moves_open(run), .changed = NEST_START};
	run->array = nest_array_open(run);
	struct nest_multipliers *multipliers = nest_multipliers_open(run);
	struct nest_periods *periods = nest_periods_open(run);
	do {
		const char *why = why_stop(run);
		if (why)
			return why;
		phase_move_tiles(&phase);
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
	phase_move_tiles(&phase);
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
	run->poll = (struct stop_poll){&options->stopper, .every = STOP_STEPS};
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
	out.wrong = nest_run_execute(run);
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
