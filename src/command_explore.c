#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "command.h"
#include "inputs.h"
#include "report/folder.h"
#include "report/pareto.h"
#include "report/run_json.h"

#include <inttypes.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

/* The first Ctrl-C ends the search, the second the program. */
static void on_interrupt(int signal_number)
{
	interrupted = 1;
	signal(signal_number, SIG_DFL);
}

struct listener {
	double start, limit, shown; /* seconds; limit 0: none */
	bool terminal;
	bool late;
};

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool stop(void *at)
{
	struct listener *listener = at;
	if (listener->limit > 0 && now() - listener->start > listener->limit)
		listener->late = true;
	return interrupted || listener->late;
}

static void progress(void *at, int round, size_t done, size_t tasks, uint64_t offered)
{
	struct listener *listener = at;
	double time = now();
	if (!listener->terminal || (done < tasks && time - listener->shown < 0.1))
		return;
	listener->shown = time;
	double spent = time - listener->start;
	fprintf(stderr, "\r\033[Kround %d: %zu of %zu tasks, %" PRIu64 " candidates, %.0f/s", round,
		done, tasks, offered, spent > 0 ? (double)offered / spent : 0);
	if (done < tasks)
		fprintf(stderr, ", at most %.0f s left in this round",
			spent / (double)done * (double)(tasks - done));
	else
		fputs("\n", stderr);
}

static const char *find_limit(const struct explored *explored, const struct listener *listener)
{
	if (interrupted)
		return "interrupted";
	if (listener->late)
		return "time limit";
	if (explored->cut)
		return "budget";
	return explored->joint_cut ? "tick limit of the joint search" : NULL;
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
			text_equal(value->option->name, "output"))
			continue;
		texts[(*count)++] =
			value->option->argument
				? arena_format(arena, "--%s=%s", value->option->name, value->text)
				: arena_format(arena, "--%s", value->option->name);
	}
	return texts;
}

static void write_file(struct arena *arena, const char *folder, const char *name, const char *text)
{
	const char *why = folder_write(arena, folder, name, text, strlen(text));
	if (why)
		fatal("%s", why);
}

/* Plans first, the table that names them last. */
static void write_results(struct arena *arena, const char *folder, const struct arch *arch,
	const struct run_record *record, const struct explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	for (size_t i = 0; i < frontier->count; i++)
		write_file(arena, folder, pareto_plan_path(arena, i), frontier->points[i].key);
	write_file(arena, folder, "run.json", run_json(arena, record, explored));
	write_file(arena, folder, "pareto.csv", pareto_csv(arena, arch, frontier));
	for (size_t i = frontier->count; folder_remove(arena, folder, pareto_plan_path(arena, i));)
		i++;
}

static int tell_end(const struct explored *explored, const struct run_record *record,
	const char *folder, bool quiet)
{
	if (explored->fault)
		fprintf(stderr, "lxplore: the simulator disagrees with the model: %s\n",
			explored->fault);
	if (!explored->frontier.count) {
		fprintf(stderr, "lxplore: no plan was found%s%s\n", record->limit ? ": " : "",
			record->limit ? record->limit : "");
		for (size_t i = 0; i < explored->refusal_count; i++)
			fprintf(stderr, "  %s\n", explored->refusals[i]);
		if (interrupted)
			return EXIT_INTERRUPTED;
		return record->limit ? EXIT_NOTHING : EXIT_IMPOSSIBLE;
	}
	if (!quiet)
		fprintf(stderr,
			"%" PRIu64 " candidates, %" PRIu64
			" executed, %zu on the frontier, %.1f s%s%s; "
			"results in %s\n",
			explored->effort.offered, explored->effort.simulated,
			explored->frontier.count, record->seconds,
			record->limit ? ", cut short by: " : "", record->limit ? record->limit : "",
			folder);
	return interrupted ? EXIT_INTERRUPTED : EXIT_FOUND;
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct inputs inputs;
	int format = FORMAT_TEXT;
	int64_t jobs = omp_get_max_threads(), seconds = 0;
	bool good = inputs_read(arena, arguments, diag, &inputs);
	good &= option_integer(arguments, "jobs", 1, 1024, diag, &jobs);
	good &= option_integer(arguments, "time-limit", 1, INT32_MAX, diag, &seconds);
	good &= option_word(arguments, "format", format_names, diag, &format);
	if (good && inputs.nest) {
		diag_error(diag, (struct span){0},
			"explore takes workload graphs; score and simulate take problems");
		good = false;
	}
	if (good && inputs.plan) {
		diag_error(diag, (struct span){0},
			"explore makes plans and takes none; score, simulate and check read one");
		good = false;
	}
	if (!good)
		return command_refuse(diag);
	const struct option_value *output = option_find(arguments, "output");
	const char *folder =
		output ? output->text : arena_format(arena, "results/%s", inputs.workload->name);
	const char *why = folder_open(arena, folder);
	if (why)
		fatal("%s", why);

	struct listener listener = {.start = now(),
		.limit = (double)seconds,
		.terminal = isatty(STDERR_FILENO) && !option_find(arguments, "quiet")};
	inputs.exploration.jobs = (int)jobs;
	inputs.exploration.listener = &listener;
	inputs.exploration.stop = stop;
	inputs.exploration.progress = progress;
	signal(SIGINT, on_interrupt);
	struct explored explored = explore(&inputs.exploration, arena);

	struct run_record record = {
		.version = LXPLORE_VERSION,
		.source_count = inputs.source_count,
		.sources = inputs.sources,
		.seed = inputs.exploration.seed,
		.objectives = &inputs.exploration.objectives,
		.counting = "exact",
		.seconds = now() - listener.start,
		.limit = find_limit(&explored, &listener),
	};
	record.options = list_options(arena, arguments, &record.option_count);
	write_results(arena, folder, inputs.arch, &record, &explored);
	if (format == FORMAT_TEXT)
		command_print(pareto_table(arena, inputs.arch, &explored.frontier));
	else if (format == FORMAT_CSV)
		command_print(pareto_csv(arena, inputs.arch, &explored.frontier));
	else
		command_print(run_json(arena, &record, &explored));
	return tell_end(&explored, &record, folder, option_find(arguments, "quiet") != NULL);
}

static const struct option options[] = {
	{"output", 'o', "DIR", "the results folder (default results/<workload>)", false},
	{"objective", 0, "A,B,..", "what the frontier is over (lxplore list objectives)", true},
	INPUT_OPTIONS,
	{"jobs", 'j', "N", "threads; no influence on the results (default: all cores)", false},
	{"budget", 0, "N", "at most N candidates", false},
	{"time-limit", 0, "S", "stop after S seconds; what was found is written", false},
	{"simulate", 0, "all|frontier|none", "which candidates are executed (default all)", false},
	{"simulate-budget", 0, "N", "events of one execution (default 1000000)", false},
	{"format", 0, "text|csv|json|yaml", "of what is printed (default text)", false},
	{"quiet", 'q', NULL, "no progress and no closing line", false},
	{0},
};

const struct command command_explore = {
	.name = "explore",
	.usage = "SPEC... [-o DIR] [OPTION...]",
	.summary = "searches divisions and placements; writes the frontier",
	.manual =
		"Writes DIR/pareto.csv (one row per point), DIR/plans/ (a plan per point, which\n"
		"score, simulate and check read) and DIR/run.json (what was run, and counters).\n"
		"Ctrl-C writes what is known so far.\n\n"
		"example: lxplore explore specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml\n",
	.options = options,
	.run = run,
};
