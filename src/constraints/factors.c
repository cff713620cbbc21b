#include "base/diag.h"
#include "constraints/bound.h"
#include "model/nest/constraint.h"

/* Bounds of loops one by one, and one bound for all that are not listed. */
static uint32_t unlisted(
	const struct constraint_context *context, const struct constraint_factor *listed, int count)
{
	uint32_t rest = (UINT32_C(1) << context->shape->dimension_count) - 1;
	for (int i = 0; i < count; i++)
		rest &= ~(UINT32_C(1) << listed[i].dimension);
	return rest;
}

static bool read_only(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!bound_read(context, value, out))
		return false;
	bound_fill(context, unlisted(context, out->factors, out->factor_count), RELATION_EQUAL, 1,
		value->span, out);
	return true;
}

/* What `factors` and `factors_only` beside it do not list. */
static bool read_default(const struct constraint_context *context, const struct node *value,
	enum relation relation, struct constraint *out)
{
	static const char *const keys[] = {"factors", "factors_only"};
	int64_t bound;
	if (!node_integer(context->reading, value, "a factor", 1, INT64_MAX, &bound))
		return false;
	uint32_t rest = unlisted(context, NULL, 0);
	for (int k = 0; k < 2; k++) {
		const struct node *list = node_find(context->beside, keys[k]);
		const struct constraint_factor *factors = NULL;
		int count = 0;
		/* What is wrong with it is told where it is read itself. */
		struct reading silent = *context->reading;
		silent.diag = diag_open(silent.arena);
		if (list)
			directive_factors(&silent, list, context->shape, &factors, &count);
		rest &= unlisted(context, factors, count);
	}
	bound_fill(context, rest, relation, bound, value->span, out);
	return true;
}

static bool read_most(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return read_default(context, value, RELATION_AT_MOST, out);
}

static bool read_least(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return read_default(context, value, RELATION_AT_LEAST, out);
}

const struct constraint_kind constraint_factors = {
	.key = "factors",
	.summary = "bounds of loops: [K=4, C<=16, P>=2]; =0 is the full size",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = bound_read,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};

const struct constraint_kind constraint_factors_only = {
	.key = "factors_only",
	.summary = "bounds of loops; all others are 1",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_only,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};

const struct constraint_kind constraint_default_max_factor = {
	.key = "default_max_factor",
	.summary = "the most that a loop may have that 'factors' beside it does not list",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_most,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};

const struct constraint_kind constraint_default_min_factor = {
	.key = "default_min_factor",
	.summary = "the least that a loop may have that 'factors' beside it does not list",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_least,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};
