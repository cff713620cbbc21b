#include "base/arena.h"
#include "cli/command.h"
#include "cli/command_nest.h"
#include "cli/inputs_request.h"
#include "cli/listener.h"
#include "report/nest/mapspace_check_report.h"
#include "report/nest/nest_results.h"
#include "report/run/pareto.h"
#include "cli/results.h"
#include "cli/results_certificate.h"

#include <inttypes.h>
#include <stdio.h>

/* Why no mapping fits; contradictions of constraints have been told. */
static void tell_conflict(
	struct arena *arena, const struct nest_inputs *nest, const struct stopper *stopper)
{
	struct diag *silent = diag_open(arena);
	struct mapspace_check check =
		mapspace_check(nest->domain, nest->constraints, stopper, silent, arena);
	if (!check.contradictory && check.feasible.verdict == FEASIBILITY_NONE)
		fputs(mapspace_conflict_text(arena, &check), stderr);
}

int command_nest_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag)
{
	const struct nest_inputs *nest = inputs->nest;
	if (!request_check(nest, &inputs->exploration.wishes.objectives, diag))
		return command_refuse(diag);
	struct nest_search search;
	struct listener listener = listener_open(request->seconds, request->quiet, "mappings");
	struct wishes wishes = inputs->exploration.wishes;
	wishes.asker = listener_asker(&listener, request->jobs);
	if (!request_search(arena, nest, &wishes, diag, &search)) {
		struct stopper stopper = {&listener, listener_stop};
		bool stopped = listener_stop(&listener);
		diag_print(diag, stderr);
		if (!stopped)
			tell_conflict(arena, nest, &stopper);
		return listener_interrupted() ? EXIT_INTERRUPTED
		       : stopped              ? EXIT_NOTHING
					      : EXIT_IMPOSSIBLE;
	}
	struct folder *folder = results_open(arena, arguments, nest->shape->name);
	diag_print(diag, stderr);
	struct explored explored = nest_explore(&search, arena);
	for (size_t i = 0; i < explored.frontier.count && search.counting == COUNTING_TIMELOOP;
		i++) {
		const struct nest_found *found = explored.frontier.points[i].payload;
		struct diag *homes = diag_open(arena);
		command_nest_warn_homes(
			nest, &found->mapping, explored.frontier.points[i].key, arena, homes);
		diag_print(homes, stderr);
	}
	struct run_record record = results_record(arena, arguments, inputs, &listener);
	record.objectives = &search.wishes.objectives;
	record.hierarchy = search.hierarchy;
	record.counting = counting_names[search.counting];
	if (results_certificate(
		    arena, folder, "certificate.yaml", NULL, &record, &search, &explored))
		record.certificate = "certificate.yaml";
	const struct frontier *frontier = &explored.frontier;
	struct results_texts texts = {
		.plans = arena_array(arena, const char *, frontier->count),
		.run = nest_run_json(arena, &record, &search, &explored),
		.pareto = nest_pareto_csv(arena, &search, &explored),
		.table = nest_pareto_table(arena, &search, &explored),
		.what = "mapping",
		.none = ", and there is none",
		.work = arena_format(arena, "%" PRIu64 " mappings evaluated%s, %" PRIu64 " offered",
			explored.effort.evaluated,
			explored.complete ? ", nothing better is left" : "",
			explored.effort.offered),
	};
	for (size_t i = 0; i < frontier->count; i++)
		texts.plans[i] = nest_plan_yaml(arena, &search, &frontier->points[i]);
	return results_end(arena, folder, &texts, &explored, &record, request);
}
