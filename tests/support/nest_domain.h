#ifndef SUPPORT_NEST_DOMAIN_H
#define SUPPORT_NEST_DOMAIN_H

#include "model/nest/constraint.h"
#include "search/nest/nest_search.h"
#include "tests/support/nest_case.h"

/*
 * The space that a small nest's machine allows, and the same narrowed at random: bounds, orders,
 * splits, residencies, parallelism.  Row r as in nest_case.h.  The domain points into `nest`.
 */
struct arena;
struct domain *nest_domain_free(struct arena *arena, const struct nest_case *nest);
void nest_domain_narrow(struct random *random, struct domain *domain);

/* Asks every array for more instances than it has, if its dimensions are enough for that. */
void nest_domain_crowd(struct domain *domain);

/*
 * Constraints at random, read from a text, most of which the nest's own mapping keeps; their
 * flags go into the nest's machine.  NULL if they clash.  *out is the text.
 */
struct domain *nest_domain_wish(struct arena *arena, struct random *random, struct nest_case *nest,
	bool flags, const char **out);

/* The same of the targets in a text. */
struct domain *nest_domain_read(struct arena *arena, struct nest_case *nest, const char *targets);

/* A search of the domain's mappings, in one thread and without executions; objectives and solver
 * are the caller's. */
struct nest_search nest_domain_search(
	struct arena *arena, const struct domain *domain, enum counting counting);

/* At times the outermost storage need not keep everything; at times homes are to hold what comes
 * into their tiles. */
void nest_domain_homes(struct random *random, struct domain *domain);

/* Levels that hold little, and at times must be filled. */
void nest_domain_limit(struct random *random, struct nest_case *nest);

#endif
