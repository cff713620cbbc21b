#include "constraints/residence.h"

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	residence_narrow(domain, constraint, self, constraint->spaces,
		residence_rest(domain, constraint), clashes);
}

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	return residence_check(domain, constraint, constraint->spaces,
		residence_rest(domain, constraint), mapping, arena);
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return residence_explain(
		domain, constraint, constraint->spaces, residence_rest(domain, constraint), arena);
}

const struct constraint_kind constraint_keep_only = {
	.key = "keep_only",
	.summary = "dataspaces that the level must keep; it bypasses all others",
	.parts = 1u << PART_DATASPACE,
	.read = residence_read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};
