#ifndef MAP_UNEVEN_SEARCH_H
#define MAP_UNEVEN_SEARCH_H

#include "search/drive/solver.h"
#include "search/nest/nest_search.h"

/*
 * The exact search where some factors need not divide.  What is not known to be worse is looked
 * into, best bound first: spatial bounds and residency, ranges of what a level's loops leave, halved until
 * each is one value, the orders of these loops, and so inwards.  It proves the optimum when nothing is
 * left; cut short, it leaves the least bound of what is.  It records no cells: ranges that were halved as
 * bounds allowed are no partition that a plain search could walk again, so there is no
 * certificate (certificate_covers), which `check --certificate` says.
 *
 * When that takes long it looks for good mappings by other ways now and then (padded.h).
 */
void uneven_run(struct run *run, const struct problem *problem);

#endif
