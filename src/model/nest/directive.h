#ifndef MODEL_DIRECTIVE_H
#define MODEL_DIRECTIVE_H

#include "model/nest/constraint.h"
#include "model/nest/shape.h"
#include "spec/reader.h"

/*
 * How Timeloop's files spell factors, loop orders and dataspaces, in mappings as
 * in constraints.  All of these complain about every name that is
 * unknown, with the nearest one and the list, and answer false then.
 */

/*
 * "R=1 S=1, C<=4", a list of such texts, or a map {R: 1, S: 1}: relations = < <= > >=, R12 for
 * R=12, P=4,3 for an imperfect bound.  P=0 is the full extent, and comes out as that.  Nothing
 * at all and comments (# up to the end of the line) name no factor.  *out lives in the reading's
 * arena.
 */
bool directive_factors(const struct reading *reading, const struct node *node,
	const struct shape *shape, const struct constraint_factor **out, int *count);

/* Dimensions innermost first: a list of names, "P, Q", or "PQ" when names have one letter.  What
 * stands after a `_` is outermost; what is not listed goes between. */
struct directive_order {
	int count, suffix_count;
	uint8_t at[SHAPE_DIMENSIONS_MOST], suffix[SHAPE_DIMENSIONS_MOST];
};
bool directive_order(const struct reading *reading, const struct node *node,
	const struct shape *shape, struct directive_order *out);

/* A list of dataspaces, or one; "*" is all of them. */
bool directive_spaces(const struct reading *reading, const struct node *node,
	const struct shape *shape, uint32_t *out);

/* How many loops of a permutation run along X: a whole number, or timeloopfe's
 * len(spec.problem.instance); at most all of them. */
bool directive_split(const struct reading *reading, const struct node *node,
	const struct shape *shape, int64_t *out);

/* "unknown level 'X'", with the nearest of `known` (NULL ends it) and all of them.  Always false. */
bool directive_refuse(const struct reading *reading, struct span span, const char *what,
	const char *name, const char *const *known);

/* How factors are written: "=", "<", "<=", ">", ">=". */
const char *relation_text(enum relation relation);

#endif
