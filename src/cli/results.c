#include "cli/results.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "cli/exploration.h"
#include "model/nest/nest_score.h"
#include "report/run/folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The options as given, for run.json; how many threads there were is no part of a result. */
static const char *const *list_options(
	struct arena *arena, const struct arguments *arguments, size_t *count)
{
	const char **texts = arena_array(arena, const char *, arguments->option_count);
	*count = 0;
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct option_value *value = &arguments->options[i];
		if (text_equal(value->option->name, "jobs") ||
			text_equal(value->option->name, "output"))
			continue;
		texts[(*count)++] =
			value->option->argument
				? arena_format(arena, "--%s=%s", value->option->name, value->text)
				: arena_format(arena, "--%s", value->option->name);
	}
	return texts;
}

/* One folder below results/ for any name of a workload or problem. */
const char *results_default(struct arena *arena, const char *name)
{
	char *own = arena_copy(arena, name, strlen(name) + 1);
	for (char *at = own; *at; at++)
		if (*at == '/' || (*at == '.' && at == own))
			*at = '_';
	return arena_format(arena, "results/%s", own);
}

struct folder *results_open(
	struct arena *arena, const struct arguments *arguments, const char *name)
{
	const struct option_value *output = option_find(arguments, "output");
	struct folder *folder = NULL;
	const char *why =
		folder_open(arena, output ? output->text : results_default(arena, name), &folder);
	if (why)
		fatal("%s", why);
	return folder;
}

/* A proof that ended with a gap. */
static void tell_gap(const struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	const struct frontier *frontier = &exploring->explored.frontier;
	if (!explorer->none || !frontier->count)
		return;
	const struct point *first = &frontier->points[0];
	const struct found *found = first->payload;
	double value = objective_value(frontier->objectives.at[0], &first->score);
	if (found->proof == PROOF_BOUND)
		fprintf(stderr, "lxplore: no %s is better than the first by more than %.2f %%\n",
			explorer->found, 100 * found->gap / value);
}

static void tell_points(const struct exploring *exploring, const char *work, size_t count)
{
	const struct run_record *record = &exploring->record;
	tell_gap(exploring);
	fprintf(stderr,
		"%s, %" PRIu64 " executed, %zu on the frontier, %.1f s%s%s; results in %s\n", work,
		exploring->explored.effort.simulated, count, record->seconds,
		record->limit ? ", cut short by: " : "", record->limit ? record->limit : "",
		folder_name(exploring->folder));
}

int results_end(struct exploring *exploring, enum format format, bool quiet)
{
	struct result_texts texts = exploration_gather(exploring);
	size_t count = exploration_points(exploring);
	const char *why = folder_close(exploring->folder);
	if (why)
		fatal("%s", why);
	command_print(format == FORMAT_TEXT  ? texts.table
		      : format == FORMAT_CSV ? texts.pareto
					     : texts.run);
	int status = exploration_end(exploring);
	if (count && !quiet)
		tell_points(exploring, texts.work, count);
	return listener_interrupted() ? EXIT_INTERRUPTED : status;
}

struct run_record results_record(const struct inputs *inputs, const struct listener *listener)
{
	struct run_record record = {
		.version = LXPLORE_VERSION,
		.source_count = inputs->source_count,
		.sources = inputs->sources,
		.seed = inputs->wishes.seed,
		.objectives = objectives_texts(inputs->arena, &inputs->wishes.objectives),
		.counting = counting_names[COUNTING_EXACT],
		.seconds = listener_seconds(listener),
		.limit = listener_limit(listener),
	};
	record.options = list_options(inputs->arena, inputs->arguments, &record.option_count);
	return record;
}
