#include "cli/exploration.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/nest/nest_score.h"
#include "report/run/pareto.h"
#include "spec/file.h"

#include <string.h>

struct exploring exploration_open(
	const struct inputs *inputs, const struct listener *listener, FILE *people)
{
	return (struct exploring){.arena = inputs->arena,
		.inputs = inputs,
		.listener = *listener,
		.people = people,
		.wishes = inputs->wishes};
}

int exploration_prepare(struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	int status = explorer->prepare ? explorer->prepare(exploring) : EXIT_FOUND;
	if (status == EXIT_FOUND)
		diag_print(exploring->inputs->diag, exploring->people);
	return status;
}

/* The options as given, for run.json; how many threads there were is no part of a result. */
static const char *const *list_options(
	struct arena *arena, const struct arguments *arguments, size_t *count)
{
	const char **texts = arena_array(arena, const char *, arguments->option_count);
	*count = 0;
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct option_value *value = &arguments->options[i];
		if (text_equal(value->option->name, "jobs") ||
			text_equal(value->option->name, "output") ||
			text_equal(value->option->name, "force"))
			continue;
		texts[(*count)++] =
			value->option->argument
				? arena_format(arena, "--%s=%s", value->option->name, value->text)
				: arena_format(arena, "--%s", value->option->name);
	}
	return texts;
}

/* Version, sources, options, seed, objectives, time; counting is exact. */
static struct run_record make_record(const struct inputs *inputs, const struct listener *listener)
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

void exploration_run(struct exploring *exploring)
{
	exploring->explored = exploring->inputs->kind->explore.run(exploring);
	listener_clear(&exploring->listener);
	exploring->record = make_record(exploring->inputs, &exploring->listener);
	if (!exploring->record.limit)
		exploring->record.limit = exploring->explored.limit;
}

size_t exploration_points(const struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	return explorer->points ? explorer->points(exploring) : exploring->explored.frontier.count;
}

/* The files that were added so far, with their hashes: a run after this one sees which were edited. */
static void list_files(struct exploring *exploring)
{
	size_t count = folder_count(exploring->folder);
	struct run_file *files = arena_array(exploring->arena, struct run_file, count);
	for (size_t i = 0; i < count; i++) {
		const char *text;
		files[i].name = folder_file(exploring->folder, i, &text);
		files[i].hash = file_hash(text, strlen(text));
	}
	exploring->record.file_count = count;
	exploring->record.files = files;
}

struct result_texts exploration_gather(struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	struct folder *folder = exploring->folder;
	if (explorer->finish)
		explorer->finish(exploring);
	for (size_t i = 0; i < exploration_points(exploring); i++) {
		const char *text = explorer->plan(exploring, i);
		if (text)
			folder_add(folder, pareto_plan_path(exploring->arena, i), text);
	}
	for (size_t i = 0; i < exploring->record.source_count; i++)
		if (exploring->record.sources[i].text)
			folder_add(folder, exploring->record.sources[i].copy,
				exploring->record.sources[i].text);
	list_files(exploring);
	struct result_texts texts = explorer->texts(exploring);
	folder_add(folder, "run.json", texts.run);
	folder_add(folder, "pareto.csv", texts.pareto);
	return texts;
}

static int tell_nothing(const struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	const struct explored *explored = &exploring->explored;
	const char *limit = exploring->record.limit, *why;
	bool certain = explorer->none ? explored->complete : !limit;
	if (explorer->nothing)
		why = explorer->nothing(exploring, &certain);
	else
		why = arena_format(exploring->arena, "no %s was found%s", explorer->found,
			certain && explorer->none ? explorer->none : "");
	utf8_print(
		exploring->people, "lxplore: %s%s%s\n", why, limit ? ": " : "", limit ? limit : "");
	const char **lines = refusals_lines(&explored->refusals, exploring->arena);
	for (size_t i = 0; i < explored->refusals.count; i++)
		utf8_print(exploring->people, "  %s\n", lines[i]);
	return certain ? EXIT_IMPOSSIBLE : EXIT_NOTHING;
}

static int judge(const struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	const struct explored *explored = &exploring->explored;
	if (explored->complaint)
		utf8_print(exploring->people, "lxplore: %s\n", explored->complaint);
	if (!exploration_points(exploring))
		return tell_nothing(exploring);
	return explorer->judge ? explorer->judge(exploring) : EXIT_FOUND;
}

int exploration_end(const struct exploring *exploring)
{
	int status = judge(exploring);
	if (!exploring->explored.fault)
		return status;
	utf8_print(exploring->people, "lxplore: the simulator disagrees with the model: %s\n",
		exploring->explored.fault);
	return EXIT_IMPOSSIBLE;
}

int exploration_refuse(const struct exploring *exploring)
{
	diag_print(exploring->inputs->diag, exploring->people);
	return EXIT_INPUT;
}
