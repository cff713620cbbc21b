#include "results.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "report/folder.h"
#include "report/pareto.h"

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

/* One folder below results/, whatever a workload or problem is called. */
static const char *default_folder(struct arena *arena, const char *name)
{
	char *own = arena_copy(arena, name, strlen(name) + 1);
	for (char *at = own; *at; at++)
		if (*at == '/' || (*at == '.' && at == own))
			*at = '_';
	return arena_format(arena, "results/%s", own);
}

const char *results_open(struct arena *arena, const struct arguments *arguments, const char *name)
{
	const struct option_value *output = option_find(arguments, "output");
	const char *folder = output ? output->text : default_folder(arena, name);
	const char *why = folder_open(arena, folder);
	if (why)
		fatal("%s", why);
	return folder;
}

void results_write(struct arena *arena, const char *folder, const char *name, const char *text)
{
	const char *why = folder_write(arena, folder, name, text, strlen(text));
	if (why)
		fatal("%s", why);
}

void results_frontier(struct arena *arena, const char *folder, const struct results_texts *texts)
{
	size_t count = texts->count;
	for (size_t i = 0; i < count; i++)
		results_write(arena, folder, pareto_plan_path(arena, i), texts->plans[i]);
	results_write(arena, folder, "run.json", texts->run);
	results_write(arena, folder, "pareto.csv", texts->pareto);
	while (folder_remove(arena, folder, pareto_plan_path(arena, count)))
		count++;
}

void results_refusals(struct arena *arena, const struct explored *explored)
{
	const char **lines = refusals_lines(&explored->refusals, arena);
	for (size_t i = 0; i < explored->refusals.count; i++)
		fprintf(stderr, "  %s\n", lines[i]);
}

struct run_record results_record(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct listener *listener)
{
	struct run_record record = {
		.version = LXPLORE_VERSION,
		.source_count = inputs->source_count,
		.sources = inputs->sources,
		.seed = inputs->exploration.seed,
		.objectives = &inputs->exploration.objectives,
		.counting = "exact",
		.seconds = listener_seconds(listener),
		.limit = listener_limit(listener),
	};
	record.options = list_options(arena, arguments, &record.option_count);
	return record;
}
