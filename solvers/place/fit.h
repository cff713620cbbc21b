#ifndef PLACE_FIT_H
#define PLACE_FIT_H

#include "search/drive/solver.h"

/*
 * The published gap solvers (FirstFitLayoutSolver, BestFitLayoutSolver): all
 * buffers are known up front and placed shortest life first, parents before
 * their children, each into a gap that is free during its whole life.  The two
 * differ in which of the gaps that are large enough they take.
 *
 * A child first tries the gaps that hold a parent whole, and takes that
 * parent's address; parents count as free space then.  Published, they still
 * count as free when that fails, and the child may land on half a living
 * parent; here such an address is passed over for the gaps between everything
 * that is live.
 *
 * There is one layout, and no budget cuts it.
 */
enum fit { FIT_FIRST, FIT_LEAST_WASTE };

void fit_run(struct run *run, const struct problem *problem, enum fit fit);

#endif
