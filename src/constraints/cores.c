#include "base/arena.h"
#include "constraints/graph.h"
#include "model/graph/op_mapping.h"

/* More than the machine has is no limit: of one file for machines of several sizes it may be meant so. */
static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!graph_read_op(context, out) ||
		!node_integer(
			context->reading, value, "a number of cores", 1, INT32_MAX, &out->number))
		return false;
	if (out->number > arch_cores(context->arch))
		diag_warning(context->reading->diag, value->span,
			"the machine has %lld cores, so a limit of %lld limits nothing",
			(long long)arch_cores(context->arch), (long long)out->number);
	return true;
}

static const char *check_plan(
	const struct constraint *constraint, const struct plan *plan, struct arena *arena)
{
	for (int i = 0; i < plan->step_count; i++) {
		const struct op *op = &plan->workload->ops[plan->steps[i].op];
		int64_t cores = mapping_cores(plan->arch, &plan->steps[i].mapping);
		if (graph_means(constraint, op) && cores > constraint->number)
			return arena_format(arena, "op '%s' uses %lld cores, more than %lld",
				op->name, (long long)cores, (long long)constraint->number);
	}
	return NULL;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "%s uses at most %lld cores", graph_subject(arena, constraint),
		(long long)constraint->number);
}

const struct constraint_kind constraint_cores = {
	.key = "cores",
	.summary = "of a graph: cores that an op (target; all without) may use",
	.parts = 1u << PART_GRAPH,
	.read = read,
	.check_plan = check_plan,
	.explain = explain,
};
