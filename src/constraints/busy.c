#include "base/arena.h"
#include "base/number.h"
#include "constraints/kind.h"

/* The part of the multipliers that must be busy, {min: 0.5} or 0.5; `utilization` and `parallelism`
 * both mean it. */
static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct node *least = value->kind == NODE_MAP ? node_find(value, "min") : value;
	if (!least)
		return reading_refuse(context->reading, value,
			"a least utilization wants 'min', such as {min: 0.5}");
	if (!node_number(context->reading, least, "a least utilization", &out->least))
		return false;
	if (out->least >= 0 && out->least <= 1)
		return true;
	return reading_refuse(context->reading, least,
		"a least utilization is between 0 and 1, not %g", out->least);
}

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	if (constraint->least <= domain->least_parallelism)
		return;
	domain->least_parallelism = constraint->least;
	domain->least_parallelism_by = self;
}

static void flag(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	if (constraint->least > hierarchy->least_parallelism)
		hierarchy->least_parallelism = constraint->least;
}

/* Instances of the compute level in the machine. */
static int64_t multipliers(const struct arch *arch)
{
	int64_t product = 1;
	for (int r = 0; r < arch->level_count; r++)
		if (!number_mul(product, domain_fanout(arch, r), &product))
			return INT64_MAX;
	return product;
}

static int64_t busy(const struct domain *domain, const struct mapping *mapping)
{
	int64_t product = 1;
	for (int r = 0; r < domain->arch->level_count; r++)
		for (int d = 0; d < domain->shape->dimension_count; d++)
			if (!number_mul(product, mapping->rows[r].spatial[d], &product))
				return INT64_MAX;
	return product;
}

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	int64_t used = busy(domain, mapping), all = multipliers(domain->arch);
	if ((double)used >= constraint->least * (double)all)
		return NULL;
	return arena_format(arena, "%lld of %lld multipliers are busy, %g of them must be",
		(long long)used, (long long)all, constraint->least);
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "at least %g of the %lld multipliers are busy",
		constraint->least, (long long)multipliers(domain->arch));
}

const struct constraint_kind constraint_parallelism = {
	.key = "parallelism",
	.summary = "{min: 0.5}: the least part of all multipliers that is busy",
	.parts = 1u << PART_MACHINE,
	.read = read,
	.narrow = narrow,
	.flag = flag,
	.check = check,
	.explain = explain,
};

const struct constraint_kind constraint_utilization = {
	.key = "utilization",
	.summary = "{min: 0.5}: the least part of all multipliers that is busy",
	.parts = 1u << PART_MACHINE,
	.read = read,
	.narrow = narrow,
	.flag = flag,
	.check = check,
	.explain = explain,
};
