#include "constraints/bound.h"

static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!bound_read(context, value, out))
		return false;
	uint32_t rest = (UINT32_C(1) << context->shape->dimension_count) - 1;
	for (int i = 0; i < out->factor_count; i++)
		rest &= ~(UINT32_C(1) << out->factors[i].dimension);
	bound_fill(context, rest, RELATION_EQUAL, 1, value->span, out);
	return true;
}

const struct constraint_kind constraint_factors_only = {
	.key = "factors_only",
	.summary = "bounds of loops; all others are 1",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};
