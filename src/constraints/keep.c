#include "constraints/residence.h"

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	residence_narrow(domain, constraint, self, constraint->spaces, 0, clashes);
}

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	return residence_check(domain, constraint, constraint->spaces, 0, mapping, arena);
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return residence_explain(domain, constraint, constraint->spaces, 0, arena);
}

const struct constraint_kind constraint_keep = {
	.key = "keep",
	.summary = "dataspaces that the level must keep",
	.parts = 1u << PART_DATASPACE,
	.read = residence_read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};
