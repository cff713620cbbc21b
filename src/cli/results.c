#include "cli/results.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "model/nest/nest_score.h"
#include "report/run/pareto.h"

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

/* One folder below results/, whatever a workload or problem is called. */
static const char *default_folder(struct arena *arena, const char *name)
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
	const char *why = folder_open(
		arena, output ? output->text : default_folder(arena, name), &folder);
	if (why)
		fatal("%s", why);
	return folder;
}

void results_close(struct folder *folder)
{
	const char *why = folder_close(folder);
	if (why)
		fatal("%s", why);
}

void results_refusals(struct arena *arena, const struct explored *explored)
{
	const char **lines = refusals_lines(&explored->refusals, arena);
	for (size_t i = 0; i < explored->refusals.count; i++)
		fprintf(stderr, "  %s\n", lines[i]);
}

static void write_files(struct arena *arena, struct folder *folder,
	const struct results_texts *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		folder_add(folder, pareto_plan_path(arena, i), texts->plans[i]);
	folder_add(folder, "run.json", texts->run);
	folder_add(folder, "pareto.csv", texts->pareto);
	results_close(folder);
}

static int tell_nothing(struct arena *arena, const struct results_texts *texts,
	const struct explored *explored, const struct run_record *record)
{
	bool proven = texts->none ? explored->complete : !record->limit;
	fprintf(stderr, "lxplore: no %s was found%s%s%s\n", texts->what,
		proven && texts->none ? texts->none : "", record->limit ? ": " : "",
		record->limit ? record->limit : "");
	results_refusals(arena, explored);
	return proven ? EXIT_IMPOSSIBLE : EXIT_NOTHING;
}

static void tell_points(const struct folder *folder, const struct results_texts *texts,
	const struct explored *explored, const struct run_record *record)
{
	const struct point *first = &explored->frontier.points[0];
	const struct found *found = first->payload;
	double value = objective_value(explored->frontier.objectives.at[0], &first->score);
	if (texts->none && found->proof == PROOF_BOUND)
		fprintf(stderr, "lxplore: no %s is better than the first by more than %.2f %%\n",
			texts->what, 100 * found->gap / value);
	fprintf(stderr,
		"%s, %" PRIu64 " executed, %zu on the frontier, %.1f s%s%s; results in %s\n",
		texts->work, explored->effort.simulated, explored->frontier.count, record->seconds,
		record->limit ? ", cut short by: " : "", record->limit ? record->limit : "",
		folder_name(folder));
}

int results_end(struct arena *arena, struct folder *folder, const struct results_texts *texts,
	const struct explored *explored, const struct run_record *record,
	const struct explore_request *request)
{
	int status = EXIT_FOUND;
	write_files(arena, folder, texts, explored->frontier.count);
	command_print(request->format == FORMAT_TEXT  ? texts->table
		      : request->format == FORMAT_CSV ? texts->pareto
						      : texts->run);
	if (explored->complaint)
		fprintf(stderr, "lxplore: %s\n", explored->complaint);
	if (!explored->frontier.count)
		status = tell_nothing(arena, texts, explored, record);
	else if (!request->quiet)
		tell_points(folder, texts, explored, record);
	return command_end(explored->fault, listener_interrupted() ? EXIT_INTERRUPTED : status);
}

struct run_record results_record(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct listener *listener)
{
	struct run_record record = {
		.version = LXPLORE_VERSION,
		.source_count = inputs->source_count,
		.sources = inputs->sources,
		.seed = inputs->exploration.wishes.seed,
		.objectives = &inputs->exploration.wishes.objectives,
		.counting = counting_names[COUNTING_EXACT],
		.seconds = listener_seconds(listener),
		.limit = listener_limit(listener),
	};
	record.options = list_options(arena, arguments, &record.option_count);
	return record;
}
