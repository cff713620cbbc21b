#include "base/arena.h"
#include "command.h"
#include "command_nest.h"
#include "inputs_request.h"
#include "listener.h"
#include "report/mapspace_check_report.h"
#include "report/nest_results.h"
#include "report/pareto.h"
#include "results.h"
#include "results_certificate.h"

#include <inttypes.h>
#include <stdio.h>

static void write_results(struct arena *arena, const char *folder, const struct run_record *record,
	const struct nest_search *search, const struct nest_explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	const char **plans = arena_array(arena, const char *, frontier->count);
	for (size_t i = 0; i < frontier->count; i++)
		plans[i] = nest_plan_yaml(arena, search, &frontier->points[i]);
	struct results_texts texts = {frontier->count, plans,
		nest_run_json(arena, record, search, explored),
		nest_pareto_csv(arena, search, explored)};
	results_frontier(arena, folder, &texts);
}

static int tell_end(const struct nest_explored *explored, const struct run_record *record,
	const char *folder, bool quiet)
{
	if (explored->complaint)
		fprintf(stderr, "lxplore: %s\n", explored->complaint);
	if (!explored->frontier.count) {
		fprintf(stderr, "lxplore: no mapping was found%s%s%s\n",
			explored->complete ? ", and there is none" : "", record->limit ? ": " : "",
			record->limit ? record->limit : "");
		if (explored->refusal)
			fprintf(stderr, "  %s\n", explored->refusal);
		if (listener_interrupted())
			return EXIT_INTERRUPTED;
		return explored->complete ? EXIT_IMPOSSIBLE : EXIT_NOTHING;
	}
	const struct point *first = &explored->frontier.points[0];
	const struct nest_found *found = first->payload;
	double value = objective_value(explored->frontier.objectives.at[0], &first->score);
	if (!quiet && found->proof == PROOF_BOUND)
		fprintf(stderr,
			"lxplore: no mapping is better than the first by more than %.2f %%\n",
			100 * found->gap / value);
	if (!quiet)
		fprintf(stderr,
			"%" PRIu64 " mappings evaluated%s, %" PRIu64 " offered, %" PRIu64
			" executed, %zu on the frontier, %.1f s%s%s; results in %s\n",
			explored->evaluated, explored->complete ? ", nothing better is left" : "",
			explored->offered, explored->simulated, explored->frontier.count,
			record->seconds, record->limit ? ", cut short by: " : "",
			record->limit ? record->limit : "", folder);
	return listener_interrupted() ? EXIT_INTERRUPTED : EXIT_FOUND;
}

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
	if (!request_check(nest, &inputs->exploration.objectives, diag))
		return command_refuse(diag);
	struct nest_search search;
	struct listener listener = listener_open(request->seconds, request->quiet, "mappings");
	struct exploration wishes = inputs->exploration;
	wishes.listener = &listener;
	wishes.stop = listener_stop;
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
	const char *folder = results_open(arena, arguments, nest->shape->name);
	search.jobs = request->jobs;
	search.listener = &listener;
	search.stop = listener_stop;
	search.progress = listener_progress;
	search.report = listener_gap;
	diag_print(diag, stderr);
	struct nest_explored explored = nest_explore(&search, arena);
	for (size_t i = 0; i < explored.frontier.count && search.counting == COUNTING_TIMELOOP;
		i++) {
		const struct nest_found *found = explored.frontier.points[i].payload;
		struct diag *homes = diag_open(arena);
		command_nest_warn_homes(
			nest, &found->mapping, explored.frontier.points[i].key, arena, homes);
		diag_print(homes, stderr);
	}
	struct run_record record = results_record(arena, arguments, inputs, &listener);
	record.objectives = &search.objectives;
	record.hierarchy = search.hierarchy;
	record.counting = counting_names[search.counting];
	if (results_certificate(
		    arena, folder, "certificate.yaml", NULL, &record, &search, &explored))
		record.certificate = "certificate.yaml";
	write_results(arena, folder, &record, &search, &explored);
	command_print(request->format == FORMAT_TEXT ? nest_pareto_table(arena, &search, &explored)
		      : request->format == FORMAT_CSV
			      ? nest_pareto_csv(arena, &search, &explored)
			      : nest_run_json(arena, &record, &search, &explored));
	return command_end(explored.fault, tell_end(&explored, &record, folder, request->quiet));
}
