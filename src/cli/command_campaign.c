#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "campaign/canon.h"
#include "campaign/export.h"
#include "campaign/store_runner.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/kind.h"
#include "cli/listener.h"
#include "cli/settings.h"
#include "cli/spec_files.h"
#include "model/graph/planning.h"
#include "report/run/json.h"
#include "search/engine/parallel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Shared by the points of a campaign. */
struct campaign_points {
	const struct arguments *arguments;
	const struct listener *listener;
};

/* Explores one point, as `explore` does, on one thread, into a result (campaign/store_runner.h). */
static bool campaign_point_explore(void *points, const struct sweep_point *point,
	const struct stopper *stopper, struct arena *arena, struct task_result *out);

/* `campaign run SPEC...`: the arguments are the specs.  Answers the exit status. */
static int campaign_run_command(
	struct arena *arena, const struct arguments *arguments, struct diag *diag);

/* The options, and the trees of the point as the files. */
static struct arguments arguments_of(
	const struct campaign_points *points, const struct sweep_point *point, struct arena *arena)
{
	struct arguments arguments = *points->arguments;
	const char **at = arena_array(arena, const char *, point->file_count);
	struct span *spans = arena_array(arena, struct span, point->file_count);
	for (size_t i = 0; i < point->file_count; i++)
		at[i] = point->files[i]->span.source->name;
	arguments.count = point->file_count;
	arguments.at = at;
	arguments.spans = spans;
	return arguments;
}

static const char *list_plans(const struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	json_t *list = json_array();
	for (size_t i = 0; i < exploration_points(exploring); i++) {
		const char *text = explorer->plan(exploring, i);
		json_array_append_new(list, text ? json_string(text) : json_null());
	}
	return json_dump(exploring->arena, list, JSON_COMPACT);
}

static int campaign_point_search(struct exploring *exploring, struct task_result *out)
{
	int status = exploration_prepare(exploring);
	if (status != EXIT_FOUND)
		return status;
	exploration_run(exploring);
	status = exploration_end(exploring);
	const struct frontier *frontier = &exploring->explored.frontier;
	if (exploration_points(exploring)) {
		out->pareto = exploring->inputs->kind->explore.texts(exploring).pareto;
		out->plans = list_plans(exploring);
	}
	if (frontier->count) {
		enum objective first = frontier->objectives.at[0];
		out->objective = exploring->record.objectives[0];
		out->best = objective_value(first, &frontier->points[0].score);
	}
	return status;
}

static bool campaign_point_explore(void *at, const struct sweep_point *point,
	const struct stopper *stopper, struct arena *arena, struct task_result *out)
{
	const struct campaign_points *points = at;
	struct arguments arguments = arguments_of(points, point, arena);
	struct diag *diag = diag_open(arena);
	struct inputs inputs;
	struct listener silent = *points->listener;
	char *said = NULL;
	size_t length = 0;
	FILE *people = open_memstream(&said, &length);
	silent.terminal = false;
	*out = (struct task_result){.version = LXPLORE_VERSION,
		.message = "",
		.pareto = "",
		.plans = "[]",
		.objective = ""};
	diag_fold_remarks(diag);
	if (inputs_read_files(arena, &arguments, point->files, diag, &inputs)) {
		struct exploring exploring = exploration_open(&inputs, &silent, people);
		exploring.wishes.asker = (struct asker){.jobs = 1, .stopper = *stopper};
		out->status = campaign_point_search(&exploring, out);
	} else {
		diag_print(diag, people);
		out->status = EXIT_INPUT;
	}
	fclose(people);
	out->message = arena_text(arena, said);
	free(said);
	return !stopper_stops(stopper) || out->status == EXIT_INPUT;
}

/* A run of a campaign from the command line. */
struct campaigning {
	struct arena *arena;
	const struct arguments *arguments;
	const struct sweep_spec *sweep;
	struct sweep_expansion expansion;
	const char *folder;
	struct store *store;
	struct store_part part;
	struct listener listener;
	struct campaign_points points;
	bool quiet;
	int64_t jobs, seconds;
};

/* All that decides on results beside the specs. */
static const char *settings_text(struct arena *arena, const struct arguments *arguments)
{
	static const char *const others[] = {"output", "shard", "jobs", "time-limit", "format",
		"quiet", "verbose", "retry", NULL};
	struct text text = text_open(arena);
	text_add(&text, "%s", planning_environment_text(arena));
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct option_value *value = &arguments->options[i];
		bool other = false;
		for (size_t k = 0; others[k]; k++)
			other |= text_equal(others[k], value->option->name);
		if (!other)
			text_add(&text, "--%s=%s ", value->option->name, value->text);
	}
	return text_read(&text);
}

