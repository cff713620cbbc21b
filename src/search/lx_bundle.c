#include "base/arena.h"
#include "search/lx_passes.h"

/*
 * Bundles before anybody plans them: greedy in order, each with at most so many
 * distinct tensors in HBM; tensors in LX are no arguments of a bundle.  An
 * opaque op is the last of its bundle.  Moves and the op that they feed stay
 * together.
 */

/* Tensors in HBM that steps [first, end) use and that have no stamp yet; they get it. */
static int64_t count_arguments(const struct plan *plan, int first, int end, int *seen, int stamp)
{
	int64_t count = 0;
	for (int step = first; step < end; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		for (int i = 0; i < op_operands(op); i++) {
			int tensor = op_operand(op, i)->tensor;
			int home = tensor_home(plan->workload, tensor);
			if (seen[home] == stamp || !plan_is_argument(plan, step, i))
				continue;
			seen[home] = stamp;
			count++;
		}
	}
	return count;
}

/* The end of what cannot be parted: moves and the op behind them. */
static int find_end(const struct plan *plan, int first)
{
	while (first < plan->step_count - 1 && plan_is_move(plan, first))
		first++;
	return first + 1;
}

static void bundle_steps(const struct lx_graph *graph, struct plan *plan)
{
	int *seen = arena_array(graph->arena, int, plan->workload->tensor_count);
	int64_t most = graph->arch->bundle_tensors, count = 0;
	int bundle = 0, start = 0;
	for (int first = 0, end; first < plan->step_count; first = end) {
		end = find_end(plan, first);
		count += count_arguments(plan, first, end, seen, bundle + 1);
		if (most > 0 && start < first && count > most) {
			bundle++;
			start = first;
			count = count_arguments(plan, first, end, seen, bundle + 1);
		}
		for (int step = first; step < end; step++)
			plan->steps[step].bundle = bundle;
		if (plan->workload->ops[plan->steps[end - 1].op].kind == OP_OPAQUE) {
			bundle++;
			start = end;
			count = 0;
		}
	}
}

const struct lx_pass lx_bundle_pass = {.name = "bundle", .after = bundle_steps};
