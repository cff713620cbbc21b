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

/* Where a tensor lives, with its clone and with all that it is after evictions and reloads. */
struct homes {
	bool hbm, lx; /* an input's own place does not count: its clone stands for it */
};

static struct homes find_homes(const struct plan *plan, int tensor)
{
	struct homes homes = {0};
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		if (graph_meant(plan->workload, stay->tensor) != tensor)
			continue;
		if (stay->place == PLACE_LX)
			homes.lx = true;
		else if (plan->workload->tensors[stay->tensor].producer >= 0)
			homes.hbm = true;
	}
	return homes;
}

static const char *check_plan(
	const struct constraint *constraint, const struct plan *plan, struct arena *arena)
{
	int tensor = workload_tensor(plan->workload, constraint->subject);
	if (tensor < 0)
		return arena_format(arena, "the plan has no tensor '%s'", constraint->subject);
	struct homes homes = find_homes(plan, tensor);
	if (constraint->lx && (!homes.lx || homes.hbm))
		return arena_format(
			arena, "'%s' lives in HBM, it must live in LX", constraint->subject);
	if (!constraint->lx && homes.lx)
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
