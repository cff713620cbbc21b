#include "cli/command_broadcast.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "cli/listener.h"
#include "model/transfer/broadcast_check.h"
#include "report/run/pareto.h"
#include "cli/results.h"
#include "report/transfer/broadcast_report.h"
#include "report/transfer/broadcast_trace.h"
#include "search/transfer/broadcast_search.h"

#include <inttypes.h>
#include <stdio.h>

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
	int format = (int)command_format();
	const struct option_value *trace = option_find(arguments, "trace");
	if (!option_word(arguments, "format", format_names, diag, &format) || diag_failed(diag))
		return command_refuse(diag);
	if (!price(arena, inputs, diag, &outcome))
		return EXIT_IMPOSSIBLE;
	if (simulated)
		broadcast_execute(&outcome, EXECUTION_BYTES_MOST, inputs->exploration.wishes.seed,
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
	broadcast_execute(&outcome, EXECUTION_BYTES_MOST, inputs->exploration.wishes.seed, NULL, arena);
	command_print(broadcast_text(arena, &outcome, clock_ns(inputs), true));
	return outcome.execution.agrees ? EXIT_FOUND : EXIT_IMPOSSIBLE;
}

int command_broadcast_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag)
{
	const struct broadcast *broadcast = inputs->broadcast->broadcast;
	struct wishes wishes = inputs->exploration.wishes;
	if (!broadcast_legal(broadcast, arena, diag)) {
		diag_print(diag, stderr);
		return EXIT_IMPOSSIBLE;
	}
	diag_print(diag, stderr);
	struct folder *folder = results_open(arena, arguments, broadcast->name);
	struct listener listener = listener_open(request->seconds, request->quiet, "ways");
	wishes.asker = listener_asker(&listener, request->jobs);
	struct broadcast_search search = {wishes, broadcast, inputs->broadcast->solver};
	struct explored explored = broadcast_explore(&search, arena);
	struct run_record record = results_record(arena, arguments, inputs, &listener);
	record.limit = record.limit ? record.limit : explored.limit;
	const struct frontier *frontier = &explored.frontier;
	struct results_texts texts = {
		.plans = arena_array(arena, const char *, frontier->count),
		.run = broadcast_run_json(arena, &record, &explored),
		.pareto = broadcast_pareto_csv(arena, &explored, clock_ns(inputs)),
		.table = broadcast_table(arena, &explored, clock_ns(inputs)),
		.what = "way to carry it out",
		.work = arena_format(arena, "%" PRIu64 " ways", explored.effort.evaluated),
	};
	for (size_t i = 0; i < frontier->count; i++)
		texts.plans[i] = broadcast_plan_yaml(arena, &frontier->points[i]);
	return results_end(arena, folder, &texts, &explored, &record, request);
}
