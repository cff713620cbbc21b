#include "command_broadcast.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "listener.h"
#include "model/broadcast_check.h"
#include "report/broadcast_report.h"
#include "report/broadcast_trace.h"
#include "report/folder.h"
#include "report/pareto.h"
#include "results.h"
#include "search/broadcast_search.h"

#include <inttypes.h>
#include <stdio.h>

/* Bytes that `simulate` and `check` move at most: 1 GiB with what follows each of them. */
#define DATA_BYTES ((int64_t)1 << 30)

static double clock_ns(const struct inputs *inputs)
{
	return 1e9 / ratio_double(inputs->broadcast->clock_hz);
}

/* False after telling why it cannot be: rules that it breaks, or what is too large. */
static bool price(struct arena *arena, const struct inputs *inputs, struct diag *diag,
	struct broadcast_outcome *out)
{
	const struct broadcast *broadcast = inputs->broadcast->broadcast;
	const char *why = NULL;
	if (broadcast_legal(broadcast, arena, diag))
		why = broadcast_price(broadcast, NULL, arena, out);
	if (why)
		diag_error(diag, broadcast->spans.all, "this %s cannot be: %s",
			operation_names[broadcast->operation], why);
	diag_print(diag, stderr);
	return !diag_failed(diag);
}

int command_broadcast_score(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, bool simulated, struct diag *diag)
{
	struct broadcast_outcome outcome;
	struct broadcast_trace times;
	int format = FORMAT_JSON;
	const struct option_value *trace = option_find(arguments, "trace");
	if (!option_word(arguments, "format", format_names, diag, &format) || diag_failed(diag))
		return command_refuse(diag);
	if (!price(arena, inputs, diag, &outcome))
		return EXIT_IMPOSSIBLE;
	if (simulated)
		broadcast_execute(&outcome, DATA_BYTES, inputs->exploration.seed,
			trace ? &times : NULL, arena);
	if (trace && outcome.execution.finished)
		command_write(arena, trace->text,
			broadcast_trace_json(arena, &outcome, &times, clock_ns(inputs)));
	command_print(format == FORMAT_TEXT
			      ? broadcast_text(arena, &outcome, clock_ns(inputs), simulated)
		      : format == FORMAT_CSV
			      ? broadcast_csv(arena, &outcome, clock_ns(inputs), simulated)
			      : broadcast_json(arena, &outcome, clock_ns(inputs), simulated));
	return simulated && !outcome.execution.agrees ? EXIT_IMPOSSIBLE : EXIT_FOUND;
}

int command_broadcast_check(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, struct diag *diag)
{
	struct broadcast_outcome outcome;
	if (option_find(arguments, "format")) {
		diag_error(diag, option_find(arguments, "format")->span,
			"'--format' is for problems; this is a broadcast");
		return command_refuse(diag);
	}
	if (!price(arena, inputs, diag, &outcome))
		return EXIT_IMPOSSIBLE;
	broadcast_execute(&outcome, DATA_BYTES, inputs->exploration.seed, NULL, arena);
	command_print(broadcast_text(arena, &outcome, clock_ns(inputs), true));
	return outcome.execution.agrees ? EXIT_FOUND : EXIT_IMPOSSIBLE;
}

static void write_results(struct arena *arena, const char *folder, const struct run_record *record,
	const struct broadcast_explored *explored, double nanoseconds)
{
	const struct frontier *frontier = &explored->frontier;
	const char **plans = arena_array(arena, const char *, frontier->count);
	for (size_t i = 0; i < frontier->count; i++)
		plans[i] = broadcast_plan_yaml(arena, &frontier->points[i]);
	struct results_texts texts = {frontier->count, plans,
		broadcast_run_json(arena, record, explored),
		broadcast_pareto_csv(arena, explored, nanoseconds)};
	results_frontier(arena, folder, &texts);
}

static int tell_end(const struct broadcast_explored *explored, const struct run_record *record,
	const char *folder, bool quiet)
{
	if (!explored->frontier.count)
		fprintf(stderr, "lxplore: no way to carry it out was found%s%s\n",
			record->limit ? ": " : "", record->limit ? record->limit : "");
	else if (!quiet)
		fprintf(stderr,
			"%" PRIu64 " ways, %" PRIu64
			" executed, %zu on the frontier, %.1f s%s%s; results in %s\n",
			explored->evaluated, explored->simulated, explored->frontier.count,
			record->seconds, record->limit ? ", cut short by: " : "",
			record->limit ? record->limit : "", folder);
	if (listener_interrupted())
		return EXIT_INTERRUPTED;
	if (!explored->frontier.count)
		return record->limit ? EXIT_NOTHING : EXIT_IMPOSSIBLE;
	return EXIT_FOUND;
}

int command_broadcast_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag)
{
	const struct broadcast *broadcast = inputs->broadcast->broadcast;
	struct exploration wishes = inputs->exploration;
	if (!broadcast_legal(broadcast, arena, diag)) {
		diag_print(diag, stderr);
		return EXIT_IMPOSSIBLE;
	}
	diag_print(diag, stderr);
	const char *folder = results_open(arena, arguments, broadcast->name);
	struct listener listener = listener_open(request->seconds, request->quiet, "ways");
	wishes.listener = &listener;
	wishes.stop = listener_stop;
	struct broadcast_search search = {broadcast, &wishes, inputs->broadcast->algorithm};
	struct broadcast_explored explored = broadcast_explore(&search, arena);
	struct run_record record = results_record(arena, arguments, inputs, &listener);
	record.limit = record.limit ? record.limit : explored.cut ? "budget" : NULL;
	write_results(arena, folder, &record, &explored, clock_ns(inputs));
	if (request->format == FORMAT_TEXT)
		command_print(broadcast_table(arena, &explored, clock_ns(inputs)));
	else if (request->format == FORMAT_CSV)
		command_print(broadcast_pareto_csv(arena, &explored, clock_ns(inputs)));
	else
		command_print(broadcast_run_json(arena, &record, &explored));
	return command_end(explored.fault, tell_end(&explored, &record, folder, request->quiet));
}
