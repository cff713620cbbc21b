#include "sim/nest/nest_run.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "base/wide.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

bool nest_box_finish(int ranks, struct nest_box *box)
{
	box->words = 1;
	for (int r = 0; r < ranks; r++) {
		if (box->high[r] <= box->low[r]) {
			box->words = 0;
			return true;
		}
		if (!number_mul(box->words, box->high[r] - box->low[r], &box->words))
			return false;
	}
	return true;
}

bool nest_box_equal(int ranks, const struct nest_box *a, const struct nest_box *b)
{
	if (a->words != b->words)
		return false;
	for (int r = 0; a->words && r < ranks; r++) {
		if (a->low[r] != b->low[r] || a->high[r] != b->high[r])
			return false;
	}
	return true;
}

void nest_box_meet(
	int ranks, const struct nest_box *a, const struct nest_box *b, struct nest_box *out)
{
	out->words = a->words && b->words;
	for (int r = 0; out->words && r < ranks; r++) {
		out->low[r] = number_max(a->low[r], b->low[r]);
		out->high[r] = number_min(a->high[r], b->high[r]);
		out->words *= number_max(out->high[r] - out->low[r], 0);
	}
}

/* A hole that spans the hull in all ranks but one may cut an end off there. */
static void cut_end(int ranks, struct nest_words *set)
{
	struct nest_box *hull = &set->hull, *hole = &set->hole;
	int across = -1;
	for (int r = 0; r < ranks; r++) {
		if (hole->low[r] == hull->low[r] && hole->high[r] == hull->high[r])
			continue;
		if (across >= 0)
			return;
		across = r;
	}
	if (hole->low[across] == hull->low[across])
		hull->low[across] = hole->high[across];
	else if (hole->high[across] == hull->high[across])
		hull->high[across] = hole->low[across];
	else
		return;
	hull->words = set->count;
	hole->words = 0;
}

void nest_words_without(
	int ranks, const struct nest_box *box, const struct nest_box *hole, struct nest_words *out)
{
	nest_box_copy(ranks, &out->hull, box);
	out->hole.words = 0;
	if (hole)
		nest_box_meet(ranks, box, hole, &out->hole);
	out->count = out->hull.words - out->hole.words;
	if (out->count && out->hole.words)
		cut_end(ranks, out);
}

bool nest_words_equal(int ranks, const struct nest_words *a, const struct nest_words *b)
{
	return a->count == b->count && nest_box_equal(ranks, &a->hull, &b->hull) &&
	       nest_box_equal(ranks, &a->hole, &b->hole);
}

