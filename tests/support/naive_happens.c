#include "tests/support/naive_happens.h"

#include "base/arena.h"

#include "tests/test.h"

bool naive_happens_before(const struct naive_happens *order, int64_t a, int64_t b)
{
	return order->before[b][a / 64] >> (a % 64) & 1;
}

static void add_before(const struct naive_happens *order, uint64_t *set, int64_t other)
{
	for (size_t w = 0; w < order->words; w++)
		set[w] |= order->before[other][w];
	set[other / 64] |= UINT64_C(1) << (other % 64);
}

/* The instruction before i in its engine's queue on a core; -1. */
static int64_t queue_before(const struct program *program, int64_t i, int core)
{
	const struct instruction *list = program->instructions;
	if (!(list[i].mask >> core & 1))
		return -1;
	for (int64_t j = i - 1; j >= 0; j--) {
		if (list[j].engine == list[i].engine && list[j].mask >> core & 1)
			return j;
	}
	return -1;
}

struct naive_happens naive_happens_make(struct arena *arena, const struct program *program)
{
	struct naive_happens order = {
		.program = program,
		.words = program->instruction_count / 64 + 1,
		.before = arena_array(arena, uint64_t *, program->instruction_count),
	};
	for (int64_t i = 0; i < (int64_t)program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		uint64_t *set = order.before[i] = arena_array(arena, uint64_t, order.words);
		for (size_t d = 0; d < instruction->dependence_count; d++) {
			assert_true(instruction->dependences[d] < i);
			add_before(&order, set, instruction->dependences[d]);
		}
		for (int c = 0; c < PROGRAM_CORES_MOST; c++) {
			int64_t other = queue_before(program, i, c);
			if (other >= 0)
				add_before(&order, set, other);
		}
	}
	return order;
}

bool naive_happens_implied(const struct naive_happens *order, int64_t i, uint32_t dependence)
{
	const struct instruction *instruction = &order->program->instructions[i];
	for (size_t d = 0; d < instruction->dependence_count; d++) {
		uint32_t other = instruction->dependences[d];
		if (other != dependence && naive_happens_before(order, dependence, other))
			return true;
	}
	for (int c = 0; c < PROGRAM_CORES_MOST; c++) {
		int64_t other = queue_before(order->program, i, c);
		if (other >= 0 &&
			(other == dependence || naive_happens_before(order, dependence, other)))
			return true;
	}
	return false;
}
