#include "constraints/unlisted.h"

#include "base/diag.h"
#include "constraints/bound.h"
#include "model/nest/directive.h"

bool unlisted_read(const struct constraint_context *context, const struct node *value,
	enum relation relation, struct constraint *out)
{
	static const char *const keys[] = {"factors", "factors_only"};
	int64_t bound;
	if (!node_integer(context->reading, value, "a factor", 1, INT64_MAX, &bound))
		return false;
	uint32_t rest = (UINT32_C(1) << context->shape->dimension_count) - 1;
	for (int k = 0; k < 2; k++) {
		const struct node *list = node_find(context->beside, keys[k]);
		const struct constraint_factor *factors;
		int count = 0;
		/* What is wrong with it is told where it is read itself. */
		struct reading silent = *context->reading;
		silent.diag = diag_open(silent.arena);
		if (list)
			directive_factors(&silent, list, context->shape, &factors, &count);
		for (int i = 0; i < count; i++)
			rest &= ~(UINT32_C(1) << factors[i].dimension);
	}
	bound_fill(context, rest, relation, bound, value->span, out);
	return true;
}
