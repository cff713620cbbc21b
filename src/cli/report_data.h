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

/* True if a file of the folder is as the run has written it. */
bool report_is_written(
	struct arena *arena, const json_t *run, const char *folder, const char *name);

/* A plan of a run, or, `layer`, the mapping of a layer of a network, which is scored without the network. */
struct report_plan {
	const json_t *run;
	const char *folder, *path;
	const char *more; /* an option of `score`, or NULL */
	bool layer;
};
/*
 * The command line of `score` of a plan: the specs of the run, its options as far as `score` has them, `more` and the
 * plan.  NULL, with *why set: specs that are gone or have changed, or a network beside its machine in one file.
 */
char **report_line(
	struct arena *arena, const struct report_plan *plan, int *count, const char **why);
/* The same, read.  False after complaining, or with *why set. */
struct inputs;
bool report_inputs(struct arena *arena, const struct report_plan *plan, struct diag *diag,
	struct inputs *out, const char **why);

/* True of the folder of a network, which has a table of its layers. */
bool report_has_layers(struct arena *arena, const char *folder);
/* By file of a layer's point: the energy of each level, [[name, pJ]..], of one occurrence. */
json_t *report_layers(struct arena *arena, const json_t *run, const char *folder,
	const char *layers_csv, json_t *notes);
/* The commands that print what `more` asks for of each layer of a network's point, as a shell reads them; NULL after
 * complaining. */
const char *report_layer_commands(
	struct arena *arena, const struct report_plan *plan, struct diag *diag);

/* Adds a note that is not there. */
void report_note(json_t *notes, const char *text);

/* Writes the drawings of the data into a folder, as --axes and --colour say; how many, 0 after complaining. */
struct arguments;
int report_drawings(struct arena *arena, const char *folder, const struct arguments *arguments,
	json_t *data, struct diag *diag);

#endif
