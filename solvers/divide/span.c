#include "solvers/divide/span.h"

#include "base/arena.h"
#include "base/number.h"

struct span_choice {
	bool found;
	int64_t span;
	int64_t splits[OP_LOOPS_MOST];
};

/* The choice for one dimension of one operand. */
struct combining {
	const struct iteration *iteration;
	int operand;
	int64_t limit, cores;
	int loop_count;
	int loops[OP_LOOPS_MOST];
	struct divisors divisors[OP_LOOPS_MOST];
	int64_t splits[OP_LOOPS_MOST];
	struct span_choice within, above;
	uint64_t tried;
};

static void weigh(struct combining *c)
{
	c->tried++;
	int64_t span = iteration_span(c->iteration, c->operand, c->splits);
	struct span_choice *choice = span <= c->limit ? &c->within : &c->above;
	bool better = span <= c->limit ? span > choice->span : span < choice->span;
	if (choice->found && !better)
		return;
	choice->found = true;
	choice->span = span;
	for (int l = 0; l < c->iteration->loop_count; l++)
		choice->splits[l] = c->splits[l];
}

/* All combinations in lexicographic order; `used` cores are taken by the other loops. */
static void combine(struct combining *c, int at, int64_t used)
{
	if (at == c->loop_count) {
		weigh(c);
		return;
	}
	int l = c->loops[at];
	int64_t fixed = c->splits[l];
	for (size_t i = 0; i < c->divisors[at].count; i++) {
		int64_t split = c->divisors[at].at[i];
		if (split < fixed)
			continue;
		if (split > c->cores / used)
			break;
		c->splits[l] = split;
		combine(c, at + 1, used * split);
	}
	c->splits[l] = fixed;
}

static void gather(struct arena *arena, struct combining *c, uint32_t loops)
{
	for (int l = 0; l < c->iteration->loop_count; l++) {
		if (!(loops >> l & 1))
			continue;
		c->loops[c->loop_count] = l;
		c->divisors[c->loop_count++] = number_divisors(arena, c->iteration->size[l]);
	}
}

/* Cores that loops outside `loops` are divided over. */
static int64_t cores_used(const struct iteration *iteration, const int64_t *splits, uint32_t loops)
{
	int64_t used = 1;
	for (int l = 0; l < iteration->loop_count; l++)
		if (!(loops >> l & 1))
			used *= splits[l];
	return used;
}

/* Divides one operand's loops, dimension by dimension. */
static void shorten(struct arena *arena, struct span_search *search,
	const struct iteration *iteration, int operand, int64_t limit, int64_t cores)
{
	const struct coordinates *coordinates = &iteration->coordinates[operand];
	for (int d = 0; d < coordinates->rank - 1; d++) {
		uint32_t loops = coordinate_loops(&coordinates->dims[d]);
		if (!loops)
			continue;
		struct combining c = {
			.iteration = iteration, .operand = operand, .limit = limit, .cores = cores};
		for (int l = 0; l < iteration->loop_count; l++)
			c.splits[l] = search->splits[l];
		gather(arena, &c, loops);
		combine(&c, 0, cores_used(iteration, search->splits, loops));
		search->tried += c.tried;
		const struct span_choice *choice = c.within.found ? &c.within : &c.above;
		search->considered |= loops;
		for (int l = 0; l < iteration->loop_count; l++)
			search->splits[l] = choice->splits[l];
		if (choice->span <= limit)
			return;
		int outermost = iteration_span_dim(iteration, operand, search->splits);
		if (outermost >= 0 && outermost <= d) {
			search->unmet |= UINT32_C(1) << operand;
			return;
		}
	}
}

struct span_search span_search(
	struct arena *arena, const struct iteration *iteration, int64_t limit, int64_t cores)
{
	struct span_search search = {0};
	struct arena_mark mark = arena_mark(arena);
	for (int l = 0; l < iteration->loop_count; l++)
		search.splits[l] = 1;
	for (int i = 0; i < iteration->operand_count; i++)
		if (iteration_span(iteration, i, search.splits) > limit)
			shorten(arena, &search, iteration, i, limit, cores);
	arena_release(arena, mark);
	search.reductions = search.considered & ~iteration->output_loops;
	return search;
}
