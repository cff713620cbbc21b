#ifndef SPEC_VARIABLES_H
#define SPEC_VARIABLES_H

#include "spec/expr.h"

/*
 * The table behind expr.h: every variable is computed once, when arithmetic
 * first asks for it.  Only expr.c and variables.c look in here.
 */
struct parser {
	struct diag *diag;
	struct variables *variables;
	const struct node *scalar;
	const char *text, *what;
	size_t at; /* bytes of the text read so far */
	int depth;
};

bool expr_parse(struct parser *parser, struct value *out);

bool variables_have(const struct variables *variables, const char *name);
const char *variables_suggest(const struct variables *variables, const char *name);

/* The value of a variable that exists, for the arithmetic of `parser`, where its
 * name begins at byte `from`.  False after complaining, once for each variable. */
bool variables_find(const struct parser *parser, const char *name, size_t from, struct value *out);

#endif
