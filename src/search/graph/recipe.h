#ifndef SEARCH_RECIPE_H
#define SEARCH_RECIPE_H

#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/drive/frontier.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * How one plan is made: a division, LX planning with a placement solver, then
 * streaming tiles.  Small enough to keep for every candidate; the plan can be
 * made again from it at any time, and comes out the same.
 */
struct arena;
struct solver;

struct recipe {
	const struct arch *arch;
	const struct workload *workload;
	struct planning planning;
	const struct plan *given;       /* made elsewhere: this one, as it is; NULL */
	const struct mapping *mappings; /* by op; NULL: those of `divide` */
	const struct solver *divide;    /* NULL: what divides graphs where nobody is named */
	const struct solver *joint;     /* starts from that division; NULL: it stays */
	const struct solver *place;
	enum objective objective; /* of each nest, where tiles do not move in boxes */
	uint64_t joint_ticks;     /* 0: no limit */
	uint64_t seed;
};

struct recipe_result {
	struct plan *plan; /* NULL: `why` */
	const char *why;
	const struct constraint *broken; /* that the plan would not keep; NULL */
	const struct mapping *mappings;  /* that the division answered */
	bool cut;                        /* the joint search ran into its limit */
	bool stopped;                    /* planning.stopper said so: there is no plan */
	uint64_t ticks;                  /* of all solvers asked */
	size_t complaint_count;
	const struct complaint *complaints; /* warnings and errors of the division */
	size_t reason_count;
	const struct lx_reason *reasons; /* why tensors stay in HBM */
};

/* Everything in the result lives in the arena.  The plan has passed plan_check,
 * keeps all constraints of the planning and has its streaming tiles. */
struct recipe_result recipe_plan(const struct recipe *recipe, struct arena *arena);

#endif
