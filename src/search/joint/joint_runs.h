#ifndef SEARCH_JOINT_RUNS_H
#define SEARCH_JOINT_RUNS_H

#include "model/graph/run.h"
#include "search/joint/joint_making.h"

/* Tiles of the shared loops, or splits of them over the cores. */
struct run_factors {
	int64_t at[RUN_LOOPS_MOST];
};

/* A run of ops while its tiles (joint_runs.c) and divisions (joint_run_divisions.c) are tried. */
struct trying {
	struct joint_making *making;
	struct plan plan; /* whose steps are the ops; its only run is the one that is tried */
	struct tile_run run;
	struct arena *arena;                    /* of the tiles that are tried */
	struct workload part;                   /* of the first iteration */
	struct run_factors splits;              /* over the cores */
	int order[RUN_LOOPS_MOST], order_count; /* shared loops that are split, fastest first */
};

/* What only steps of the run make and read, and its stay in LX. */
static inline bool is_inside(const struct trying *trying, int tensor)
{
	return plan_inside(&trying->plan, &trying->making->users, tensor) != NULL;
}

struct residency stay_inside(const struct trying *trying, int tensor);

/* Adds the run with its tiles in each division that can be carried out. */
void joint_run_divide(struct trying *trying);

#endif
