#ifndef COMMAND_SPACE_TIME_H
#define COMMAND_SPACE_TIME_H

#include "cli/command_nest.h"
#include "cli/inputs_space_time.h"

/* `score` and `simulate` of a projection; all answers are exit statuses. */
int command_space_time_score(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, bool simulated, struct diag *diag);

/* `check`: whether the projection that the specs give is legal, with a counterexample. */
int command_space_time_check(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, struct diag *diag);

int command_space_time_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag);

#endif
