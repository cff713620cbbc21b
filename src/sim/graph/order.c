#include "sim/graph/order.h"

#include "base/arena.h"
#include "base/fatal.h"

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
