#include "constraints/flag.h"

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
	.read = flag_read,
	.flag = flag,
	.check = flag_check,
	.explain = explain,
};
