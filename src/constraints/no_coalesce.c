#include "constraints/flag.h"

static void flag(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	struct nest_level *level = flag_level(hierarchy, constraint);
	if (level)
		level->no_coalesce |= (uint8_t)constraint->spaces;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return flag_explain(domain, constraint, "no coalescing", arena);
}

const struct constraint_kind constraint_no_coalesce = {
	.key = "no_coalesce",
	.summary = "dataspaces whose every word passes on by itself",
	.parts = 1u << PART_DATASPACE,
	.read = flag_read,
	.flag = flag,
	.check = flag_check,
	.explain = explain,
};
