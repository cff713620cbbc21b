#ifndef CLI_NEST_CHECK_H
#define CLI_NEST_CHECK_H

#include "cli/command.h"
#include "cli/nest_inputs.h"
#include "search/nest/mapspace_check.h"

/* The verdict of a mapspace as an exit status: there is a mapping, there is none, undecided. */
enum exit_status nest_check_status(const struct mapspace_check *check);

/* Everything that stands against the mapping: the verdict, and every constraint that it breaks,
 * which are complained about, too.  NULL ends them. */
const char *const *nest_check_faults(
	const struct nest_inputs *inputs, struct arena *arena, struct diag *diag);

#endif