static bool read_shard(const struct arguments *arguments, struct diag *diag, struct store_part *out)
{
	enum { SHARDS_MOST = 1000000 };
	const struct option_value *shard = option_find(arguments, "shard");
	*out = (struct store_part){0, 1};
	if (!shard)
		return true;
	int end = 0;
	size_t number = 0;
	if (sscanf(shard->text, "%7zu/%7zu%n", &number, &out->shards, &end) != 2 ||
		shard->text[end] || !number || number > out->shards || out->shards > SHARDS_MOST) {
		diag_error(diag, shard->span,
			"'--shard' needs I/N, such as 1/8: shard I of N, I from 1 to N");
		return false;
	}
	out->shard = number - 1;
	return true;
}

/* --- progress */

static void show_progress(void *at, const struct campaign_progress *progress)
{
	const struct campaign_points *points = at;
	const struct listener *listener = points->listener;
	double seconds = listener_seconds(listener);
	double rate = (double)(progress->done - progress->begun_with) / seconds;
	if (!listener->terminal)
		return;
	fprintf(stderr, "\r\033[K%zu of %zu points done, %.3g per second", progress->done,
		progress->tasks, rate);
	if (rate > 0 && progress->done < progress->tasks)
		fprintf(stderr, ", %.0f s left", (double)(progress->tasks - progress->done) / rate);
	if (progress->has_best) {
		struct arena *arena = arena_open();
		utf8_print(stderr, ", best %s %s", progress->objective,
			objective_value_text(
				arena, objective_find(progress->objective), progress->best));
		arena_close(arena);
	}
	if (progress->done == progress->tasks)
		fputc('\n', stderr);
}

/* --- the store */

static int tell_end(struct campaigning *run, const struct campaign_outcome *outcome)
{
	struct store_counts counts;
	fatal_if(store_count(run->store, run->part, &counts));
	const char *limit = outcome->stopped ? listener_limit(&run->listener) : NULL;
	if (!run->quiet) {
		fprintf(stderr, "%zu points, %zu different; %zu of %zu%s done, %zu of them now: ",
			run->expansion.point_count, run->expansion.task_count, counts.done,
			counts.tasks, run->part.shards > 1 ? " of this shard" : "", outcome->ran);
		fprintf(stderr,
			"%zu found, %zu impossible, %zu wrong, %zu nothing; %.1f s%s%s; "
			"the store is in %s\n",
			counts.found, counts.impossible, counts.wrong, counts.nothing,
			listener_seconds(&run->listener), limit ? ", cut short by: " : "",
			limit ? limit : "", run->folder);
	}
	if (counts.wrong)
		utf8_print(stderr,
			"lxplore: %zu of the points %s wrong specs, the first of them:\n%s",
			counts.wrong, counts.wrong == 1 ? "has" : "have",
			counts.message ? counts.message : "");
	if (counts.crashed)
		fprintf(stderr,
			"lxplore: %zu of the points took the program down, and are tried again only with "
			"--retry; export tells which\n",
			counts.crashed);
	if (!outcome->stopped && counts.leased)
		fprintf(stderr,
			"lxplore: other processes are at work on %zu points; status tells when they "
			"have ended\n",
			counts.leased);
	if (listener_interrupted())
		return EXIT_INTERRUPTED;
	if (counts.wrong)
		return EXIT_INPUT;
	if (outcome->stopped || counts.done < counts.tasks)
		return EXIT_NOTHING;
	return counts.crashed ? EXIT_WORLD : EXIT_FOUND;
}

static int run_store(struct campaigning *run)
{
	size_t crashed = 0;
	const char *why = store_open(run->folder, &run->store);
	if (!why)
		why = campaign_join(
			run->arena, run->sweep, &run->expansion, LXPLORE_VERSION, run->store);
	if (!why)
		why = crash_collect(run->store, LXPLORE_VERSION, &crashed);
	if (!why && option_find(run->arguments, "retry"))
		why = store_retry(run->store);
	fatal_if(why);
	if (crashed)
		utf8_print(stderr, "lxplore: %zu point%s took the program down; the others go on\n",
			crashed, crashed == 1 ? "" : "s");
	crash_guard(run->folder, "--retry");
	run->listener = listener_open(run->seconds, run->quiet, "points");
	struct campaign campaign = {.sweep = run->sweep,
		.expansion = &run->expansion,
		.store = run->store,
		.part = run->part,
		.jobs = (int)run->jobs,
		.stopper = {&run->listener, listener_stop},
		.context = &run->points,
		.explore = campaign_point_explore,
		.progress = show_progress};
	struct campaign_outcome outcome = campaign_run(&campaign);
	why = outcome.why ? outcome.why : store_leave(run->store);
	if (why)
		fatal("%s; %zu points were done here and kept, the others are open", why,
			outcome.ran);
	int status = tell_end(run, &outcome);
	store_close(run->store);
	return status;
}

