#ifndef CLI_COMMAND_REPORT_H
#define CLI_COMMAND_REPORT_H

#include "base/diag.h"

#include <jansson.h>

/* Results folders as `report` and later runs read them. */
struct arena;

/* Reads the run.json of a folder; NULL after complaining. */
json_t *report_run(struct arena *arena, const char *folder, struct diag *diag);

/* True if a file of the folder is as the run has written it. */
bool report_is_written(
	struct arena *arena, const json_t *run, const char *folder, const char *name);

#endif
