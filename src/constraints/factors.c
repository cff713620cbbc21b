#include "constraints/bound.h"
#include "model/directive.h"

static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return directive_factors(
		context->reading, value, context->shape, &out->factors, &out->factor_count);
}

const struct constraint_kind constraint_factors = {
	.key = "factors",
	.summary = "bounds of loops: [K=4, C<=16, P>=2]; =0 is the full size",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};
