#include "model/graph/plan_file.h"
#include "search/graph/lx_passes.h"

/* The end of what cannot be parted: moves and the op behind them. */
static int find_end(const struct plan *plan, int first)
{
	while (first < plan->step_count - 1 && plan_is_move(plan, first))
		first++;
	return first + 1;
}

void lx_bundle_steps(const struct lx_graph *graph, struct plan *plan)
{
	struct plan_arguments arguments = plan_arguments_open(plan, graph->arena);
	int64_t most = graph->arch->bundle_tensors;
	int bundle = 0, start = 0;
	for (int first = 0, end; first < plan->step_count; first = end) {
		end = find_end(plan, first);
		plan_arguments_add(&arguments, first, end);
		if (most > 0 && start < first && arguments.count > most) {
			bundle++;
			start = first;
			plan_arguments_clear(&arguments);
			plan_arguments_add(&arguments, first, end);
		}
		for (int step = first; step < end; step++)
			plan->steps[step].bundle = bundle;
		if (plan->workload->ops[plan->steps[end - 1].op].primitive->kind == OP_OPAQUE) {
			bundle++;
			start = end;
			plan_arguments_clear(&arguments);
		}
	}
}
