#ifndef SUPPORT_RANDOM_GRAPH_H
#define SUPPORT_RANDOM_GRAPH_H

#include "base/random.h"
#include "model/graph/planning.h"
#include "model/graph/workload.h"

/*
 * Small graphs of the kind that LX planning is about: maps, reductions of both
 * dimensions with what they feed, matrix products, inputs and intermediates that
 * several ops read.  Every function is exact on whole numbers.
 */
struct arena;
struct mapping;

const struct workload *random_graph(struct random *random, struct arena *arena);
const struct workload *random_graph_with_clones(struct random *random, struct arena *arena);

/* The published division, but for some ops, or all, a random one. */
const struct mapping *random_division(struct random *random, const struct arch *arch,
	const struct workload *workload, const struct planning *planning, struct arena *arena);

#endif
