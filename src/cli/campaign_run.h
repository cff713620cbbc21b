#ifndef CLI_CAMPAIGN_RUN_H
#define CLI_CAMPAIGN_RUN_H

#include "cli/command.h"

/* `campaign run SPEC...`: the arguments are the specs.  Answers the exit status. */
int campaign_run_command(struct arena *arena, const struct arguments *arguments, struct diag *diag);

#endif
