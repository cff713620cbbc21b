#ifndef INPUTS_NETWORK_H
#define INPUTS_NETWORK_H

#include "cli/inputs_nest.h"
#include "model/nest/network.h"

/*
 * A `network:` and what may come with it: the same as with a problem (inputs_nest.h) but a
 * mapping.  Machine, constraints and settings hold for every layer.
 */

/* What the whole network may take: `latency_budget` and `energy_budget` of `search:`, or the
 * options of these names.  -1: as much as it likes. */
struct network_limits {
	int64_t cycles; /* given so, or as a time: what ends within it */
	double energy_pj;
};

struct network_inputs {
	const struct network *network;
	const struct nest_inputs *const *layers; /* NULL where a layer is the same as one before */
	struct network_limits limits;
};

/* Objectives, budgets, seed and so on go to `exploration`.  NULL after complaining. */
const struct network_inputs *network_inputs_read(struct sheet *sheet, const struct reading *reading,
	const struct arguments *arguments, struct exploration *exploration);

/* From a `search:` map, and from options; without a hierarchy nothing is said of cycles. */
void network_limits_read(
	struct reader *search, const struct hierarchy *hierarchy, struct network_limits *limits);
void network_limits_take(const struct arguments *arguments, const struct reading *reading,
	const struct hierarchy *hierarchy, struct network_limits *limits);

/* These options say nothing of "a problem" or "a workload graph". */
void network_limits_refuse(const struct arguments *arguments, const char *what, struct diag *diag);

#endif
