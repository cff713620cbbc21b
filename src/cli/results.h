#ifndef RESULTS_H
#define RESULTS_H

#include "base/option.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/listener.h"
#include "report/run/folder.h"
#include "report/run/run_json.h"

/*
 * What explorations of graphs and of problems have in common when they end: the
 * folder, its files, and the head of run.json.  What cannot be written ends the
 * program with status 4.
 */

/* `--output`, or results/NAME; made with its parents. */
struct folder *results_open(
	struct arena *arena, const struct arguments *arguments, const char *name);

/* Puts what was added to a folder in the place of the run before. */
void results_close(struct folder *folder);

/* What an exploration comes to in words. */
struct results_texts {
	const char **plans; /* by point */
	const char *run, *pareto, *table;
	const char *what; /* of which none was found: "mapping" */
	const char *none; /* said if it is proven that there is none; NULL: a limit alone tells */
	const char *work; /* "12 candidates" */
};

/*
 * Writes a plan for each point of a frontier, run.json, and the table that names them.  Prints what
 * was asked for, tells how it ended, and answers the exit status.
 */
int results_end(struct arena *arena, struct folder *folder, const struct results_texts *texts,
	const struct explored *explored, const struct run_record *record,
	const struct explore_request *request);

/* Why candidates were refused, a line for each reason, to stderr. */
void results_refusals(struct arena *arena, const struct explored *explored);

/* Version, sources, options, seed, objectives, time; counting is exact. */
struct run_record results_record(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct listener *listener);

#endif
