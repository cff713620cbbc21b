#include "solvers/place/fit.h"

static void bestfit_run(struct run *run, const struct problem *problem)
{
	fit_run(run, problem, FIT_LEAST_WASTE);
}

const struct solver place_bestfit_solver = {
	.stage = STAGE_PLACE,
	.name = "bestfit",
	.summary = "shortest life first, into the gap that leaves the least unused",
	.purposes = FOR_GRAPHS,
	.run = bestfit_run,
};
