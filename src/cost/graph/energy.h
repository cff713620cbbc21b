#ifndef COST_ENERGY_H
#define COST_ENERGY_H

#include "model/graph/counts.h"
#include "model/machine/score.h"

/*
 * Picojoules: every count times its entry of the architecture's table, added in
 * a fixed order (steps, then the order below), so that equal counts give equal
 * sums.
 */
double energy_of(const struct plan *plan, const struct counts *counts);

#endif
