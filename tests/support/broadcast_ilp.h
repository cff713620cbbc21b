#ifndef SUPPORT_BROADCAST_ILP_H
#define SUPPORT_BROADCAST_ILP_H

#include "search/drive/solver.h"

/* Broadcasts in the fewest rounds by an integer program: a second opinion on broadcast/exact for
 * few ranks and chunks. */
extern const struct solver broadcast_ilp_solver;

#endif
