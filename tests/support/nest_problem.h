#ifndef SUPPORT_NEST_PROBLEM_H
#define SUPPORT_NEST_PROBLEM_H

#include "search/nest/nest_search.h"
#include "tests/support/nest_case.h"

/*
 * A random mapspace with far more mappings than anybody can try: loops of up to a few thousand
 * iterations, capacities of all sizes, clusters, power gates, networks, shared bandwidth that
 * dataspaces use unequally, and constraints as a text.  And the same problem written otherwise.
 */
struct nest_problem {
	struct arena *arena;
	struct nest_case nest; /* its mapping is legal but for capacities */
	const char *constraints;
	struct domain *domain; /* points into the nest */
	enum counting counting;
	struct objectives objectives;
};

struct nest_problems {
	bool flags;     /* no_reuse and its like */
	bool imperfect; /* factors of most dimensions need not divide */
};

/* NULL: the constraints clash. */
struct nest_problem *nest_problem_draw(
	struct arena *arena, struct random *random, const struct nest_problems *class);

/* `budget` in mappings, or in what else a solver counts. */
struct nest_search nest_problem_search(
	const struct nest_problem *problem, const char *solver, uint64_t budget);

/* Dimensions and dataspaces in another order; factors divide there. */
struct nest_problem *nest_problem_reorder(
	const struct nest_problem *problem, struct random *random);

/* One more storage level above level `above` that neither keeps a word nor has loops. */
struct nest_problem *nest_problem_pad(const struct nest_problem *problem, int above);

/* The targets of the constraints in reverse. */
struct nest_problem *nest_problem_reverse(const struct nest_problem *problem);

/* One target of the constraints less. */
struct nest_problem *nest_problem_relax(const struct nest_problem *problem, struct random *random);

const char *nest_problem_text(const struct nest_problem *problem);

#endif
