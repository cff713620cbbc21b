#ifndef COST_NEST_NETWORK_H
#define COST_NEST_NETWORK_H

#include "cost/nest/nest_model.h"

/*
 * Energy of the network below level i, picojoules, from counts: 0 unless the
 * level says what a hop or a router costs.
 *
 * `exact`: a word that enters the network and goes to m of F children takes
 *
 *	hops = sqrt(F m) + (sqrt(F) - sqrt(m)) / 2 - sqrt(F / m) + 1/2
 *
 * (Timeloop's estimate of 2019 for a mesh that is entered in the middle of a side) and passes
 * one router more.  F is the fan-out of the machine between a level and the next one inwards
 * that keeps the dataspace; m is what children get divided by what enters, on average.
 * Partial sums take the same way outwards, and what returns of them to one child each.  A word
 * handed on by a neighbour takes one hop and two routers.
 *
 * `timeloop`: hops are Manhattan distances, counted with the accesses (cost/nest/nest_timeloop.h).
 */
double nest_network_pj(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, int i);

#endif
