#ifndef PLACE_SPILL_FIT_H
#define PLACE_SPILL_FIT_H

#include "search/drive/solver.h"
#include "solvers/place/spill/set.h"

/*
 * First fit: what finds no place between what is there already is no longer kept.  What is worth
 * most for what it takes comes first.
 *
 * Addresses by item: `known` of those that are there already, UNPLACED of all others, NULL: none is;
 * `at` of those that are kept in the end.  They may be the same.
 */
void spill_fit(struct run *run, struct spill_set *set, const int64_t *known, int64_t *at);

#endif
