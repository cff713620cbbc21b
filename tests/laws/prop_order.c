#include "base/arena.h"
#include "base/number.h"
#include "sim/machine/order.h"
#include "tests/support/draws.h"

#include "tests/test.h"

/*
 * The core of the simulators against the plain meaning of its words, on random programs: an instruction begins when
 * the last of those that it waits for has ended, the earliest and then the lowest number runs first, and two accesses
 * are ordered exactly if a chain of dependences leads from one to the other.
 */
enum { INSTRUCTIONS_MOST = 20, QUEUES_MOST = 4, PLACES = 3 };

struct drawn {
	int count, queues;
	int queue[INSTRUCTIONS_MOST], time[INSTRUCTIONS_MOST];
	bool edge[INSTRUCTIONS_MOST][INSTRUCTIONS_MOST], late[INSTRUCTIONS_MOST][INSTRUCTIONS_MOST];
	bool before[INSTRUCTIONS_MOST][INSTRUCTIONS_MOST]; /* by a chain of edges, or the same */
	bool reads[INSTRUCTIONS_MOST][PLACES], writes[INSTRUCTIONS_MOST][PLACES];
	int delay;
};

static struct drawn draw(struct random *random)
{
	struct drawn drawn = {0};
	drawn.count = 2 + (int)draw_below(random, INSTRUCTIONS_MOST - 1);
	drawn.queues = 1 + (int)draw_below(random, QUEUES_MOST);
	drawn.delay = (int)draw_below(random, 4);
	int last[QUEUES_MOST] = {-1, -1, -1, -1};
	for (int i = 0; i < drawn.count; i++) {
		int q = drawn.queue[i] = (int)draw_below(random, drawn.queues);
		drawn.time[i] = (int)draw_below(random, 6);
		for (int p = 0; p < PLACES; p++) {
			drawn.reads[i][p] = draw_below(random, 3) == 0;
			drawn.writes[i][p] = draw_below(random, 6) == 0;
		}
		for (int k = 0; k < i; k++) {
			drawn.edge[k][i] = k == last[q] || draw_below(random, 10) == 0;
			drawn.late[k][i] = k != last[q] && draw_below(random, 2);
		}
		last[q] = i;
		drawn.before[i][i] = true;
		for (int k = i - 1; k >= 0; k--)
			for (int m = k + 1; m <= i; m++)
				drawn.before[k][i] |= drawn.edge[k][m] && drawn.before[m][i];
	}
	return drawn;
}

static struct order open_order(const struct drawn *drawn, struct arena *arena)
{
	size_t most = INSTRUCTIONS_MOST * INSTRUCTIONS_MOST;
	struct order order = order_open((size_t)drawn->count, most, arena);
	for (int i = 0; i < drawn->count; i++)
		for (int k = 0; k < i; k++)
			if (drawn->edge[k][i])
				order_edge(&order, (uint32_t)k, (uint32_t)i, drawn->late[k][i]);
	order_keep_times(&order);
	return order;
}

static struct race *open_race(
	const struct drawn *drawn, const struct order *order, struct arena *arena)
{
	struct race *race = race_open(order, (uint32_t)drawn->queues, arena);
	uint32_t length[QUEUES_MOST] = {0};
	for (int i = 0; i < drawn->count; i++)
		race_seat(race, (uint32_t)i, (uint32_t)drawn->queue[i], ++length[drawn->queue[i]]);
	return race;
}

/* The accesses to a place so far. */
struct place {
	int writer;
	bool reader[INSTRUCTIONS_MOST];
	struct race_mark mark;
};

static void access_places(const struct drawn *drawn, struct race *race, int i, struct place *places)
{
	for (int p = 0; p < PLACES; p++) {
		struct place *place = &places[p];
		int writer = place->writer;
		bool ordered = writer < 0 || drawn->before[writer][i], free = false;
		uint32_t wanted = ordered ? RACE_NONE : (uint32_t)writer;
		if (drawn->reads[i][p]) {
			assert_int_equal(race_read(race, &place->mark), wanted);
			place->reader[i] = true;
		}
		if (!drawn->writes[i][p])
			continue;
		struct race_conflict found = race_write(race, &place->mark);
		for (int k = 0; k < drawn->count; k++)
			free |= place->reader[k] && !drawn->before[k][i];
		assert_int_equal(found.writer, wanted);
		assert_int_equal(found.reader != RACE_NONE, free);
		if (free)
			assert_true(place->reader[found.reader] && !drawn->before[found.reader][i]);
		*place = (struct place){.writer = i, .mark = place->mark};
	}
}

/* Returns the instruction that runs next, by the ends of those that have run; -1: none is left. */
static int find_next(
	const struct drawn *drawn, const bool *done, const int64_t *ends, int64_t *start)
{
	int found = -1;
	for (int i = 0; i < drawn->count; i++) {
		bool ready = !done[i];
		int64_t at = 0;
		for (int k = 0; k < i; k++)
			if (drawn->edge[k][i]) {
				ready &= done[k];
				at = number_max(
					at, ends[k] + (drawn->late[k][i] ? drawn->delay : 0));
			}
		if (ready && (found < 0 || at < *start)) {
			found = i;
			*start = at;
		}
	}
	return found;
}

static void run_drawn(const struct drawn *drawn, struct arena *arena)
{
	struct order order = open_order(drawn, arena);
	struct race *race = open_race(drawn, &order, arena);
	struct place places[PLACES] = {{.writer = -1}, {.writer = -1}, {.writer = -1}};
	bool done[INSTRUCTIONS_MOST] = {false};
	int64_t ends[INSTRUCTIONS_MOST], start = 0, latest = 0;
	struct order_event event;
	order_start(&order);
	for (int i; (i = find_next(drawn, done, ends, &start)) >= 0;) {
		assert_true(order_next(&order, &event));
		assert_int_equal(event.instruction, i);
		assert_int_equal(event.time, start);
		race_begin(race, (uint32_t)i);
		access_places(drawn, race, i, places);
		race_end(race);
		done[i] = true;
		ends[i] = start + drawn->time[i];
		latest = number_max(latest, ends[i]);
		order_end(&order, event, ends[i], drawn->delay);
		assert_int_equal(order.times[i].start, start);
		assert_int_equal(order.times[i].end, ends[i]);
	}
	assert_false(order_next(&order, &event));
	assert_int_equal(order.ran, drawn->count);
	assert_int_equal(order.end, latest);
}

BARE_TEST(programs_run_in_order_and_accesses_are_ordered_by_chains_alone)
{
	uint64_t seed = draws_seed(41);
	long count = draws(3000);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct drawn drawn = draw(&random);
		run_drawn(&drawn, arena);
		arena_close(arena);
	}
}
