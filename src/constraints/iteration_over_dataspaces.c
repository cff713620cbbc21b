#include "base/arena.h"
#include "base/text.h"
#include "constraints/bound.h"
#include "constraints/place.h"
#include "model/nest/constraint.h"

/* The dimensions of dataspaces. */
static uint32_t relevant_to(const struct shape *shape, uint32_t spaces)
{
	uint32_t dimensions = 0;
	for (int t = 0; t < shape->space_count; t++)
		if (spaces >> t & 1)
			dimensions |= shape->spaces[t].relevant;
	return dimensions;
}

static bool read_none(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!directive_spaces(context->reading, value, context->shape, &out->spaces))
		return false;
	bound_fill(context, relevant_to(context->shape, out->spaces), RELATION_EQUAL, 1,
		value->span, out);
	return true;
}

/*
 * Every listed dataspace has a loop with a bound above 1.  Timeloop reads it the
 * other way around: no dimension that is in none of them may have one; that is
 * a list of factors here.
 */
static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct shape *shape = context->shape;
	if (!directive_spaces(context->reading, value, shape, &out->spaces))
		return false;
	if (!context->timeloop)
		return true;
	uint32_t rest = (UINT32_C(1) << shape->dimension_count) - 1;
	rest &= ~relevant_to(shape, out->spaces);
	out->spaces = 0;
	bound_fill(context, rest, RELATION_EQUAL, 1, value->span, out);
	return true;
}

static void narrow_space(struct domain *domain, const struct constraint *constraint, int self,
	int t, struct clashes *clashes)
{
	uint32_t relevant = domain->shape->spaces[t].relevant;
	struct factor_domain *only = NULL;
	int able = 0, by = -1;
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		struct factor_domain *factor = place_factor(domain, constraint, d);
		if (!(relevant >> d & 1))
			continue;
		if (factor->most > 1) {
			able++;
			only = factor;
		} else if (by < 0) {
			by = factor->most_by;
		}
	}
	if (!able)
		clash_add(clashes, self, by, constraint->span,
			"%s must iterate over %s, but the bounds of %s are all 1 there",
			place_text(clashes->arena, domain, constraint),
			domain->shape->spaces[t].name,
			place_dimensions(clashes->arena, domain->shape, relevant));
	if (able == 1 && only->least < 2) {
		only->least = 2;
		only->least_by = self;
	}
}

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	bound_narrow(domain, constraint, self, clashes);
	struct row_domain *row = &domain->rows[constraint->row];
	*(constraint->part == PART_SPATIAL ? &row->spatial_over : &row->temporal_over) |=
		constraint->spaces;
	for (int t = 0; t < domain->shape->space_count; t++)
		if (constraint->spaces >> t & 1)
			narrow_space(domain, constraint, self, t, clashes);
}

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	for (int t = 0; t < domain->shape->space_count; t++) {
		bool loops = false;
		for (int d = 0; d < domain->shape->dimension_count; d++)
			loops |= domain->shape->spaces[t].relevant >> d & 1 &&
				 place_bound(mapping, constraint, d) > 1;
		if (constraint->spaces >> t & 1 && !loops)
			return arena_format(arena, "%s has no loop over %s",
				place_text(arena, domain, constraint),
				domain->shape->spaces[t].name);
	}
	return bound_check(domain, constraint, mapping, arena);
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	if (!constraint->spaces)
		return bound_explain(domain, constraint, arena);
	struct text text = text_open(arena);
	for (int t = 0; t < domain->shape->space_count; t++)
		if (constraint->spaces >> t & 1)
			text_add(&text, "%s %s (%s)", text.length ? "," : "",
				domain->shape->spaces[t].name,
				place_dimensions(
					arena, domain->shape, domain->shape->spaces[t].relevant));
	return arena_format(arena, "%s iterates over each of%s",
		place_text(arena, domain, constraint), text_read(&text));
}

const struct constraint_kind constraint_must_iterate_over_dataspaces = {
	.key = "must_iterate_over_dataspaces",
	.summary = "dataspaces each of which has a loop above 1 there",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.round = 2,
	.read = read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};

static const char *explain_none(
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
	.read = read_none,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = explain_none,
};
