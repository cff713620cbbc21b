#ifndef COMMAND_NEST_H
#define COMMAND_NEST_H

#include "inputs_nest.h"

/*
 * `score` and `simulate` of a problem: what stands in the specs is counted,
 * executed if `simulated`, and printed.  The answer is the exit status.
 */
int command_nest_score(struct arena *arena, const struct arguments *arguments,
	const struct nest_inputs *inputs, uint64_t seed, bool simulated, struct diag *diag);

#endif
