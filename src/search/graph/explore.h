#ifndef GRAPH_EXPLORE_H
#define GRAPH_EXPLORE_H

#include "cost/graph/cost.h"
#include "model/graph/planning.h"
#include "search/drive/drive.h"
#include "search/drive/frontier.h"
#include "search/drive/solver.h"
#include "search/graph/recipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Explores the plans of a graph (drive.h).  It keeps the recipe of a point and what came of it, no
 * plan: recipe_plan makes the plan again.
 *
 *	round 1  where tiles do not move in boxes: the start; for every objective, nests that are
 *	         best in it, with what each placement solver keeps in the scratchpad, and with nothing
 *	         there; of a graph of one op the frontier of its nests.  There is no other round then.
 *	first    the start, or the plan of the published passes: a stop leaves no less
 *	round 1  of several ops, solvers that plan everything, for each objective alone
 *	         that is a sum over steps (search/graph/plans.h); for every
 *	         core count and clone setting, every solver that divides graphs x every placement
 *	         solver x K-fast on, off; and every other solver of the stage `joint`, from the first
 *	         division and with the first placement solver, or with all where nothing else asks them
 *	round 2, 3
 *	         whole plans that are best in sums of latency and energy
 *	round 4  of a graph with broadcasts: every point of that frontier with less and less LX
 *	         for staging tiles
 *	round 5  where a solver enumerates the divisions of an op: from every point of the
 *	         frontier but whole plans, one op at a time takes each of them, a broadcast each of its
 *	         staging tiles
 *	last     every point of the final frontier runs again, with data or
 *	         identities (evaluate_mode)
 */
struct arena;

enum { EXPLORE_CORES_MOST = 16 };

struct exploration {
	struct wishes wishes;
	const struct arch *arch;
	const struct workload *workload;
	struct planning planning; /* what a candidate does not vary */
	const struct plan *start; /* made elsewhere, known to be legal: offered first; NULL */
	const struct proof
		*free; /* of a plan without constraints of LX: none with them is below; NULL */
	size_t core_count;
	int cores[EXPLORE_CORES_MOST];
	bool vary_k_fast, vary_clones;
	struct portfolio divide, place, joint; /* what takes part; one at least places */
	const struct solver *map;              /* of nests; NULL: as for problems */
	uint64_t joint_ticks;                  /* of one joint search */
	uint64_t plan_ticks;                   /* of one that plans everything; 0: no limit */
	unsigned fixed;       /* what that one does not decide: a set of enum joint_kind */
	uint64_t place_ticks; /* of one placement by a solver that proves; 0: the planning's */
};

/* The payload of a frontier point: enough to make its plan again, and what came of it. */
struct plan_found {
	struct found common;
	struct recipe recipe;          /* with the mappings given */
	int64_t limits[LIMITER_COUNT]; /* cost_limits of it */
};

/* Returns the solvers that divide whole graphs: those that take part or, if
 * these only vary divisions or there are none, the default ones. */
struct portfolio explore_dividers(const struct exploration *exploration);

/* Core counts to try for a machine: powers of two and the machine itself. */
size_t explore_cores(int most, int *out);

struct explored explore(const struct exploration *exploration, struct arena *arena);

#endif