static int campaign_run_command(
	struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct campaigning run = {.arena = arena,
		.arguments = arguments,
		.quiet = option_find(arguments, "quiet") != NULL,
		.jobs = parallel_cores()};
	bool good = option_integer(arguments, "jobs", 0, diag, &run.jobs);
	good &= option_integer(arguments, "time-limit", 0, diag, &run.seconds);
	good &= read_shard(arguments, diag, &run.part);
	const struct node *const *files = inputs_files(arena, arguments, diag);
	if (!good || diag_failed(diag))
		return command_refuse(diag);
	run.sweep = sweep_read(arena, files, arguments->count, diag);
	if (!run.sweep ||
		!expand(arena, run.sweep, settings_text(arena, arguments), &run.expansion))
		return command_refuse(diag);
	diag_print(diag, stderr);
	run.folder = explore_folder(arena, arguments, run.sweep->name);
	run.points = (struct campaign_points){arguments, &run.listener};
	return run_store(&run);
}

/* A call of `campaign ACTION`: the rest of its arguments. */
struct campaign_call {
	struct arena *arena;
	struct arguments arguments;
	struct diag *diag;
	enum format format;
	const char *folder; /* of --output, or the first argument */
};

/* The folder of the campaign: --output, else the first argument, which is then taken away. */
static bool take_folder(struct campaign_call *call)
{
	const struct option_value *output = option_find(&call->arguments, "output");
	struct arguments *rest = &call->arguments;
	if (output) {
		call->folder = output->text;
		return true;
	}
	if (!rest->count) {
		diag_error(call->diag, (struct span){0}, "no folder of a campaign is given");
		return false;
	}
	call->folder = rest->at[0];
	rest->at++;
	rest->spans++;
	rest->count--;
	return true;
}

static bool campaign_call_is_alone(const struct campaign_call *call)
{
	if (call->arguments.count)
		diag_error(call->diag, call->arguments.spans[0],
			"'%s' is one argument too many; a campaign is one folder",
			call->arguments.at[0]);
	return !call->arguments.count;
}

static struct store *open_store(const char *folder)
{
	struct store *store = NULL;
	fatal_if(store_open_read(folder, &store));
	return store;
}

static int status(struct campaign_call *call)
{
	json_t *tree = NULL;
	if (!take_folder(call) || !campaign_call_is_alone(call))
		return command_refuse(call->diag);
	struct store *store = open_store(call->folder);
	fatal_if(status_tree(store, &tree));
	command_print(call->format == FORMAT_TEXT
			      ? status_text(call->arena, tree)
			      : command_value(call->arena, call->format, json_incref(tree)));
	json_decref(tree);
	store_close(store);
	return EXIT_FOUND;
}

static int export(struct campaign_call *call)
{
	if (!take_folder(call) || !campaign_call_is_alone(call))
		return command_refuse(call->diag);
	struct store *store = open_store(call->folder);
	fatal_if(call->format == FORMAT_JSON ? export_json(call->arena, store, command_add)
					     : export_csv(call->arena, store, command_add));
	command_print("");
	store_close(store);
	return EXIT_FOUND;
}

static int diff(struct campaign_call *call)
{
	json_t *tree = NULL;
	if (!take_folder(call))
		return command_refuse(call->diag);
	if (call->arguments.count != 1) {
		diag_error(call->diag, (struct span){0}, "campaign diff needs two folders");
		return command_refuse(call->diag);
	}
	struct store *a = open_store(call->folder), *b = open_store(call->arguments.at[0]);
	fatal_if(campaign_diff(call->arena, a, b, &tree));
	const char *text = call->format == FORMAT_TEXT  ? campaign_diff_text(call->arena, tree)
			   : call->format == FORMAT_CSV ? campaign_diff_csv(call->arena, tree)
							: json_text(call->arena, json_incref(tree));
	bool equal = !json_array_size(json_object_get(tree, "points"));
	command_print(text);
	json_decref(tree);
	store_close(a);
	store_close(b);
	return equal ? EXIT_FOUND : EXIT_IMPOSSIBLE;
}

