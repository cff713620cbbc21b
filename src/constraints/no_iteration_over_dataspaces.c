#include "base/arena.h"
#include "constraints/bound.h"
#include "constraints/place.h"
#include "model/nest/directive.h"

static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct shape *shape = context->shape;
	if (!directive_spaces(context->reading, value, shape, &out->spaces))
		return false;
	uint32_t dimensions = 0;
	for (int t = 0; t < shape->space_count; t++)
		if (out->spaces >> t & 1)
			dimensions |= shape->spaces[t].relevant;
	bound_fill(context, dimensions, RELATION_EQUAL, 1, value->span, out);
	return true;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "no iteration over %s at %s: %s",
		place_spaces(arena, domain->shape, constraint->spaces),
		place_text(arena, domain, constraint),
		bound_text(arena, domain->shape, constraint));
}

const struct constraint_kind constraint_no_iteration_over_dataspaces = {
	.key = "no_iteration_over_dataspaces",
	.summary = "dataspaces none of whose dimensions has a loop there",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = explain,
};
