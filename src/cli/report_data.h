#ifndef CLI_REPORT_DATA_H
#define CLI_REPORT_DATA_H

#include "base/diag.h"

#include <jansson.h>

/*
 * What a page and drawings show (report/page/page.h) of a results folder, or of a campaign's.  The copies of the specs in the
 * folder are read again to score and execute its plans; where these and the specs themselves are gone or have changed
 * since, `notes` say so and there are no details.  NULL after complaining.
 */
struct arena;
json_t *report_data(struct arena *arena, const char *folder, struct diag *diag);

/* Its run.json; NULL after complaining. */
json_t *report_run(struct arena *arena, const char *folder, struct diag *diag);

/* Whether a file of the folder is as the run has written it. */
bool report_is_written(
	struct arena *arena, const json_t *run, const char *folder, const char *name);

/*
 * The specs of a run with a plan of it, and its options as far as `score` has them; `more` is an option besides, or
 * NULL.  False after complaining, or with *why set: specs that are gone or have changed.
 */
struct inputs;
bool report_inputs(struct arena *arena, const json_t *run, const char *folder, const char *plan,
	const char *more, struct diag *diag, struct inputs *out, const char **why);

/* Writes the drawings of the data into a folder, `axes` "X,Y" or NULL; how many, 0 after complaining. */
struct option_value;
int report_drawings(struct arena *arena, const char *folder, const struct option_value *axes,
	json_t *data, struct diag *diag);

#endif
