#ifndef CONSTRAINTS_BRANCH_H
#define CONSTRAINTS_BRANCH_H

#include "constraints/kind.h"

/*
 * The branches of a !Parallel: every dataspace is kept in exactly one of them,
 * by a constraint, and the levels of the others bypass it.  Whatever `chosen`
 * leaves out is not asked for; then a dataspace without a branch is no clash.
 */
void branch_narrow(struct domain *domain, const bool *chosen, struct clashes *clashes);

#endif
