#include "sim/graph/chip.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"

#include <assert.h>

enum { QUEUES = PROGRAM_QUEUES * PROGRAM_CORES_MOST };

static const uint32_t NOBODY = UINT32_MAX;

/* The instructions that are next before i in its queues, each once. */
struct before {
	uint32_t last[QUEUES]; /* the latest instruction in each queue */
	uint32_t at[PROGRAM_CORES_MOST];
	uint32_t count;
};

static void open_before(struct before *before)
{
	for (int q = 0; q < QUEUES; q++)
		before->last[q] = NOBODY;
}

static void add_before(struct before *before, uint32_t previous)
{
	uint32_t k = before->count;
	while (k > 0 && before->at[k - 1] != previous)
		k--;
	if (k == 0)
		before->at[before->count++] = previous;
}

/* Finds what is before i; then i is the latest in its queues. */
static void advance_queues(struct before *before, const struct program *program, uint32_t i)
{
	const struct instruction *instruction = &program->instructions[i];
	uint32_t *last = before->last + program_queue(program, instruction) * PROGRAM_CORES_MOST;
	before->count = 0;
	for (uint64_t mask = instruction->mask; mask; mask &= mask - 1) {
		int core = __builtin_ctzll(mask);
		if (last[core] != NOBODY)
			add_before(before, last[core]);
		last[core] = i;
	}
}

/* The most edges that there can be: a queue gives one, a dependence gives one. */
static size_t count_edges(const struct program *program)
{
	size_t count = 0;
	for (size_t i = 0; i < program->instruction_count; i++)
		count += program->instructions[i].dependence_count +
			 (size_t)__builtin_popcountll(program->instructions[i].mask);
	return count;
}

static void add_edge(struct order *order, uint32_t *edges, uint32_t from, uint32_t to)
{
	uint32_t edge = ++*edges;
	order->edges[edge] = (struct order_edge){to, order->nodes[from].followers};
	order->nodes[from].followers = edge;
}

/* Edges into i; two from the same instruction do no harm. */
static void add_edges(struct order *order, uint32_t *edges, const struct before *before,
	const struct instruction *instruction, uint32_t i)
{
	for (uint32_t k = 0; k < before->count; k++)
		add_edge(order, edges, before->at[k], i);
	for (size_t k = 0; k < instruction->dependence_count; k++) {
		if (instruction->dependences[k] < order->count)
			add_edge(order, edges, instruction->dependences[k], i);
	}
	order->nodes[i].waiting = before->count + (uint32_t)instruction->dependence_count;
}

struct order order_make(const struct program *program, struct arena *arena)
{
	size_t most = count_edges(program);
	if (program->instruction_count >= UINT32_MAX || most >= UINT32_MAX)
		BUG("%zu instructions are more than an order can number",
			program->instruction_count);
	struct order order = {.count = (uint32_t)program->instruction_count};
	uint32_t edges = 0;
	order.nodes = arena_array(arena, struct order_node, order.count);
	order.edges = arena_array(arena, struct order_edge, most + 1);
	struct before before;
	open_before(&before);
	for (uint32_t i = 0; i < order.count; i++) {
		advance_queues(&before, program, i);
		add_edges(&order, &edges, &before, &program->instructions[i], i);
	}
	assert(edges <= most);
	return order;
}

/* A predecessor of i that is not done; i itself if it waits for what does not exist. */
static uint32_t find_blocker(const struct program *program, const bool *done, uint32_t i)
{
	const struct instruction *instruction = &program->instructions[i];
	for (size_t k = 0; k < instruction->dependence_count; k++) {
		uint32_t dependence = instruction->dependences[k];
		if (dependence >= program->instruction_count)
			return i;
		if (!done[dependence])
			return dependence;
	}
	for (uint32_t j = i; j-- > 0;) {
		const struct instruction *other = &program->instructions[j];
		if (!done[j] &&
			program_queue(program, other) == program_queue(program, instruction) &&
			(other->mask & instruction->mask))
			return j;
	}
	return i;
}

int order_stuck(const struct program *program, const struct order *order, const bool *done,
	struct arena *scratch, int most, uint32_t *stuck)
{
	uint32_t i = 0;
	while (i < order->count && done[i])
		i++;
	if (i == order->count)
		return 0;
	struct arena_mark mark = arena_mark(scratch);
	bool *seen = arena_array(scratch, bool, order->count);
	while (!seen[i]) {
		seen[i] = true;
		i = find_blocker(program, done, i);
	}
	uint32_t start = i;
	int count = 0;
	do {
		if (count < most)
			stuck[count] = i;
		count++;
		i = find_blocker(program, done, i);
	} while (i != start);
	arena_release(scratch, mark);
	return count;
}

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
	struct array(struct race_reader) readers; /* number 0: none */
	uint32_t free_reader;
};

/*
 * One seat in a queue identifies an instruction: its number, from 1, in its
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
	assert(clock && clock == race->clock);
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
