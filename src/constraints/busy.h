#ifndef CONSTRAINTS_BUSY_H
#define CONSTRAINTS_BUSY_H

#include "constraints/kind.h"

/* The part of the multipliers that must be busy; `utilization` and `parallelism` both mean it. */
struct arena;

/* {min: 0.5}, or 0.5 */
bool busy_read(
	const struct constraint_context *context, const struct node *value, struct constraint *out);
void busy_narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes);
void busy_flag(struct hierarchy *hierarchy, const struct constraint *constraint);
const char *busy_check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena);
const char *busy_explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena);

#endif