static int merge(struct campaign_call *call)
{
	size_t differ = 0;
	struct store *into = NULL;
	if (!take_folder(call))
		return command_refuse(call->diag);
	if (!call->arguments.count) {
		diag_error(call->diag, (struct span){0},
			"campaign merge needs the folder of the whole, then those of its parts");
		return command_refuse(call->diag);
	}
	fatal_if(store_open(call->folder, &into));
	for (size_t i = 0; i < call->arguments.count; i++) {
		struct store *from = open_store(call->arguments.at[i]);
		fatal_if(campaign_merge(call->arena, into, from, &differ));
		store_close(from);
	}
	store_close(into);
	if (differ)
		fprintf(stderr,
			"lxplore: %zu results are not the same in two stores; those of the newer "
			"version were kept\n",
			differ);
	return EXIT_FOUND;
}

static int run_action(struct campaign_call *call)
{
	spec_files(call->arena, &call->arguments, call->diag);
	if (diag_failed(call->diag))
		return command_refuse(call->diag);
	if (!call->arguments.count) {
		diag_error(call->diag, (struct span){0},
			"no spec file is given; try specs/sweeps/machine_sizes.yaml");
		return command_refuse(call->diag);
	}
	return campaign_run_command(call->arena, &call->arguments, call->diag);
}

static const struct action {
	const char *name;
	int (*run)(struct campaign_call *call);
	const char *const *options; /* NULL: all; else NULL ends them */
} actions[] = {
	{"run", run_action, NULL},
	{"status", status, (const char *const[]){"output", "format", NULL}},
	{"export", export, (const char *const[]){"output", "format", NULL}},
	{"diff", diff, (const char *const[]){"output", "format", NULL}},
	{"merge", merge, (const char *const[]){"output", "quiet", NULL}},
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const struct action *find_action(
	struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const char *names[ACTIONS + 1] = {NULL};
	for (size_t i = 0; i < ACTIONS; i++) {
		names[i] = actions[i].name;
		if (arguments->count && text_equal(actions[i].name, arguments->at[0]))
			return &actions[i];
	}
	static const char all[] = "run, status, export, diff, merge";
	if (!arguments->count)
		diag_error(diag, (struct span){0}, "campaign needs one of: %s", all);
	else
		diag_error(diag, arguments->spans[0], "unknown command 'campaign %s'%s",
			arguments->at[0],
			suggestion(arena, suggest(arguments->at[0], names),
				arena_format(arena, "; there are %s", all)));
	return NULL;
}

/* Options that mean nothing to an action. */
static bool action_check_options(
	const struct action *action, const struct arguments *arguments, struct diag *diag)
{
	for (size_t i = 0; i < arguments->option_count && action->options; i++) {
		const struct option_value *value = &arguments->options[i];
		bool known = false;
		for (size_t k = 0; action->options[k]; k++)
			known |= text_equal(action->options[k], value->option->name);
		if (!known)
			diag_error(diag, value->span, "'--%s' is not an option of 'campaign %s'",
				value->option->name, action->name);
	}
	return !diag_failed(diag);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct campaign_call call = {
		.arena = arena, .arguments = *arguments, .diag = diag, .format = FORMAT_TEXT};
	const struct action *action = find_action(arena, arguments, diag);
	if (!action || !action_check_options(action, arguments, diag) ||
		!command_format(arguments, diag, &call.format))
		return command_refuse(diag);
	call.arguments.at++;
	call.arguments.spans++;
	call.arguments.count--;
	return action->run(&call);
}

const struct command command_campaign = {
	.name = "campaign",
	.usage = "run|status|export|diff|merge SPEC...|DIR... [OPTION...]",
	.summary = "explores many points of a sweep; resumes after a crash",
	.manual =
		"run SPEC... -o DIR    explores every point of the `sweep:` in the specs,\n"
		"                      several at a time; what is done is kept, and a restart\n"
		"                      goes on\n"
		"status DIR            how far it is\n"
		"export DIR            a row for each point of each frontier; as JSON with plans\n"
		"diff A B              points whose frontiers differ; exit status as diff has it\n"
		"merge DIR PART...     the stores of shards as one\n"
		"\n"
		"Points that are equal as specs are explored once.  The ends of ranges come\n"
		"first, then middles; among these what is cheap.  Several processes may run one\n"
		"campaign; --shard I/N is for machines that share no disk.  The first Ctrl-C\n"
		"gives back what has not ended.  See specs/campaigns.md.\n"
		"\n"
		"example: lxplore campaign run specs/sweeps/machine_sizes.yaml -o out\n",
	.bit = OF_CAMPAIGN,
	.run = run,
};
