#include "base/arena.h"
#include "constraints/kind.h"

#include <math.h>

/* The part of a block's instances that spatial loops must take: AccelForge's min_usage. */
static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!node_number(context->reading, value, "a least usage", &out->least))
		return false;
	if (out->least >= 0 && out->least <= 1)
		return true;
	return reading_refuse(context->reading, value,
		"a least usage is a part of the instances, between 0 and 1, not %g", out->least);
}

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	struct row_domain *row = &domain->rows[constraint->row];
	row->least_usage = fmax(row->least_usage, constraint->least);
}

static void flag(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		if (level->block_row == constraint->row)
			level->least_usage = fmax(level->least_usage, constraint->least);
	}
}

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	double used = 1, all = (double)domain_fanout(domain->arch, constraint->row);
	for (int d = 0; d < domain->shape->dimension_count; d++)
		used *= mapping->rows[constraint->row].spatial[d];
	if (used / all >= constraint->least)
		return NULL;
	return arena_format(arena, "'%s' has %g of %g instances in use, %g of them must be",
		domain->arch->levels[constraint->row].name, used, all, constraint->least);
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "at least %g of the %lld instances of '%s' are in use",
		constraint->least, (long long)domain_fanout(domain->arch, constraint->row),
		domain->arch->levels[constraint->row].name);
}

const struct constraint_kind constraint_min_usage = {
	.key = "min_usage",
	.summary = "0.5: the least part of the instances of a fan-out that spatial loops take",
	.parts = 1u << PART_SPATIAL,
	.read = read,
	.narrow = narrow,
	.flag = flag,
	.check = check,
	.explain = explain,
};
