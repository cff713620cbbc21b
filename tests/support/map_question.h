#ifndef SUPPORT_MAP_QUESTION_H
#define SUPPORT_MAP_QUESTION_H

#include "search/nest/nest_search.h"
#include "tests/support/nest_case.h"

/* A random small search of mappings: a nest, what of it is free, a counting, objectives. */
struct map_question {
	struct arena *arena;
	struct nest_case nest;
	struct domain *domain;
	const char *constraints; /* as a text; NULL: the domain was narrowed by hand */
	enum counting counting;
	struct objectives objectives;
};

struct map_questions {
	struct nest_case_options options;
	bool constraints; /* as texts; else bounds, orders, ... narrowed by hand */
	bool imperfect;   /* factors of most dimensions need not divide */
	bool networks;    /* they cost energy */
	bool uncounted;   /* some mappings may have no counts: no solver proves an optimum then */
};

/* Into out->arena.  False: the constraints clash. */
bool map_question_draw(const struct map_questions *class, struct random *random, long draw,
	struct map_question *out);

/* With a budget that no small search needs, and what a solver of this name finds. */
struct nest_search map_question_search(const struct map_question *question);
struct explored map_question_explore(const struct map_question *question, const char *solver);

/* True if each has points that are no worse than those of the other, but for rounding. */
bool map_frontiers_equal(const struct frontier *a, const struct frontier *b);

#endif
