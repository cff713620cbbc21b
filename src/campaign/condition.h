#ifndef CAMPAIGN_CONDITION_H
#define CAMPAIGN_CONDITION_H

#include "spec/expr.h"

/*
 * `when:` of a sweep: comparisons of arithmetic, `pes * rows <= 1024`, or of words, `solver ==
 * random`, joined by `and`, `or` and `not`, in parentheses where wanted.  A list holds where all
 * of it does.  What names a parameter that has no value does not hold.
 */
struct arena;

/* The parameters of a point. */
struct setting_values {
	struct arena *arena;
	struct diag *diag;
	const struct node *map;      /* names to nodes */
	struct variables *variables; /* the same, and those of the specs */
	const char *const *absent;   /* parameters without a value; NULL ends them */
	/* The words that a parameter can be, NULL ends them; NULL: it is no parameter. */
	const char *const *(*words)(void *context, const char *parameter);
	void *context;
};

/* True if a text names a parameter that has no value. */
bool condition_misses(const struct setting_values *values, const char *text);

/* False after complaining. */
bool condition_read(const struct setting_values *values, const struct node *node, bool *holds);

#endif
