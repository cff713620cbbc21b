#include "solvers/divide/two_pass.h"

#include "solvers/divide/k_fast.h"

static struct stored_splits store(const struct op *op, const int64_t *splits)
{
	const int64_t *write = op->writes[0].linear.loop;
	const int64_t *read = op->read_count ? op->reads[0].linear.loop : write;
	struct stored_splits stored = {0};
	int64_t range[OP_LOOPS_MOST];
	for (int l = 0; l < op->loop_count; l++) {
		stored.stored |= splits[l] > 1;
		range[l] = op->loops[l].extent;
	}
	stored.keyed = keyed_encode(op->loop_count, write, read, splits);
	keyed_decode(&stored.keyed, op->loop_count, range, write, read, stored.splits);
	return stored;
}

struct two_pass two_pass_divide(struct arena *arena, const struct iteration *iteration,
	int64_t limit, int64_t cores, bool k_fast)
{
	const struct op *op = iteration->op;
	struct two_pass made = {.search = span_search(arena, iteration, limit, cores)};
	made.refused = made.search.reductions & (made.search.reductions - 1);
	if (made.refused)
		return made;
	made.least = store(op, made.search.splits);
	made.k_fast = k_fast && k_fast_divide(iteration, made.least.splits, cores, made.given);
	if (!made.k_fast) {
		struct distribution given = distribute(iteration->loop_count, iteration->size,
			iteration->output_loops, made.least.splits, cores);
		made.dropped = given.dropped;
		for (int l = 0; l < op->loop_count; l++)
			made.given[l] = given.splits[l];
	}
	made.final = store(op, made.given);
	for (int i = 0; i < iteration->operand_count; i++)
		if (iteration_span(iteration, i, made.final.splits) > limit)
			made.overlong |= UINT32_C(1) << i;
	return made;
}
