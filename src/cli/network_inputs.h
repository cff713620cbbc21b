#ifndef CLI_NETWORK_INPUTS_H
#define CLI_NETWORK_INPUTS_H

#include "cli/nest_inputs.h"
#include "model/nest/network.h"

/*
 * A `network:` and what may come with it: the same as with a problem (nest_inputs.h) but a
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

/* Into inputs->own; false after complaining. */
bool network_inputs_read(struct inputs *inputs, struct sheet *sheet);

#endif
