#include "constraints/residence.h"

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	residence_narrow(domain, constraint, self, residence_rest(domain, constraint),
		constraint->spaces, clashes);
}

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	return residence_check(domain, constraint, residence_rest(domain, constraint),
		constraint->spaces, mapping, arena);
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return residence_explain(
		domain, constraint, residence_rest(domain, constraint), constraint->spaces, arena);
}

const struct constraint_kind constraint_bypass_only = {
	.key = "bypass_only",
	.summary = "dataspaces that the level must not keep; it keeps all others",
	.parts = 1u << PART_DATASPACE,
	.read = residence_read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};
