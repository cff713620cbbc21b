#include "base/arena.h"
#include "base/text.h"
#include "constraints/graph.h"

static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const char *word;
	if (!graph_read_tensor(context, value, out) ||
		!node_text(context->reading, value, "a residency", &word))
		return false;
	out->lx = text_equal(word, "lx");
	if (out->lx || text_equal(word, "hbm"))
		return true;
	return reading_refuse(context->reading, value, "a residency is lx or hbm, not '%s'", word);
}

static bool is_in_lx(const struct plan *plan, int tensor)
{
	for (int i = 0; i < plan->residency_count; i++)
		if (plan->residencies[i].tensor == tensor && plan->residencies[i].place == PLACE_LX)
			return true;
	return false;
}

/* All stays in LX, not one of several. */
static bool is_in_hbm(const struct plan *plan, int tensor)
{
	for (int i = 0; i < plan->residency_count; i++)
		if (plan->residencies[i].tensor == tensor &&
			plan->residencies[i].place == PLACE_HBM)
			return true;
	return false;
}

/* A clone of a graph input in LX stands for the input. */
static bool has_clone_in_lx(const struct plan *plan, int tensor)
{
	for (size_t o = 0; o < plan->workload->op_count; o++) {
		const struct op *op = &plan->workload->ops[o];
		if (op->inserted && op->reads[0].tensor == tensor &&
			is_in_lx(plan, op->writes[0].tensor))
			return true;
	}
	return false;
}

static const char *check_plan(
	const struct constraint *constraint, const struct plan *plan, struct arena *arena)
{
	int tensor = workload_tensor(plan->workload, constraint->subject);
	if (tensor < 0)
		return arena_format(arena, "the plan has no tensor '%s'", constraint->subject);
	bool cloned = has_clone_in_lx(plan, tensor), in_lx = is_in_lx(plan, tensor);
	if (constraint->lx && !cloned && (!in_lx || is_in_hbm(plan, tensor)))
		return arena_format(
			arena, "'%s' lives in HBM, it must live in LX", constraint->subject);
	if (!constraint->lx && (cloned || in_lx))
		return arena_format(
			arena, "'%s' lives in LX, it must live in HBM", constraint->subject);
	return NULL;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(
		arena, "'%s' lives in %s", constraint->subject, constraint->lx ? "LX" : "HBM");
}

const struct constraint_kind constraint_residency = {
	.key = "residency",
	.summary = "of a graph: lx or hbm, where a tensor (target) must live",
	.parts = 1u << PART_GRAPH,
	.read = read,
	.check_plan = check_plan,
	.explain = explain,
};
