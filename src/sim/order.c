#include "sim/order.h"

#include "base/arena.h"
#include "base/fatal.h"

#include <string.h>

enum { QUEUES = ENGINE_COUNT * PROGRAM_CORES_MOST };

/* The instructions that i waits for directly, each once, as they are found in program order. */
struct before {
	uint32_t last[QUEUES]; /* the latest instruction in each queue */
	uint32_t *mark;        /* i + 1: already listed for i */
	uint32_t at[PROGRAM_CORES_MOST];
	uint32_t count;
};

static void open_before(struct before *before, size_t count, struct arena *scratch)
{
	for (int q = 0; q < QUEUES; q++)
		before->last[q] = ORDER_NONE;
	before->mark = arena_array(scratch, uint32_t, count + 1);
}

/* The queue predecessors of i; then i is the latest in its queues. */
static void advance_queues(struct before *before, const struct program *program, uint32_t i)
{
	const struct instruction *instruction = &program->instructions[i];
	uint32_t *last = before->last + instruction->engine * PROGRAM_CORES_MOST;
	before->count = 0;
	for (uint64_t mask = instruction->mask; mask; mask &= mask - 1) {
		int core = __builtin_ctzll(mask);
		uint32_t previous = last[core];
		last[core] = i;
		if (previous == ORDER_NONE || before->mark[previous] == i + 1)
			continue;
		before->mark[previous] = i + 1;
		before->at[before->count++] = previous;
	}
}

/* A dependence that adds nothing: a queue, or the same one, says it already. */
static bool is_known(struct before *before, uint32_t i, uint32_t dependence)
{
	if (before->mark[dependence] == i + 1)
		return true;
	before->mark[dependence] = i + 1;
	return false;
}

/* Counts, or with `cursor` writes, the edges into every instruction. */
static void visit_edges(
	const struct program *program, struct order *order, uint32_t *cursor, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	struct before *before = arena_new(scratch, struct before);
	open_before(before, order->count, scratch);
	for (uint32_t i = 0; i < order->count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		advance_queues(before, program, i);
		for (uint32_t k = 0; k < before->count; k++) {
			if (cursor)
				order->at[cursor[before->at[k]]++] = i;
			else
				order->first[before->at[k] + 1]++;
		}
		uint32_t waiting = before->count;
		for (size_t k = 0; k < instruction->dependence_count; k++) {
			uint32_t dependence = instruction->dependences[k];
			if (dependence >= order->count) {
				waiting++;
				continue;
			}
			if (is_known(before, i, dependence))
				continue;
			waiting++;
			if (cursor)
				order->at[cursor[dependence]++] = i;
			else
				order->first[dependence + 1]++;
		}
		order->waiting[i] = waiting;
	}
	arena_release(scratch, mark);
}

static void number_queues(const struct program *program, struct order *order, struct arena *arena)
{
	uint32_t length[QUEUES] = {0};
	order->queue_of = arena_array(arena, int, QUEUES);
	for (int q = 0; q < QUEUES; q++)
		order->queue_of[q] = -1;
	order->queue = arena_array(arena, uint32_t, order->count);
	order->place = arena_array(arena, uint32_t, order->count);
	for (uint32_t i = 0; i < order->count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		order->queue[i] = ORDER_NONE;
		for (uint64_t mask = instruction->mask; mask; mask &= mask - 1) {
			int q = instruction->engine * PROGRAM_CORES_MOST + __builtin_ctzll(mask);
			if (order->queue_of[q] < 0)
				order->queue_of[q] = (int)order->queue_count++;
			length[q]++;
			if (order->queue[i] != ORDER_NONE)
				continue;
			order->queue[i] = (uint32_t)order->queue_of[q];
			order->place[i] = length[q];
		}
	}
}

struct order order_make(const struct program *program, struct arena *arena)
{
	if (program->instruction_count >= ORDER_NONE)
		BUG("%zu instructions are more than an order can number",
			program->instruction_count);
	struct order order = {.count = (uint32_t)program->instruction_count};
	order.waiting = arena_array(arena, uint32_t, order.count);
	order.first = arena_array(arena, uint32_t, (size_t)order.count + 1);
	visit_edges(program, &order, NULL, arena);
	for (uint32_t i = 0; i < order.count; i++)
		order.first[i + 1] += order.first[i];
	order.at = arena_array(arena, uint32_t, order.first[order.count]);
	uint32_t *cursor = arena_copy(arena, order.first, order.count * sizeof *cursor);
	visit_edges(program, &order, cursor, arena);
	number_queues(program, &order, arena);
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
		if (!done[j] && other->engine == instruction->engine &&
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
