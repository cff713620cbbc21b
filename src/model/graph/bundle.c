#include "model/graph/bundle.h"

#include "base/arena.h"
#include "model/graph/plan_file.h"

#include <inttypes.h>

static bool is_one_phase(const struct plan *plan, int first, int end)
{
	while (first + 1 < end && plan_joins_next(plan, first))
		first++;
	return first + 1 >= end;
}

/* The first step with which the bundle has too many tensors; -1. */
static int find_excess(
	const struct plan *plan, struct plan_arguments *arguments, int first, int end)
{
	int64_t most = plan->arch->bundle_tensors;
	plan_arguments_clear(arguments);
	for (int step = first; most > 0 && step < end; step++) {
		plan_arguments_add(arguments, step, step + 1);
		if (arguments->count > most && !is_one_phase(plan, first, end))
			return step;
	}
	return -1;
}

const char *plan_bundle_misfit(struct arena *arena, const struct plan *plan, int *step)
{
	struct plan_arguments arguments = plan_arguments_open(plan, arena);
	for (int first = 0, end; first < plan->step_count; first = end) {
		int bundle = plan->steps[first].bundle;
		for (end = first; end < plan->step_count && plan->steps[end].bundle == bundle;
			end++) {
			const struct op *before =
				end > first ? &plan->workload->ops[plan->steps[end - 1].op] : NULL;
			*step = end;
			if (before && before->primitive->kind == OP_OPAQUE)
				return arena_format(arena,
					"it is in bundle %d, which ends with the opaque op '%s'",
					bundle, before->name);
		}
		*step = find_excess(plan, &arguments, first, end);
		if (*step >= 0)
			return arena_format(arena,
				"with it bundle %d has %d tensors in HBM; the machine takes %" PRId64,
				bundle, arguments.count, plan->arch->bundle_tensors);
	}
	return NULL;
}
