#ifndef CONSTRAINTS_BOUND_H
#define CONSTRAINTS_BOUND_H

#include "constraints/kind.h"

/* Bounds of loops: what `factors` and the kinds that stand for factors have in common. */
struct arena;

void bound_narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes);
const char *bound_check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena);

/* What a constraint's text of factors says; false after complaining.  A factor above the extent is
 * the extent, as Timeloop takes it, with a warning. */
bool bound_read(
	const struct constraint_context *context, const struct node *value, struct constraint *out);

/* "M=4, N<=8" */
const char *bound_text(
	struct arena *arena, const struct shape *shape, const struct constraint *constraint);

/* "'GLB' (temporal) has the bounds M=4, N<=8" */
const char *bound_explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena);

/* The same bound for every dimension of a mask, as the payload of a constraint. */
void bound_fill(const struct constraint_context *context, uint32_t dimensions,
	enum relation relation, int64_t bound, struct span span, struct constraint *out);

#endif
