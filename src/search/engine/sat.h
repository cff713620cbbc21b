#ifndef SEARCH_SAT_H
#define SEARCH_SAT_H

#include "base/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether a set of clauses can be met, by learning from conflicts: watched literals, first unique
 * implication points, activities, restarts (J. P. Marques-Silva, K. A. Sakallah, GRASP, 1999;
 * M. W. Moskewicz et al., Chaff, 2001).  Variables are numbered from 0; a literal is 2 v, or
 * 2 v + 1 for its opposite.  Equal clauses have equal answers.
 */
struct arena;
struct sat;

static inline int sat_not(int literal)
{
	return literal ^ 1;
}

struct sat *sat_make(struct arena *arena);
int sat_variable(struct sat *sat); /* its literal */
void sat_clause(struct sat *sat, const int *literals, size_t count);

/* At most one of them. */
void sat_at_most_one(struct sat *sat, const int *literals, size_t count);

/* `go_on` is asked after every conflict, with its clause's length as the ticks; NULL: to the
 * end. */
enum verdict sat_solve(struct sat *sat, bool (*go_on)(void *user, uint64_t ticks), void *user);

bool sat_value(const struct sat *sat, int literal); /* after VERDICT_YES */

#endif
