#include "base/arena.h"
#include "constraints/graph.h"
#include "model/graph/box_nest.h"

static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return graph_read_op(context, out) &&
	       node_size(context->reading, value, "a span", 1, INT64_MAX, &out->number);
}

static const char *check_step(const struct constraint *constraint, const struct plan *plan,
	const struct step *step, struct arena *arena)
{
	const struct op *op = &plan->workload->ops[step->op];
	const char *why;
	if (!op_is_tiled(op) || !graph_means(constraint, op))
		return NULL;
	const struct iteration *iteration = iteration_make(arena, plan->workload, op, &why);
	if (!iteration)
		return arena_format(
			arena, "the spans of op '%s' cannot be told: %s", op->name, why);
	int64_t splits[OP_LOOPS_MOST];
	for (int l = 0; l < op->loop_count; l++)
		splits[l] = mapping_split(plan->arch, &step->mapping, l);
	for (int i = 0; i < iteration->operand_count; i++) {
		int64_t span = iteration_span(iteration, i, splits);
		if (span > constraint->number)
			return arena_format(arena,
				"op '%s': a core spans %lld bytes of '%s', more than %lld",
				op->name, (long long)span, iteration_tensor(iteration, i)->name,
				(long long)constraint->number);
	}
	return NULL;
}

static const char *check_plan(
	const struct constraint *constraint, const struct plan *plan, struct arena *arena)
{
	const char *why = NULL;
	for (int i = 0; i < plan->step_count && !why; i++)
		why = check_step(constraint, plan, &plan->steps[i], arena);
	return why;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "a core spans at most %lld bytes of an operand of %s",
		(long long)constraint->number, graph_subject(arena, constraint));
}

const struct constraint_kind constraint_span = {
	.key = "span",
	.summary =
		"of a graph: bytes of a tensor between the first and the last that a core of an op "
		"(target; all without) touches",
	.parts = 1u << PART_GRAPH,
	.read = read,
	.check_plan = check_plan,
	.explain = explain,
};
