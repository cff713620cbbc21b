#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include "cli/kind.h"

/*
 * The results folder of an exploration, and what is told of it when it ends.  What cannot be
 * written ends the program with status 4.
 */

/* `--output`, or results/NAME; made with its parents. */
struct folder *results_open(
	struct arena *arena, const struct arguments *arguments, const char *name);

/* The same as of NAME. */
const char *results_default(struct arena *arena, const char *name);

/* Version, sources, options, seed, objectives, time; counting is exact. */
struct run_record results_record(const struct inputs *inputs, const struct listener *listener);

/*
 * Writes all files in the place of the run before.  Prints what was asked for, tells how it ended,
 * and answers the exit status.
 */
int results_end(struct exploring *exploring, enum format format, bool quiet);

#endif
