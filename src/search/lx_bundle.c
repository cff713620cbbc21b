#include "base/arena.h"
#include "search/lx_passes.h"

/*
 * Bundles before anybody plans them: greedy in order, each with at most so many
 * distinct tensors in HBM; tensors in LX are no arguments of a bundle.  An
 * opaque op is the last of its bundle.  Moves and the op that they feed stay
 * together.
 */
struct bundle {
	int64_t *seen; /* by tensor: the last bundle that had it as an argument, + 1 */
	int number;
	int64_t tensors;
};

/* Tensors of steps [first, end) that would be new arguments of the bundle; notes them if told. */
static int64_t count_new(
	const struct plan *plan, struct bundle *bundle, int first, int end, bool note)
{
	int64_t count = 0, mark = bundle->number + 1, probe = -mark;
	for (int step = first; step < end; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		for (int i = 0; i < op->read_count + op->write_count; i++) {
			int tensor = (i < op->read_count ? &op->reads[i]
							 : &op->writes[i - op->read_count])
					     ->tensor;
			int64_t *seen = &bundle->seen[tensor];
			if (*seen == mark || *seen == probe || plan_lx(plan, tensor, step))
				continue;
			*seen = note ? mark : probe;
			count++;
		}
	}
	return count;
}

static void bundle_steps(const struct lx_graph *graph, struct plan *plan)
{
	struct bundle bundle = {
		.seen = arena_array(graph->arena, int64_t, plan->workload->tensor_count)};
	int64_t most = graph->arch->bundle_tensors;
	for (int first = 0, end; first < plan->step_count; first = end) {
		end = first;
		while (end < plan->step_count - 1 && plan_is_move(plan, end))
			end++;
		end++;
		int64_t added = count_new(plan, &bundle, first, end, false);
		if (most > 0 && bundle.tensors && bundle.tensors + added > most) {
			bundle.number++;
			bundle.tensors = 0;
		}
		bundle.tensors += count_new(plan, &bundle, first, end, true);
		for (int step = first; step < end; step++)
			plan->steps[step].bundle = bundle.number;
		if (plan->workload->ops[plan->steps[end - 1].op].kind == OP_OPAQUE) {
			bundle.number++;
			bundle.tensors = 0;
		}
	}
}

const struct lx_pass lx_bundle_pass = {.name = "bundle", .after = bundle_steps};
