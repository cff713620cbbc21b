#ifndef CONSTRAINTS_RESIDENCE_H
#define CONSTRAINTS_RESIDENCE_H

#include "constraints/kind.h"

/* What a level keeps: the part that keep, bypass, keep_only and bypass_only have in common. */
struct arena;

/* `keep` and `bypass` are masks of dataspaces.  In a branch that stores nothing (row -1, branch
 * arch.nothings[number]) they say only that the dataspace goes that way. */
void residence_narrow(struct domain *domain, const struct constraint *constraint, int self,
	uint32_t keep, uint32_t bypass, struct clashes *clashes);
const char *residence_check(const struct domain *domain, const struct constraint *constraint,
	uint32_t keep, uint32_t bypass, const struct mapping *mapping, struct arena *arena);
const char *residence_explain(const struct domain *domain, const struct constraint *constraint,
	uint32_t keep, uint32_t bypass, struct arena *arena);

bool residence_read(
	const struct constraint_context *context, const struct node *value, struct constraint *out);

/* All dataspaces that are not in the constraint. */
uint32_t residence_rest(const struct domain *domain, const struct constraint *constraint);

#endif
