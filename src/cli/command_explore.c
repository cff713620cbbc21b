#include "cli/kind.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/text.h"
#include "cli/command_check.h"
#include "cli/settings.h"
#include "model/nest/nest_score.h"
#include "report/run/pareto.h"
#include "search/engine/parallel.h"
#include "spec/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* The options as given, for run.json; the number of threads does not belong to a result. */
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
	if (exploring->inputs->kind->explore.describe)
		exploring->inputs->kind->explore.describe(exploring);
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
		files[i].hash = hash_bytes(text, strlen(text));
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

static int exploring_judge(const struct exploring *exploring)
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
	int status = exploring_judge(exploring);
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

const char *explore_folder(struct arena *arena, const struct arguments *arguments, const char *name)
{
	const struct option_value *output = option_find(arguments, "output");
	if (output)
		return output->text;
	char *own = arena_copy(arena, name, strlen(name) + 1);
	for (char *at = own; *at; at++)
		if (*at == '/' || (*at == '.' && at == own))
			*at = '_';
	return arena_format(arena, "results/%s", own);
}

/* True if no plan in the folder was edited since the run before; complains about those that were. */
static bool keeps_edited(const struct inputs *inputs, const char *folder)
{
	struct arena *arena = inputs->arena;
	struct diag *diag = diag_open(arena);
	const char *name;
	if (option_find(inputs->arguments, "force"))
		return true;
	json_t *hash, *run = access(arena_format(arena, "%s/run.json", folder), R_OK)
				     ? NULL
				     : report_run(arena, folder, diag_open(arena));
	json_object_foreach(json_object_get(run, "files"), name, hash) {
		const char *path = arena_format(arena, "%s/%s", folder, name);
		if (access(path, F_OK) || report_is_written(arena, run, folder, name))
			continue;
		diag_error(diag, (struct span){0},
			"'%s' was edited since the last run; --force overwrites it, -o takes "
			"another folder",
			path);
	}
	for (size_t i = 0; i < inputs->source_count; i++) {
		const char *copy = inputs->sources[i].copy;
		const char *path = copy ? arena_format(arena, "%s/%s", folder, copy) : NULL;
		if (path && !access(path, F_OK) &&
			!json_object_get(json_object_get(run, "files"), copy))
			diag_error(diag, (struct span){0},
				"'%s' was not written by a run, and a copy of a spec needs its name; --force overwrites it, -o takes another folder",
				path);
	}
	json_decref(run);
	diag_print(diag, stderr);
	return !diag_failed(diag);
}

static struct folder *open_results(const struct inputs *inputs)
{
	struct folder *folder = NULL;
	fatal_if(folder_open(inputs->arena,
		explore_folder(inputs->arena, inputs->arguments, inputs->name), &folder));
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
		utf8_print(stderr, "lxplore: no %s is better than the first by more than %.2f %%\n",
			explorer->found, 100 * found->gap / value);
}

/* Prints the limit that cut the search short, then three lines: the best points, and the folder of all.  With -v the
 * work, too. */
static void tell_points(
	const struct exploring *exploring, const struct result_texts *texts, size_t count)
{
	const struct run_record *record = &exploring->record;
	const struct frontier *frontier = &exploring->explored.frontier;
	const char *folder = folder_name(exploring->folder);
	bool sums = exploring->inputs->kind->explore.points != NULL;
	if (option_find(exploring->inputs->arguments, "verbose"))
		fprintf(stderr, "%s, %" PRIu64 " executed\n", texts->work,
			exploring->explored.effort.simulated);
	if (record->limit)
		fprintf(stderr, "cut short by: %s\n", record->limit);
	tell_gap(exploring);
	const char *summary = texts->summary;
	if (!summary)
		summary = frontier->count
				  ? summary_bests(exploring->arena, frontier, record->objectives)
				  : "";
	fputs(fit_stream(exploring->arena, stderr, summary), stderr);
	utf8_print(stderr, "%zu on the frontier, %zu proven, %.1f s; lxplore report %s --html\n",
		count, sums ? texts->proven : summary_proven(frontier), record->seconds, folder);
}

/* Writes all files in the place of the run before, prints the requested format and the outcome, and returns the exit
 * status. */
static int end_results(struct exploring *exploring, enum format format, bool quiet)
{
	struct result_texts texts = exploration_gather(exploring);
	size_t count = exploration_points(exploring);
	fatal_if(folder_close(exploring->folder));
	command_print(format == FORMAT_TEXT  ? texts.table
		      : format == FORMAT_CSV ? texts.pareto
					     : texts.run);
	int status = exploration_end(exploring);
	if (count && !quiet)
		tell_points(exploring, &texts, count);
	return listener_interrupted() ? EXIT_INTERRUPTED : status;
}

static int explore_inputs(struct exploring *exploring, enum format format, bool quiet)
{
	int status = exploration_prepare(exploring);
	if (status != EXIT_FOUND)
		return status;
	if (!keeps_edited(exploring->inputs,
		    explore_folder(exploring->arena, exploring->inputs->arguments,
			    exploring->inputs->name)))
		return EXIT_INPUT;
	exploring->folder = open_results(exploring->inputs);
	exploration_run(exploring);
	return end_results(exploring, format, quiet);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct inputs inputs;
	enum format format = FORMAT_TEXT;
	bool quiet = option_find(arguments, "quiet") != NULL;
	int64_t jobs = parallel_cores(), seconds = 0;
	bool good = inputs_read(arena, arguments, diag, &inputs);
	good &= option_integer(arguments, "jobs", 0, diag, &jobs);
	good &= option_integer(arguments, "time-limit", 0, diag, &seconds);
	good &= command_format(arguments, diag, &format);
	if (!good)
		return command_refuse(diag);
	struct listener listener = listener_open(seconds, quiet, inputs.kind->explore.counted);
	struct exploring exploring = exploration_open(&inputs, &listener, stderr);
	exploring.listener.objective = (int)inputs.wishes.objectives.at[0];
	exploring.wishes.asker = listener_asker(&exploring.listener, (int)jobs);
	return explore_inputs(&exploring, format, quiet);
}

const struct command command_explore = {
	.name = "explore",
	.usage = "SPEC... [-o DIR] [OPTION...]",
	.summary = "searches divisions and placements; writes the frontier",
	.manual =
		"Writes DIR/pareto.csv (one row per point), DIR/plans/ (a plan per point, which\n"
		"score, simulate and check read) and DIR/run.json (what was run, and counters).\n"
		"The first Ctrl-C, or SIGTERM, ends the search and writes what is known so far.\n"
		"\n"
		"A plan, or a mapping of a problem, if the specs bring one, is where the search\n"
		"starts; if it breaks a constraint or does not fit, a warning says why.\n"
		"A graph with broadcasts: their staging tiles are tried, too (search: staging).\n"
		"A problem: DIR/certificate.yaml is what check --certificate verifies.  Where\n"
		"mappings are equal in all objectives, the one of least energy x latency that was\n"
		"met is written; proofs are of the objectives alone.\n"
		"A network: plans name what each layer takes; DIR/layers.csv has the points of\n"
		"layers, DIR/layers/ their problems and mappings, which score and simulate read.\n"
		"A broadcast, gather, scatter, reduce, put or get: tiles, orders of chunks and\n"
		"algorithms are tried; plans are such operations.\n"
		"Recurrences and einsums (space_time): all projections of the ranges are looked\n"
		"at, or all foldings onto an array; every point is executed beside the sequential\n"
		"order.\n"
		"\n"
		"example:\n"
		"  lxplore explore specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml\n",
	.reads_specs = true,
	.bit = OF_EXPLORE,
	.run = run,
};
