#ifndef COMMAND_BROADCAST_H
#define COMMAND_BROADCAST_H

#include "cli/command_nest.h"
#include "cli/inputs_broadcast.h"

/* The commands on a `broadcast:`; the answers are exit statuses. */
int command_broadcast_score(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, bool simulated, struct diag *diag);

/* Says which rules a broadcast breaks, or what it is; it is executed. */
int command_broadcast_check(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, struct diag *diag);

int command_broadcast_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag);

#endif
