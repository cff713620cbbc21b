#ifndef SEARCH_EXPLORE_H
#define SEARCH_EXPLORE_H

#include "model/graph/planning.h"
#include "search/drive/drive.h"
#include "search/graph/recipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Explores the plans of a graph (drive.h).  Of a point it keeps the recipe and what came of it, no
 * plan: recipe_plan makes the plan again.
 *
 *	round 1  the start; every core count x K-fast on, off x clones off, readers x every
 *	         placement solver on the `spyre` division, and the co-optimizer
 *	         `dimflip` for every core count and clone setting
 *	round 2  of a graph with broadcasts: every point of that frontier with less and less LX
 *	         for staging tiles
 *	round 3  `exhaustive`: from every point of the frontier, one op at a time takes
 *	         each of its legal divisions, a broadcast each of its staging tiles
 *	last     every point of the final frontier runs again, with data or
 *	         identities (evaluate_mode)
 */
struct arena;

enum { EXPLORE_NAMES_MOST = 16, EXPLORE_CORES_MOST = 16 };

struct exploration {
	const struct arch *arch;
	const struct workload *workload;
	struct planning planning; /* what a candidate does not vary */
	struct objectives objectives;
	const struct plan *start; /* made elsewhere, known to be legal: offered first; NULL */
	size_t core_count;
	int cores[EXPLORE_CORES_MOST];
	bool vary_k_fast, vary_clones;
	size_t place_count;
	const char *place[EXPLORE_NAMES_MOST]; /* placement solvers */
	bool spyre, exhaustive, dimflip;       /* which of the others take part */
	enum simulate simulate;
	uint64_t simulate_budget; /* events of one execution; 0: no limit */
	uint64_t budget;          /* candidates; 0: no limit */
	uint64_t joint_ticks;     /* of one joint search */
	uint64_t place_ticks;     /* of one placement by a solver that proves; 0: the planning's */
	uint64_t seed;
	struct asker asker;
};

/* The payload of a frontier point: enough to make its plan again, and what came of it. */
struct plan_found {
	struct found common;
	struct recipe recipe; /* with the mappings given */
};

/* Core counts to try for a machine: powers of two and the machine itself. */
size_t explore_cores(int most, int *out);

struct explored explore(const struct exploration *exploration, struct arena *arena);

#endif
