#include "sim/graph/chip.h"

#include "base/arena.h"

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

/* Edges into i.  An instruction of another engine sees the end of one late. */
static void add_edges(
	struct order *order, const struct before *before, const struct program *program, uint32_t i)
{
	const struct instruction *instruction = &program->instructions[i];
	for (uint32_t k = 0; k < before->count; k++)
		order_edge(order, before->at[k], i,
			program->instructions[before->at[k]].engine != instruction->engine);
	for (size_t k = 0; k < instruction->dependence_count; k++) {
		uint32_t from = instruction->dependences[k];
		if (from < order->count)
			order_edge(order, from, i,
				program->instructions[from].engine != instruction->engine);
		else
			order_block(order, i);
	}
}

struct order order_make(const struct program *program, struct arena *arena)
{
	struct order order = order_open(program->instruction_count, count_edges(program), arena);
	struct before before;
	open_before(&before);
	for (uint32_t i = 0; i < order.count; i++) {
		advance_queues(&before, program, i);
		add_edges(&order, &before, program, i);
	}
	return order;
}

struct race *race_make(
	const struct program *program, const struct order *order, struct arena *arena)
{
	uint32_t length[QUEUES] = {0}, number[QUEUES] = {0}, count = 0;
	for (uint32_t i = 0; i < order->count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		if (instruction->mask == 0)
			continue;
		int q = program_queue(program, instruction) * PROGRAM_CORES_MOST +
			__builtin_ctzll(instruction->mask);
		if (number[q] == 0)
			number[q] = ++count;
	}
	struct race *race = race_open(order, count, arena);
	for (uint32_t i = 0; i < order->count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		if (instruction->mask == 0)
			continue;
		int first = program_queue(program, instruction) * PROGRAM_CORES_MOST;
		for (uint64_t mask = instruction->mask; mask; mask &= mask - 1)
			length[first + __builtin_ctzll(mask)]++;
		int q = first + __builtin_ctzll(instruction->mask);
		race_seat(race, i, number[q] - 1, length[q]);
	}
	return race;
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

int order_stuck(const struct program *program, const struct order *order, struct arena *scratch,
	int most, uint32_t *stuck)
{
	const bool *done = order->done;
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