uint64_t nest_words_hash(int ranks, const struct nest_words *words)
{
	uint64_t hash = (uint64_t)words->count;
	for (int r = 0; r < ranks; r++) {
		hash = (hash ^ (uint64_t)words->hull.low[r]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

bool nest_words_inside(int ranks, const struct nest_words *words, const struct nest_box *box)
{
	if (!words->count)
		return true;
	if (!box->words)
		return false;
	for (int r = 0; r < ranks; r++) {
		if (words->hull.low[r] < box->low[r] || words->hull.high[r] > box->high[r])
			return false;
	}
	return true;
}

/* Steps over the hole, which the walk may have entered at its lowest last rank. */
static bool leave_hole(int ranks, const struct nest_words *words, struct nest_walk *walk)
{
	const struct nest_box *hole = &words->hole;
	if (!hole->words)
		return false;
	for (int r = 0; r < ranks; r++) {
		if (walk->at[r] < hole->low[r] || walk->at[r] >= hole->high[r])
			return false;
	}
	walk->at[ranks - 1] = hole->high[ranks - 1] - 1;
	return true;
}

struct nest_walk nest_walk_first(int ranks, const struct nest_words *words)
{
	struct nest_walk walk = {.any = words->count};
	for (int r = 0; r < ranks; r++)
		walk.at[r] = words->hull.low[r];
	if (walk.any && leave_hole(ranks, words, &walk))
		nest_walk_next(ranks, words, &walk);
	return walk;
}

void nest_walk_next(int ranks, const struct nest_words *words, struct nest_walk *walk)
{
	do {
		int r = ranks - 1;
		for (; r >= 0; r--) {
			if (++walk->at[r] < words->hull.high[r])
				break;
			walk->at[r] = words->hull.low[r];
		}
		walk->any = r >= 0;
	} while (walk->any && leave_hole(ranks, words, walk));
}

struct nest_arithmetic nest_arithmetic_make(const struct nest_values *values)
{
	struct nest_arithmetic arithmetic = {.values = values};
	if (!values)
		return arithmetic;
	const struct primitive *primitive = values->primitive;
	arithmetic.joins = primitive->partial ? primitive->partial : primitive;
	if (primitive->kind == OP_EINSUM || primitive->kind == OP_REDUCE)
		arithmetic.neutral = (double)arithmetic.joins->start;
	return arithmetic;
}

double nest_arithmetic_point(
	const struct nest_arithmetic *arithmetic, const double *words, int count)
{
	const struct nest_values *values = arithmetic->values;
	float product = (float)words[0];
	if (!values) {
		double whole = 1;
		for (int k = 0; k < count; k++)
			whole *= words[k];
		return whole;
	}
	if (values->primitive->kind == OP_REDUCE)
		return (double)values->kernel(
			values->primitive, values->primitive->start, (float)words[0]);
	if (values->primitive->kind != OP_EINSUM)
		return (double)values->kernel(values->primitive, (float)words[0],
			count > 1 ? (float)words[1] : values->constant);
	for (int k = 1; k < count; k++)
		product *= (float)words[k];
	return (double)product;
}

/* A map makes every word once: what is joined with it is the neutral element. */
double nest_arithmetic_join_values(const struct nest_arithmetic *arithmetic, double a, double b)
{
	const struct nest_values *values = arithmetic->values;
	switch (values->primitive->kind) {
	case OP_EINSUM:
		return (double)((float)a + (float)b);
	case OP_REDUCE:
		return (double)values->kernel(arithmetic->joins, (float)a, (float)b);
	default:
		return b;
	}
}

enum port { PORT_READ, PORT_WRITE, PORT_SHARED, PORTS };
enum { TICKS_MOST = 1 << 20, SCALE = 1 << 16 };

/* Units (a word / scale) that one instance moves in the transfer under way. */
struct port_load {
	uint64_t transfer; /* the last one that it was part of */
	int64_t units[PORTS];
};

/* Ticks, of all levels. */
struct ticks {
	int64_t at[ARCH_LEVELS_MOST][PORTS];
};

struct clock_gate {
	struct ratio rates[PORTS];
	int64_t scale;                    /* units of a word whose share is 1 */
	int64_t share[SHAPE_SPACES_MOST]; /* units that a word of each dataspace takes */
	int64_t row;                      /* units that a row takes besides, rounded up */
	int64_t round;                    /* ticks that a round lasts at least, rounded up */
	struct port_load *loads;          /* by instance; NULL: no limits */
	int64_t most[PORTS];              /* units, in the transfer under way */
	int64_t waited;                   /* ticks since the last step */

	struct ticks during; /* what ports have to do in its window in the background */
	struct ticks after;  /* and in the next one */
	int64_t least;       /* ticks that it lasts at least */
};

/* Ticks of one level that go on with the time. */
struct gate_time {
	int64_t stalled;
	int64_t round;       /* when the present one began */
	int64_t window;      /* when it began; -1: not yet */
	struct ticks before; /* what ports had done until then */
};

/* Numbers alone. */
struct clock_time {
	int64_t now, last;
	int64_t steps;
	struct ticks busy; /* what ports have done so far */
	struct gate_time gates[ARCH_LEVELS_MOST];
};

struct nest_clock {
	int level_count;
	struct clock_gate gates[ARCH_LEVELS_MOST];
	struct clock_time time;
	int64_t cycle;     /* ticks */
	int64_t step;      /* ticks that a step of the multipliers takes */
	struct ratio rate; /* steps per cycle */
	int64_t first;
	uint64_t transfer;
	bool overflow;
	struct nest_trace *trace;
	size_t computes; /* the last span of the multipliers in it, from 1 */
};

static int64_t common_multiple(const struct hierarchy *hierarchy)
{
	int64_t multiple = number_min(hierarchy_rate(hierarchy).num, TICKS_MOST + 1);
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t numbers[] = {level->store.read_rate.num, level->store.write_rate.num,
			level->store.shared_rate.num};
		for (int k = 0; k < PORTS; k++)
			if (numbers[k])
				multiple = number_lcm(multiple, numbers[k], TICKS_MOST);
	}
	return number_min(multiple, TICKS_MOST);
}

/* A row takes as long as the words that its port serves meanwhile. */
static void open_paces(
	const struct nest_clock *clock, const struct nest_level *level, struct clock_gate *gate)
{
	double port = ratio_double(
		level->store.shared_rate.num ? level->store.shared_rate : level->store.read_rate);
	if (level->store.row_cycles.num)
		gate->row = (int64_t)ceil(
			ratio_double(level->store.row_cycles) * port * (double)gate->scale);
	if (level->store.round_cycles.num)
		gate->round = (int64_t)ceil(
			ratio_double(level->store.round_cycles) * (double)clock->cycle);
}

struct nest_clock *nest_clock_open(const struct hierarchy *hierarchy, const int64_t *instances,
	struct nest_trace *trace, struct arena *arena)
{
	struct nest_clock *clock = arena_new(arena, struct nest_clock);
	clock->level_count = hierarchy->level_count;
	clock->cycle = common_multiple(hierarchy);
	clock->rate = hierarchy_rate(hierarchy);
	clock->step = number_ceil_div(clock->cycle * clock->rate.den, clock->rate.num);
	clock->first = -1;
	clock->transfer = 1;
	clock->trace = trace;
	if (trace)
		trace->ticks_per_cycle = clock->cycle;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		struct clock_gate *gate = &clock->gates[i];
		clock->time.gates[i].window = -1;
		gate->rates[PORT_READ] = level->store.read_rate;
		gate->rates[PORT_WRITE] = level->store.write_rate;
		gate->rates[PORT_SHARED] = level->store.shared_rate;
		gate->scale = 1;
		for (int t = 0; t < SHAPE_SPACES_MOST; t++) {
			if (level->rate_scale[t] != 1 || level->store.row_cycles.num)
				gate->scale = SCALE;
		}
		open_paces(clock, level, gate);
		for (int t = 0; t < SHAPE_SPACES_MOST; t++)
			gate->share[t] = llround(level->rate_scale[t] * (double)gate->scale);
		if (level->store.read_rate.num || level->store.write_rate.num ||
			level->store.shared_rate.num)
			gate->loads = arena_array(arena, struct port_load, instances[i]);
	}
	return clock;
}

/* Work of a level since then; steps of the multipliers that follow each other are one. */
static void nest_clock_note(struct nest_clock *clock, enum nest_work work, int level, int64_t from)
{
	struct nest_trace *trace = clock->trace;
	if (!trace || from >= clock->time.now)
		return;
	struct nest_span *last = clock->computes ? &trace->spans.at[clock->computes - 1] : NULL;
	if (work == NEST_COMPUTES && last && last->to == from) {
		last->to = clock->time.now;
	} else if (trace->spans.count < trace->most) {
		*array_add(trace->arena, &trace->spans) =
			(struct nest_span){work, level, from, clock->time.now};
		clock->computes = work == NEST_COMPUTES ? trace->spans.count : clock->computes;
	} else {
		trace->cut = true;
	}
}

static void nest_clock_advance(struct nest_clock *clock, int64_t by)
{
	clock->overflow |= !number_add(clock->time.now, by, &clock->time.now);
}

/* Charges a port, and the one for both. */
static void clock_charge_port(struct nest_clock *clock, int level, int64_t instance, enum port port,
	int64_t count, int64_t each)
{
	struct clock_gate *gate = &clock->gates[level];
	int64_t units = 0;
	if (!gate->loads)
		return;
	clock->overflow |= !number_mul(count, each, &units);
	struct port_load *load = &gate->loads[instance];
	if (load->transfer != clock->transfer)
		*load = (struct port_load){.transfer = clock->transfer};
	clock->overflow |= !number_add(load->units[port], units, &load->units[port]) ||
			   !number_add(load->units[PORT_SHARED], units, &load->units[PORT_SHARED]);
	gate->most[port] = number_max(gate->most[port], load->units[port]);
	gate->most[PORT_SHARED] = number_max(gate->most[PORT_SHARED], load->units[PORT_SHARED]);
}

void nest_clock_charge(struct nest_clock *clock, int level, int64_t instance, int space,
	enum nest_action action, int64_t words)
{
	clock_charge_port(clock, level, instance, action == NEST_READ ? PORT_READ : PORT_WRITE,
		words, clock->gates[level].share[space]);
}

void nest_clock_charge_rows(struct nest_clock *clock, int level, int64_t instance, int64_t rows)
{
	clock_charge_port(clock, level, instance, PORT_READ, rows, clock->gates[level].row);
}

/* ceil(units / scale / rate) in ticks; 0 without a rate. */
static int64_t port_ticks(struct nest_clock *clock, const struct clock_gate *gate, enum port port)
{
	struct ratio rate = gate->rates[port];
	if (!rate.num)
		return 0;
	wide work = (wide)gate->most[port] * rate.den;
	if (work >> 100) {
		clock->overflow = true;
		return 0;
	}
	wide per = (wide)rate.num * gate->scale;
	wide ticks = (work * clock->cycle + per - 1) / per;
	clock->overflow |= ticks > INT64_MAX;
	return (int64_t)ticks;
}

/* Takes the ports for what was charged.  How long the slowest needs, and whose it is. */
static int64_t take_ports(struct nest_clock *clock, struct ticks *taken, int *slowest)
{
	int64_t most = 0;
	for (int i = 0; i < clock->level_count; i++) {
		struct clock_gate *gate = &clock->gates[i];
		for (int p = 0; gate->loads && p < PORTS; p++) {
			int64_t ticks = port_ticks(clock, gate, p);
			clock->overflow |= !number_add(taken->at[i][p], ticks, &taken->at[i][p]);
			gate->most[p] = 0;
			if (ticks > most) {
				most = ticks;
				*slowest = i;
			}
		}
	}
	clock->transfer++;
	return most;
}

static void hold_up(struct nest_clock *clock, int level, enum nest_work work, int64_t ticks)
{
	int64_t from = clock->time.now;
	nest_clock_advance(clock, ticks);
	nest_clock_note(clock, work, level, from);
	clock->gates[level].waited += ticks;
}

void nest_clock_wait(struct nest_clock *clock, int level, int64_t cycles)
{
	int64_t ticks = 0;
	clock->overflow |= !number_mul(cycles, clock->cycle, &ticks);
	hold_up(clock, level, NEST_WAITING, ticks);
}

void nest_clock_round(struct nest_clock *clock, int level, bool first)
{
	const struct clock_gate *gate = &clock->gates[level];
	struct gate_time *time = &clock->time.gates[level];
	if (!gate->round)
		return;
	if (!first && clock->time.now < time->round + gate->round)
		hold_up(clock, level, NEST_WAITING, time->round + gate->round - clock->time.now);
	time->round = clock->time.now;
}

void nest_clock_transfer(struct nest_clock *clock, int level, enum nest_transfer transfer,
	bool background, int64_t latency)
{
	struct clock_gate *gate = &clock->gates[level];
	struct ticks *taken = !background              ? &clock->time.busy
			      : transfer == NEST_FILLS ? &gate->during
						       : &gate->after;
	int slowest;
	int64_t ticks = take_ports(clock, taken, &slowest) + latency * clock->cycle;
	if (!background)
		hold_up(clock, level, transfer == NEST_FILLS ? NEST_FILLING : NEST_DRAINING, ticks);
	else if (transfer == NEST_FILLS)
		gate->least = number_max(gate->least, ticks);
}

/* Places the background work of a port in its free time from the beginning of a window on, or from the
 * end of earlier windows of other levels, if that is later. */
static void nest_clock_place(struct nest_clock *clock, int of, int level, int port)
{
	const struct gate_time *gate = &clock->time.gates[of];
	int64_t ticks = clock->gates[of].during.at[level][port];
	if (!ticks)
		return;
	for (int i = 0; i < clock->level_count; i++) {
		struct gate_time *other = &clock->time.gates[i];
		int64_t free = other->window - gate->window -
			       (other->before.at[level][port] - gate->before.at[level][port]);
		if (other->window > gate->window)
			other->before.at[level][port] += number_min(ticks, free);
	}
	clock->time.busy.at[level][port] += ticks;
}

/* The window of a level lasts until each port has done what it has to do in it. */
static void end_window(struct nest_clock *clock, int level)
{
	struct clock_gate *gate = &clock->gates[level];
	const struct gate_time *time = &clock->time.gates[level];
	int64_t least = gate->least;
	for (int i = 0; i < clock->level_count; i++) {
		for (int p = 0; p < PORTS; p++) {
			nest_clock_place(clock, level, i, p);
			least = number_max(
				least, clock->time.busy.at[i][p] - time->before.at[i][p]);
		}
	}
	if (time->window + least > clock->time.now)
		hold_up(clock, level, NEST_WAITING, time->window + least - clock->time.now);
	gate->during = gate->after;
	gate->after = (struct ticks){0};
	gate->least = 0;
	nest_clock_note(clock, NEST_TILE, level, time->window);
}

void nest_clock_turn(struct nest_clock *clock, int level)
{
	struct gate_time *time = &clock->time.gates[level];
	if (time->window >= 0)
		end_window(clock, level);
	time->window = clock->time.now;
	time->before = clock->time.busy;
}

void nest_clock_step(struct nest_clock *clock)
{
	int slowest = 0;
	int64_t ticks = take_ports(clock, &clock->time.busy, &slowest);
	for (int i = 0; i < clock->level_count; i++) {
		if (clock->first >= 0)
			clock->time.gates[i].stalled += clock->gates[i].waited;
		clock->gates[i].waited = 0;
	}
	if (clock->first < 0)
		clock->first = clock->time.now;
	clock->time.gates[slowest].stalled += number_max(ticks - clock->step, 0);
	int64_t from = clock->time.now;
	nest_clock_advance(clock, number_max(ticks, clock->step));
	nest_clock_note(clock, NEST_COMPUTES, -1, from);
	clock->time.last = clock->time.now;
	clock->time.steps++;
}

static void draw_gate(const struct nest_clock *clock, int level, struct nest_picture *picture)
{
	const struct clock_gate *gate = &clock->gates[level];
	const struct gate_time *time = &clock->time.gates[level];
	nest_picture_number(picture, time->window - clock->time.now);
	for (int i = 0; i < clock->level_count; i++)
		for (int p = 0; p < PORTS; p++)
			nest_picture_number(
				picture, time->before.at[i][p] - clock->time.busy.at[i][p]);
	nest_picture_add(picture, &gate->during, sizeof gate->during);
	nest_picture_add(picture, &gate->after, sizeof gate->after);
	nest_picture_number(picture, gate->least);
}

/* Windows of other levels began before those of the turning ones, which do not ask for them then. */
void nest_clock_draw(const struct nest_clock *clock, uint32_t turning, uint32_t rounds,
	struct nest_picture *picture)
{
	for (int i = 0; i < clock->level_count; i++) {
		nest_picture_number(picture, clock->gates[i].waited);
		if (rounds >> i & 1)
			nest_picture_number(picture, clock->time.gates[i].round - clock->time.now);
		if (turning >> i & 1)
			draw_gate(clock, i, picture);
	}
	nest_picture_number(picture, clock->time.now - clock->time.last);
}

struct nest_numbers nest_clock_numbers(struct nest_clock *clock)
{
	return (struct nest_numbers){(int64_t *)&clock->time, sizeof clock->time / sizeof(int64_t)};
}

bool nest_clock_close(struct nest_clock *clock, struct nest_sim *out)
{
	for (int i = 0; i < clock->level_count; i++) {
		if (clock->time.gates[i].window >= 0)
			end_window(clock, i);
	}
	int64_t first = number_ceil_div(number_max(clock->first, 0), clock->cycle);
	int64_t last = number_ceil_div(clock->time.last, clock->cycle), working = clock->time.steps;
	clock->overflow |= !ratio_time(clock->time.steps, clock->rate, &working);
	out->cycles = number_ceil_div(clock->time.now, clock->cycle);
	out->fill_cycles = first;
	out->drain_cycles = out->cycles - last;
	out->stall_cycles = last - first - working;
	int64_t ticks = 0, told = 0;
	for (int i = 0; i < clock->level_count; i++) {
		ticks += clock->time.gates[i].stalled;
		int64_t cycles =
			number_min(number_ceil_div(ticks, clock->cycle), out->stall_cycles);
		out->stall_by_level[i] = cycles - told;
		told = cycles;
	}
	return !clock->overflow;
}

void nest_run_project(const struct dataspace *space, int dimensions, const int64_t *low,
	const int64_t *high, struct nest_box *out)
{
	dataspace_word(space, dimensions, low, out->low);
	dataspace_word(space, dimensions, high, out->high);
	for (int r = 0; r < space->rank_count; r++)
		out->high[r]++;
	nest_box_finish(space->rank_count, out); /* fits: the whole dataspace does */
}

struct nest_box nest_whole(const struct shape *shape, int space)
{
	int64_t first[SHAPE_DIMENSIONS_MOST] = {0}, last[SHAPE_DIMENSIONS_MOST];
	struct nest_box box;
	for (int d = 0; d < shape->dimension_count; d++)
		last[d] = shape->dimensions[d].extent - 1;
	nest_run_project(&shape->spaces[space], shape->dimension_count, first, last, &box);
	return box;
}

int64_t nest_run_step(const struct nest_run *run, int space, int rank, int k)
{
	const struct nest_round *round = &run->rounds[k];
	return run->shape->spaces[space].ranks[rank].coefficient[round->dimension] * round->stride;
}

bool nest_run_works(struct nest_run *run, int level, int64_t instance)
{
	const struct shape *shape = run->shape;
	const int64_t *shift = &site_of(run, level)->shift[instance * shape->dimension_count];
	for (int d = 0; d < shape->dimension_count; d++) {
		if (run->base[d] + shift[d] >= shape->dimensions[d].extent)
			return false;
	}
	return true;
}

void nest_run_tile(struct nest_run *run, const struct nest_store *store, int64_t instance,
	struct nest_box *out)
{
	out->words = 0;
	if (!nest_run_works(run, store->level, instance))
		return;
	const struct shape *shape = run->shape;
	struct nest_site *site = site_of(run, store->level);
	const int64_t *shift = &site->shift[instance * shape->dimension_count];
	int64_t low[SHAPE_DIMENSIONS_MOST], high[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < shape->dimension_count; d++) {
		low[d] = run->base[d] + shift[d];
		high[d] = number_min(low[d] + site->span[d], shape->dimensions[d].extent) - 1;
	}
	nest_run_project(&shape->spaces[store->space], shape->dimension_count, low, high, out);
}

void nest_run_count(struct nest_run *run, int level, int64_t instance, int space,
	enum nest_action action, int64_t words)
{
	struct nest_count *count = &run->counts.at[level][space];
	int64_t *to = action == NEST_READ   ? &count->reads
		      : action == NEST_FILL ? &count->fills
					    : &count->updates;
	run->overflow |= !number_add(*to, words, to);
	run->events++;
	if (run->clock)
		nest_clock_charge(run->clock, level, instance, space, action, words);
}

void nest_run_rows(struct nest_run *run, int level, int64_t instance, int space,
	const struct nest_words *words)
{
	const struct nest_box *hull = &words->hull, *hole = &words->hole;
	const struct nest_level *machine = &run->hierarchy->levels[level];
	int along = machine->row_rank[space];
	if (!machine->store.row_cycles.num || !words->count)
		return;
	int64_t rows =
		along < 0 ? words->count : hull->words / (hull->high[along] - hull->low[along]);
	if (along >= 0 && hole->words && hole->low[along] == hull->low[along] &&
		hole->high[along] == hull->high[along])
		rows -= hole->words / (hole->high[along] - hole->low[along]);
	run->overflow |= !number_add(run->counts.rows[level], rows, &run->counts.rows[level]);
	if (run->clock)
		nest_clock_charge_rows(run->clock, level, instance, rows);
}

void nest_run_drain(struct nest_run *run, int level, int64_t instance, int space, int64_t words)
{
	if (!words)
		return;
	nest_run_count(run, level, instance, space, NEST_READ, words);
	run->counts.at[level][space].drains += words;
}

void nest_run_pass(struct nest_run *run, int level, int64_t instance, int space,
	enum nest_action comes, int64_t words)
{
	nest_run_count(run, level, instance, space, comes, words);
	if (comes == NEST_UPDATE)
		nest_run_drain(run, level, instance, space, words);
	else
		nest_run_count(run, level, instance, space, NEST_READ, words);
}

void nest_store_add(struct nest_run *run, struct nest_store *store, int64_t instance, int64_t place,
	double value)
{
	uint8_t *state = &store->state[instance][place];
	if (*state & WORD_FRESH && store->reads_first)
		nest_run_count(run, store->level, instance, store->space, NEST_READ, 1);
	if (run->tensors)
		store->value[instance][place] = nest_arithmetic_join(&run->arithmetic,
			*state & WORD_SUM ? store->value[instance][place] : run->arithmetic.neutral,
			value);
	*state = WORD_SUM;
}

void nest_run_wrong(struct nest_run *run, const char *format, ...)
{
	if (run->wrong)
		return;
	char text[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	run->wrong = arena_format(run->arena, "step %" PRId64 ": %s", run->step, text);
}

bool nest_run_fault(struct nest_run *run, enum nest_sim_fault fault)
{
	return run->options->fault == fault && run->faults++ == run->options->fault_at;
}

const char *nest_run_word(struct nest_run *run, int space, const struct nest_words *words)
{
	struct text text = text_open(run->arena);
	text_add(&text, "%s[", run->shape->spaces[space].name);
	struct nest_walk walk = nest_walk_first(run->shape->spaces[space].rank_count, words);
	for (int r = 0; r < run->shape->spaces[space].rank_count; r++)
		text_add(&text, "%s%" PRId64, r ? ", " : "", walk.at[r]);
	text_add(&text, "]");
	return text_read(&text);
}
