#ifndef SEARCH_RECIPE_H
#define SEARCH_RECIPE_H

#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/drive/solver.h"
#include "search/graph/stream.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A recipe of one plan: a division, LX planning with a placement solver, then streaming tiles; or all of it by one
 * solver.  Small enough to keep for every candidate; the plan can be made again from it at any time, and comes out
 * the same.
 */
struct arena;
struct kept;
struct progress;
struct solver;

struct recipe {
	const struct arch *arch;
	const struct workload *workload;
	struct planning planning;
	const struct plan *given;       /* made elsewhere: this one, as it is; NULL */
	const struct mapping *mappings; /* by op; NULL: those of `divide` */
	const struct solver *divide;    /* NULL: the default divider of graphs */
	const struct solver *joint;     /* starts from that division; NULL: it stays */
	struct joint_aim aim;           /* of one that plans everything */
	const struct solver *place;
	const struct solver *map; /* of nests; NULL: as for problems */
	/* The goal of tiles, unless the planning wants the published ones, and of nests. */
	enum tile_goal goal;
	const struct op_option *tiles; /* of the only step; NULL: by the goal */
	const struct mapping *nest;    /* the same, where it is a whole nest */
	bool brief;                    /* whole nests get a brief look */
	struct kept *kept;             /* what is known of ops already; NULL: nothing */
	uint64_t joint_ticks;          /* 0: no limit */
	uint64_t plan_ticks;           /* the same of one that plans everything */
	/* Receives its progress (`struct progress`); NULL: not called. */
	void (*progress)(void *listener, const struct progress *progress);
	uint64_t seed;
};

struct recipe_result {
	struct plan *plan; /* NULL: `why` */
	const char *why;
	const struct constraint *broken; /* that the plan would not keep; NULL */
	const struct mapping *mappings;  /* that the division answered */
	bool cut;                        /* the joint search ran into its limit */
	bool stopped;                    /* by planning.stopper: no plan was made */
	uint64_t ticks;                  /* of all solvers asked */
	struct effort effort;            /* states, edges and labels of the same solvers */
	double bound; /* of the aim, in its unit, proven by who plans everything; 0: none */
	size_t complaint_count;
	const struct complaint *complaints; /* warnings and errors of the division */
	size_t reason_count;
	const struct lx_reason *reasons; /* why tensors stay in HBM */
	const struct stream_choices
		*choices; /* of streaming tiles; NULL: of a plan made elsewhere */
};

/* Everything in the result lives in the arena.  The plan has passed plan_check,
 * keeps all constraints of the planning and has its streaming tiles. */
struct recipe_result recipe_plan(const struct recipe *recipe, struct arena *arena);

/* Takes the tiles and the nest that were given along into an arena. */
void recipe_own(struct recipe *recipe, struct arena *arena);

/* The same in two steps: a plan without streaming tiles, which is not checked either; then copies of it
 * with those of the recipe's goal. */
struct recipe_result recipe_lay_out(const struct recipe *recipe, struct arena *arena);
struct recipe_result recipe_tile(
	const struct recipe *recipe, const struct recipe_result *laid_out, struct arena *arena);

/* True if one solver plans everything: nothing of it is chosen afterwards. */
bool recipe_is_whole(const struct recipe *recipe);

/* The constraints of streaming tiles, where the graph is a problem; NULL: none. */
const struct constraints *recipe_constraints(const struct recipe *recipe);

#endif
