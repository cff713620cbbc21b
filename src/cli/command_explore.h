#ifndef CLI_COMMAND_EXPLORE_H
#define CLI_COMMAND_EXPLORE_H

#include "cli/kind.h"

/*
 * One exploration of any kind of input, as `explore` and campaigns carry it out: they make the
 * struct with exploration_open, prepare and run it, and take its results where they want them.
 */

/* What the inputs ask; the listener is copied, and the caller sets wishes.asker. */
struct exploring exploration_open(
	const struct inputs *inputs, const struct listener *listener, FILE *people);

/* EXIT_FOUND where the search can begin; else why not was said.  The complaints so far are, too. */
int exploration_prepare(struct exploring *exploring);

void exploration_run(struct exploring *exploring);

/* What there is to say and to write besides: the texts, and all files into exploring->folder. */
struct result_texts exploration_gather(struct exploring *exploring);

size_t exploration_points(const struct exploring *exploring);

/* What the search comes to: says where there is no point, where a proof has a gap and where simulator
 * and model disagree, and answers the exit status. */
int exploration_end(const struct exploring *exploring);

/* Its folder: `--output`, or results/NAME, one folder below it for any name of a workload or problem. */
const char *explore_folder(
	struct arena *arena, const struct arguments *arguments, const char *name);

/* Says what the diag collected; EXIT_INPUT. */
int exploration_refuse(const struct exploring *exploring);

#endif
