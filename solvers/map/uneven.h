#ifndef MAP_UNEVEN_H
#define MAP_UNEVEN_H

#include "search/nest_search.h"
#include "search/solver.h"

/*
 * The exact search where some factors need not divide.  If that takes long, with good mappings at hand: those of padded
 * extents, which the search over perfect factors finds, cut back to the real ones and
 * improved step by step (uneven_padded.h).  Then what is not known to be worse, best bound first:
 * a residency and spatial bounds, ranges of what a level's loops leave, halved until each is one
 * value, the orders of these loops, and so inwards.  It proves the optimum when nothing is left;
 * cut short, it leaves the least bound of what is.
 */
void uneven_run(struct run *run, const struct problem *problem);

#endif
