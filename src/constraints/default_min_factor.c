#include "constraints/bound.h"
#include "constraints/unlisted.h"

static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return unlisted_read(context, value, RELATION_AT_LEAST, out);
}

const struct constraint_kind constraint_default_min_factor = {
	.key = "default_min_factor",
	.summary = "the least that a loop may have that 'factors' beside it does not list",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};
