#include "constraints/residence.h"

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	residence_narrow(domain, constraint, self, 0, constraint->spaces, clashes);
}

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	return residence_check(domain, constraint, 0, constraint->spaces, mapping, arena);
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return residence_explain(domain, constraint, 0, constraint->spaces, arena);
}

const struct constraint_kind constraint_bypass = {
	.key = "bypass",
	.summary = "dataspaces that the level must not keep",
	.parts = 1u << PART_DATASPACE,
	.read = residence_read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};
