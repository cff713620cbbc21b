#ifndef SUPPORT_NEST_DOMAIN_H
#define SUPPORT_NEST_DOMAIN_H

#include "model/domain.h"
#include "tests/support/nest_case.h"

/*
 * What a small nest's machine allows, and the same at random narrowed: bounds, orders, splits,
 * what is kept, parallelism.  Row r as in nest_case.h.  The domain points into `nest`.
 */
struct arena;
struct domain *nest_domain_free(struct arena *arena, const struct nest_case *nest);
void nest_domain_narrow(struct random *random, struct domain *domain);

/* Levels that hold little, and at times must be filled. */
void nest_domain_limit(struct random *random, struct nest_case *nest);

#endif
