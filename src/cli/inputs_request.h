#ifndef INPUTS_REQUEST_H
#define INPUTS_REQUEST_H

#include "cli/inputs_nest.h"
#include "search/nest/nest_search.h"

/*
 * What the inputs ask of a search.
 */

/* Whether objectives and solver are of problems; complains. */
bool request_check(
	const struct nest_inputs *inputs, const struct objectives *objectives, struct diag *diag);

/* The search of one problem, in one thread; nobody listens to it, but `wishes` may stop what
 * precedes it.  False when the constraints leave no mapping, or when it is stopped before it is
 * known what there is to choose from: that is told then. */
bool request_search(struct arena *arena, const struct nest_inputs *inputs,
	const struct wishes *wishes, struct diag *diag, struct nest_search *out);

#endif
