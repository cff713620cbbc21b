#include "cli/campaign_run.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "campaign/canon.h"
#include "campaign/store_runner.h"
#include "cli/campaign_point.h"
#include "cli/exploration.h"
#include "cli/inputs.h"
#include "cli/listener.h"
#include "model/graph/planning.h"
#include "search/engine/parallel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
			"'--shard' wants I/N, such as 1/8: shard I of N, I from 1 to N");
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
	if (progress->has_best)
		utf8_print(stderr, ", best %s %.6g", progress->objective, progress->best);
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

int campaign_run_command(struct arena *arena, const struct arguments *arguments, struct diag *diag)
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
	run.points = (struct campaign_points){arguments, &run.listener,
		option_find(arguments, "neighbours") ? neighbours_open() : NULL};
	int status = run_store(&run);
	neighbours_close(run.points.neighbours);
	return status;
}
