#include "base/arena.h"
#include "command.h"
#include "command_nest.h"
#include "listener.h"
#include "report/nest_results.h"
#include "report/pareto.h"
#include "results.h"
#include "search/feasible.h"
#include "search/solver.h"

#include <inttypes.h>
#include <stdio.h>

static bool check_request(
	const struct nest_inputs *inputs, const struct objectives *objectives, struct diag *diag)
{
	for (size_t i = 0; i < objectives->count; i++)
		if (!nest_objective(objectives->at[i]))
			diag_error(diag, (struct span){0},
				"objective '%s' is for workload graphs; a problem has latency, "
				"energy, edp, hbm_bytes and accesses:LEVEL",
				objective_names[objectives->at[i]]);
	if (inputs->solver)
		inputs_solver(STAGE_MAP, inputs->solver, (struct span){0}, diag);
	return !diag_failed(diag);
}

/* Under the flags of constraints alone: those of a mapping hold for no other one. */
static const struct hierarchy *unflag(
	const struct nest_inputs *inputs, struct arena *arena, struct diag *diag)
{
	if (!inputs->mapping_flags)
		return inputs->hierarchy;
	struct hierarchy *hierarchy = hierarchy_make(arena, inputs->arch, inputs->shape, diag);
	if (hierarchy)
		constraints_flag(inputs->constraints, hierarchy);
	diag_warning(diag, inputs->mapping_span,
		"flags in the mapping (no_reuse, rmw_first_update, ...) are left aside: in a search "
		"only those of constraints hold");
	return hierarchy;
}

/* NULL when the constraints leave no mapping: that is told then.  *start: one that fits; NULL if
 * that was too much work to find out. */
static const struct domain *narrow(const struct nest_inputs *inputs,
	const struct hierarchy *hierarchy, const struct mapping **start, struct arena *arena,
	struct diag *diag)
{
	struct domain *domain = domain_make(arena, inputs->arch, inputs->shape, hierarchy);
	*start = NULL;
	if (!constraints_narrow(inputs->constraints, domain, diag))
		return NULL;
	struct feasible feasible = feasible_find(domain, FEASIBLE_WORK_MOST);
	if (feasible.verdict == FEASIBILITY_FITS)
		*start = arena_copy(arena, &feasible.witness, sizeof feasible.witness);
	if (feasible.verdict != FEASIBILITY_NONE)
		return domain;
	diag_error(diag, inputs->shape->span,
		"no mapping fits the machine and the constraints; lxplore check says which of them "
		"conflict");
	return NULL;
}

/* Why a search cannot start with the mapping of the specs; NULL if it can. */
static const char *find_fault(
	const struct nest_search *search, const struct mapping *mapping, struct arena *arena)
{
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	const char *why = constraints_check(search->constraints, search->domain, mapping, arena);
	nest_evaluate(search->model, mapping, counts, score);
	return why ? why : nest_verdict_text(arena, search->hierarchy, search->shape, score);
}

/* A mapping that the specs bring is where the search starts, if it may. */
static void take_start(const struct nest_inputs *inputs, struct nest_search *search,
	struct arena *arena, struct diag *diag)
{
	if (!inputs->mapping)
		return;
	const char *why = find_fault(search, inputs->mapping, arena);
	if (why)
		diag_warning(diag, inputs->mapping_span,
			"the search starts without this mapping: %s", why);
	else
		search->start = inputs->mapping;
}

static void write_results(struct arena *arena, const char *folder, const struct run_record *record,
	const struct nest_search *search, const struct nest_explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	for (size_t i = 0; i < frontier->count; i++)
		results_write(arena, folder, pareto_plan_path(arena, i),
			nest_plan_yaml(arena, search, &frontier->points[i]));
	results_write(arena, folder, "run.json", nest_run_json(arena, record, search, explored));
	results_write(arena, folder, "pareto.csv", nest_pareto_csv(arena, search, explored));
	results_trim(arena, folder, frontier->count);
}

static int tell_end(const struct nest_explored *explored, const struct run_record *record,
	const char *folder, bool quiet)
{
	if (explored->fault)
		fprintf(stderr, "lxplore: the simulator disagrees with the model: %s\n",
			explored->fault);
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

int command_nest_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag)
{
	const struct nest_inputs *nest = inputs->nest;
	const struct exploration *wishes = &inputs->exploration;
	if (!check_request(nest, &wishes->objectives, diag))
		return command_refuse(diag);
	const struct mapping *start = NULL;
	const struct hierarchy *hierarchy = unflag(nest, arena, diag);
	const struct domain *domain =
		hierarchy ? narrow(nest, hierarchy, &start, arena, diag) : NULL;
	if (!domain) {
		diag_print(diag, stderr);
		return EXIT_IMPOSSIBLE;
	}
	const char *folder = results_open(arena, arguments, nest->shape->name);
	struct listener listener = listener_open(request->seconds, request->quiet, "mappings");
	struct nest_search search = {
		.arch = nest->arch,
		.shape = nest->shape,
		.hierarchy = hierarchy,
		.constraints = nest->constraints,
		.domain = domain,
		.space = space_make(arena, domain),
		.counting = nest->counting,
		.model = nest_model_make(arena, hierarchy, nest->shape, nest->counting),
		.exact = nest_model_make(arena, hierarchy, nest->shape, COUNTING_EXACT),
		.objectives = wishes->objectives,
		.solver = nest->solver,
		.start = start,
		.simulate = wishes->simulate,
		.simulate_budget = wishes->simulate_budget,
		.budget = wishes->budget ? wishes->budget : NEST_BUDGET,
		.seed = wishes->seed,
		.jobs = request->jobs,
		.listener = &listener,
		.stop = listener_stop,
		.progress = listener_progress,
	};
	take_start(nest, &search, arena, diag);
	diag_print(diag, stderr);
	struct nest_explored explored = nest_explore(&search, arena);
	struct run_record record = results_record(arena, arguments, inputs, &listener);
	record.objectives = &search.objectives;
	record.hierarchy = search.hierarchy;
	record.counting = counting_names[search.counting];
	write_results(arena, folder, &record, &search, &explored);
	command_print(request->format == FORMAT_TEXT ? nest_pareto_table(arena, &search, &explored)
		      : request->format == FORMAT_CSV
			      ? nest_pareto_csv(arena, &search, &explored)
			      : nest_run_json(arena, &record, &search, &explored));
	return tell_end(&explored, &record, folder, request->quiet);
}
