#ifndef SPEC_EXPR_H
#define SPEC_EXPR_H

#include "spec/node.h"
#include "spec/value.h"

/*
 * Arithmetic in the values of a spec, as Python would read it:
 *
 *	+ - * / // % **  ( )   min max pow ceil floor round int trunc float abs log2 sqrt
 *
 * over numbers (12, 0x10, 0b11, 0o17, 1.5, 1e-9, 4_096), numbers with units
 * (64KiB, 1.5 GHz, 204.8GB/s), units alone (2*MiB) and the variables of the
 * spec.  A variable may use others, wherever they stand; each is computed once,
 * when it is first needed.
 */
struct arena;
struct variables;

/* Greatest depth of parentheses, signs, powers and variables together. */
enum { EXPR_DEPTH_MOST = 100 };

/* Reads the map of the `variables:` key; NULL after complaining if it is not a map. */
struct variables *variables_read(struct arena *arena, struct diag *diag, const struct node *map);

/* Complains about wrong arithmetic in variables that no expression used.  A single word, a quoted value, a list and a
 * function of Python are text and not checked. */
void variables_check(struct variables *variables, struct diag *diag);

/* The variables, and entries of a map under names that none of them has; `outer` may be NULL. */
struct variables *variables_with(
	struct arena *arena, const struct variables *outer, const struct node *map);

/* Returns the value of a variable in the spec; NULL if there is none.  `variables` may be NULL. */
const struct node *variables_node(const struct variables *variables, const char *name);

/* True if an expression has used a variable. */
bool variables_used(const struct variables *variables, const char *name);

/*
 * The value of a scalar.  False after complaining about the part that is wrong;
 * `what` says in messages what the value is for: "'capacity' in level 'LX'".
 * `variables` may be NULL.
 */
bool expr_read(struct diag *diag, struct variables *variables, const struct node *scalar,
	const char *what, struct value *out);

#endif
