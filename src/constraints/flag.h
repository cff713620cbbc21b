#ifndef CONSTRAINTS_FLAG_H
#define CONSTRAINTS_FLAG_H

#include "constraints/kind.h"

/* Kinds that set flags of dataspaces at a level, and ask nothing of a mapping. */
struct arena;

bool flag_read(
	const struct constraint_context *context, const struct node *value, struct constraint *out);

/* The level whose flags a constraint sets: of its row, or with the block that its row is; NULL
 * when there is none. */
struct nest_level *flag_level(struct hierarchy *hierarchy, const struct constraint *constraint);

/* Any mapping will do. */
const char *flag_check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena);

/* "no multicast of Inputs at 'PE' (spatial)" */
const char *flag_explain(const struct domain *domain, const struct constraint *constraint,
	const char *what, struct arena *arena);

#endif
