#include "solvers/place/fit.h"

static void firstfit_run(struct run *run, const struct problem *problem)
{
	fit_run(run, problem, FIT_FIRST);
}

const struct solver place_firstfit_solver = {
	.stage = STAGE_PLACE,
	.name = "firstfit",
	.summary = "shortest life first, into the lowest gap that is large enough",
	.purposes = FOR_GRAPHS,
	.run = firstfit_run,
};
