#include "constraints/flag.h"

static void flag(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	struct nest_level *level = flag_level(hierarchy, constraint);
	if (!level)
		return;
	uint8_t spaces = (uint8_t)constraint->spaces;
	if (constraint->part == PART_SPATIAL)
		level->no_spatial_reuse |= spaces;
	else
		level->no_temporal_reuse |= spaces;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return flag_explain(domain, constraint,
		constraint->part == PART_SPATIAL ? "no multicast and no spatial reduction"
						 : "no reuse over time",
		arena);
}

const struct constraint_kind constraint_no_reuse = {
	.key = "no_reuse",
	.summary =
		"dataspaces without multicast and reduction (spatial) or emptied at every step (temporal)",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = flag_read,
	.flag = flag,
	.check = flag_check,
	.explain = explain,
};
