#include "constraints/flag.h"

/* Only what is written has a first update. */
static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct shape *shape = context->shape;
	bool written = false;
	if (!flag_read(context, value, out))
		return false;
	for (int t = 0; t < shape->space_count; t++)
		written |= shape->spaces[t].written && out->spaces >> t & 1;
	if (out->spaces && !written)
		diag_warning(context->reading->diag, value->span,
			"'rmw_first_update' changes nothing of dataspaces that are only read");
	return true;
}

static void flag(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	struct nest_level *level = flag_level(hierarchy, constraint);
	if (level)
		level->rmw_first_update |= (uint8_t)constraint->spaces;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return flag_explain(domain, constraint, "the first update is a read and a write", arena);
}

const struct constraint_kind constraint_rmw_first_update = {
	.key = "rmw_first_update",
	.summary = "dataspaces whose first update reads what it adds to",
	.parts = 1u << PART_TEMPORAL,
	.read = read,
	.flag = flag,
	.check = flag_check,
	.explain = explain,
};
