#ifndef CLI_COMMAND_CHECK_H
#define CLI_COMMAND_CHECK_H

#include "base/diag.h"
#include "cli/command.h"
#include "report/run/folder.h"
#include "report/run/json.h"
#include "search/nest/nest_search.h"

#include <jansson.h>

/*
 * Certificates of what explore proved of a problem, or of a layer of a network.
 */

/* `check --certificate`: whether what explore proved holds.  The answer is the exit status. */
int certificate_check_command(
	struct arena *arena, const struct arguments *arguments, struct diag *diag);

/*
 * Adds the certificate of what an exploration proved to the results.  `layer`: of a network; NULL:
 * of a problem.  False where nothing is proven that a certificate covers.
 */
bool certificate_write(struct arena *arena, struct folder *folder, const char *name,
	const char *layer, const struct run_record *record, const struct nest_search *search,
	const struct explored *explored);

/* Results folders as `report` and later runs read them. */
struct arena;

/* Reads the run.json of a folder; NULL after complaining. */
json_t *report_run(struct arena *arena, const char *folder, struct diag *diag);

/* True if a file of the folder is as the run has written it. */
bool report_is_written(
	struct arena *arena, const json_t *run, const char *folder, const char *name);

#endif
