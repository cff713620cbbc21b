#include "sim/graph/race.h"

#include "base/arena.h"
#include "base/array.h"

struct race_reader {
	uint32_t instruction, next;
};

struct seat {
	uint32_t queue, number;
};

struct race {
	const struct order *order;
	struct arena *arena;
	struct seat *seats; /* by instruction */
	uint32_t queue_count;
	uint32_t **clocks; /* by instruction; NULL: nothing known, or handed on */
	uint32_t current;
	const uint32_t *clock; /* of the current instruction */
	struct array(uint32_t *) spare;
	struct array(struct race_reader) readers; /* number 0 is nobody */
	uint32_t free_reader;
};

/*
 * One seat in a queue tells an instruction apart: its number, from 1, in its
 * queue on the lowest core of its mask.  An instruction without a mask has
 * none.
 */
static void find_seats(struct race *race, const struct program *program)
{
	uint32_t length[PROGRAM_QUEUES * PROGRAM_CORES_MOST] = {0};
	uint32_t number[PROGRAM_QUEUES * PROGRAM_CORES_MOST] = {0}; /* from 1, by first use */
	for (uint32_t i = 0; i < race->order->count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		race->seats[i].queue = RACE_NOBODY;
		if (instruction->mask == 0)
			continue;
		int first = program_queue(program, instruction) * PROGRAM_CORES_MOST;
		for (uint64_t mask = instruction->mask; mask; mask &= mask - 1)
			length[first + __builtin_ctzll(mask)]++;
		int q = first + __builtin_ctzll(instruction->mask);
		if (number[q] == 0)
			number[q] = ++race->queue_count;
		race->seats[i] = (struct seat){number[q] - 1, length[q]};
	}
}

struct race *race_open(
	const struct program *program, const struct order *order, struct arena *arena)
{
	struct race *race = arena_new(arena, struct race);
	race->order = order;
	race->arena = arena;
	race->seats = arena_array(arena, struct seat, order->count);
	race->clocks = arena_array(arena, uint32_t *, order->count);
	array_add(arena, &race->readers);
	find_seats(race, program);
	return race;
}

static uint32_t *take_clock(struct race *race)
{
	if (race->spare.count == 0)
		return arena_array(race->arena, uint32_t, race->queue_count);
	uint32_t *clock = race->spare.at[--race->spare.count];
	memset(clock, 0, race->queue_count * sizeof *clock);
	return clock;
}

void race_begin(struct race *race, uint32_t i)
{
	struct seat seat = race->seats[i];
	if (!race->clocks[i])
		race->clocks[i] = take_clock(race);
	if (seat.queue != RACE_NOBODY)
		race->clocks[i][seat.queue] = seat.number;
	race->current = i;
	race->clock = race->clocks[i];
}

void race_end(struct race *race)
{
	const struct order *order = race->order;
	uint32_t i = race->current, *clock = race->clocks[i];
	for (uint32_t e = order->nodes[i].followers; e; e = order->edges[e].next) {
		uint32_t next = order->edges[e].to;
		if (!race->clocks[next])
			race->clocks[next] = take_clock(race);
		uint32_t *into = race->clocks[next];
		for (uint32_t q = 0; q < race->queue_count; q++)
			into[q] = into[q] > clock[q] ? into[q] : clock[q];
	}
	race->clocks[i] = NULL;
	*array_add(race->arena, &race->spare) = clock;
}

uint32_t race_current(const struct race *race)
{
	return race->current;
}

bool race_ordered(const struct race *race, uint32_t earlier)
{
	struct seat seat = race->seats[earlier];
	return seat.queue == RACE_NOBODY || race->clock[seat.queue] >= seat.number;
}

static uint32_t take_reader(struct race *race)
{
	uint32_t number = race->free_reader;
	if (number == 0) {
		array_add(race->arena, &race->readers);
		return (uint32_t)race->readers.count - 1;
	}
	race->free_reader = race->readers.at[number].next;
	return number;
}

static void free_reader(struct race *race, uint32_t number)
{
	race->readers.at[number].next = race->free_reader;
	race->free_reader = number;
}

uint32_t race_add_reader(struct race *race, uint32_t readers)
{
	uint32_t kept = 0;
	while (readers) {
		uint32_t next = race->readers.at[readers].next;
		if (race_ordered(race, race->readers.at[readers].instruction)) {
			free_reader(race, readers);
		} else {
			race->readers.at[readers].next = kept;
			kept = readers;
		}
		readers = next;
	}
	uint32_t added = take_reader(race);
	race->readers.at[added] = (struct race_reader){race->current, kept};
	return added;
}

uint32_t race_find_unordered(const struct race *race, uint32_t readers)
{
	while (readers && race_ordered(race, race->readers.at[readers].instruction))
		readers = race->readers.at[readers].next;
	return readers ? race->readers.at[readers].instruction : RACE_NOBODY;
}

void race_clear_readers(struct race *race, uint32_t readers)
{
	while (readers) {
		uint32_t next = race->readers.at[readers].next;
		free_reader(race, readers);
		readers = next;
	}
}
