#include "base/arena.h"
#include "base/number.h"
#include "constraints/place.h"

/* Read with the maximize_dims beside it; here it is a limit of its own. */
static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!node_find(context->beside, "maximize_dims"))
		return reading_refuse(context->reading, value,
			"'maximize_dims_capacity' wants 'maximize_dims' beside it");
	return node_integer(context->reading, value, "a capacity", 1, INT64_MAX, &out->number);
}

/* The dimensions of the maximize_dims that it belongs to. */
static uint32_t maximized(const struct domain *domain, const struct constraint *constraint)
{
	uint32_t mask = 0;
	const struct constraints *all = domain->constraints;
	for (size_t i = 0; all && i < all->count; i++) {
		const struct constraint *other = &all->at[i];
		for (int g = 0; other->row == constraint->row && other->part == constraint->part &&
				g < other->group_count;
			g++)
			mask |= other->groups[g];
	}
	return mask;
}

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	uint32_t dimensions = maximized(domain, constraint);
	int64_t product = 1;
	for (int d = 0; d < domain->shape->dimension_count; d++)
		if (dimensions >> d & 1 &&
			!number_mul(product, place_bound(mapping, constraint, d), &product))
			product = INT64_MAX;
	if (product <= constraint->number)
		return NULL;
	return arena_format(arena, "%s has %lld iterations over %s, more than its capacity %lld",
		place_text(arena, domain, constraint), (long long)product,
		place_dimensions(arena, domain->shape, dimensions), (long long)constraint->number);
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "%s has a capacity of %lld to maximize",
		place_text(arena, domain, constraint), (long long)constraint->number);
}

const struct constraint_kind constraint_maximize_dims_capacity = {
	.key = "maximize_dims_capacity",
	.summary = "the product of bounds that maximize_dims may reach; required for temporal ones",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read,
	.check = check,
	.explain = explain,
};
