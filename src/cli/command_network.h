#ifndef COMMAND_NETWORK_H
#define COMMAND_NETWORK_H

#include "cli/command_nest.h"
#include "cli/inputs_network.h"

/* `explore` of a network; the answer is the exit status. */
int command_network_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag);

/* `check` of a network: what is known of each layer's mappings before any search. */
int command_network_check(struct arena *arena, const struct arguments *arguments,
	const struct network_inputs *inputs, struct diag *diag);

#endif
