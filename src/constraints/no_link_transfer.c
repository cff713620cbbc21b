#include "constraints/flag.h"

static void flag(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	struct nest_level *level = flag_level(hierarchy, constraint);
	if (level)
		level->no_link_transfer |= (uint8_t)constraint->spaces;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return flag_explain(domain, constraint, "no transfers between neighbours", arena);
}

const struct constraint_kind constraint_no_link_transfer = {
	.key = "no_link_transfer",
	.summary = "dataspaces that neighbours do not hand on",
	.parts = 1u << PART_SPATIAL,
	.read = flag_read,
	.flag = flag,
	.check = flag_check,
	.explain = explain,
};
