#include "base/arena.h"
#include "cli/command.h"
#include "cli/command_broadcast.h"
#include "cli/command_network.h"
#include "cli/command_space_time.h"
#include "cli/inputs.h"
#include "cli/listener.h"
#include "report/graph/plan_results.h"
#include "cli/results.h"
#include "search/engine/parallel.h"
#include "search/graph/evaluate.h"

#include <inttypes.h>
#include <stdio.h>

/* A plan that the specs bring is where the search starts, if it may. */
static void take_start(struct inputs *inputs, struct arena *arena, struct diag *diag)
{
	struct exploration *exploration = &inputs->exploration;
	struct recipe recipe = {.arch = exploration->arch,
		.workload = exploration->workload,
		.planning = exploration->planning,
		.given = inputs->plan};
	struct recipe_result made = recipe_plan(&recipe, arena);
	const char *why = made.plan ? evaluate_cost(made.plan, arena).why : made.why;
	if (inputs->plan->cores > exploration->planning.cores)
		why = arena_format(arena, "it is for %d cores, the limit is %d",
			inputs->plan->cores, exploration->planning.cores);
	if (!why) {
		exploration->start = inputs->plan;
		return;
	}
	diag_warning(diag, inputs->plan_span, "the search starts without this plan: %s", why);
	if (made.broken)
		diag_note(diag, made.broken->span, "asked for here");
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct inputs inputs;
	int format = FORMAT_TEXT;
	int64_t jobs = parallel_cores(), seconds = 0;
	bool good = inputs_read(arena, arguments, diag, &inputs);
	good &= option_integer(arguments, "jobs", 1, 1024, diag, &jobs);
	good &= option_integer(arguments, "time-limit", 1, INT32_MAX, diag, &seconds);
	good &= option_word(arguments, "format", format_names, diag, &format);
	if (!good)
		return command_refuse(diag);
	struct explore_request request = {
		(int)jobs, seconds, (enum format)format, option_find(arguments, "quiet") != NULL};
	if (inputs.space_time)
		return command_space_time_explore(arena, arguments, &inputs, &request, diag);
	if (inputs.broadcast)
		return command_broadcast_explore(arena, arguments, &inputs, &request, diag);
	if (inputs.network)
		return command_network_explore(arena, arguments, &inputs, &request, diag);
	if (inputs.nest)
		return command_nest_explore(arena, arguments, &inputs, &request, diag);
	if (inputs.plan)
		take_start(&inputs, arena, diag);
	diag_print(diag, stderr);
	struct folder *folder = results_open(arena, arguments, inputs.workload->name);
	struct listener listener = listener_open(seconds, request.quiet, "candidates");
	inputs.exploration.wishes.asker = listener_asker(&listener, request.jobs);
	struct explored explored = explore(&inputs.exploration, arena);

	struct run_record record = results_record(arena, arguments, &inputs, &listener);
	record.limit = record.limit ? record.limit : explored.limit;
	const struct frontier *frontier = &explored.frontier;
	struct results_texts texts = {
		.plans = arena_array(arena, const char *, frontier->count),
		.run = plan_run_json(arena, &record, &explored),
		.pareto = plan_pareto_csv(arena, inputs.arch, frontier),
		.table = plan_pareto_table(arena, inputs.arch, frontier),
		.what = "plan",
		.work = arena_format(arena, "%" PRIu64 " candidates", explored.effort.offered),
	};
	for (size_t i = 0; i < frontier->count; i++)
		texts.plans[i] = frontier->points[i].key;
	return results_end(arena, folder, &texts, &explored, &record, &request);
}

static const struct option options[] = {
	{"output", 'o', "DIR", "the results folder (default results/<workload>)", false},
	{"objective", 0, "A,B,..", "what the frontier is over (lxplore list objectives)", true},
	INPUT_OPTIONS,
	{"jobs", 'j', "N", "threads; no influence on the results (default: all cores)", false},
	{"budget", 0, "N", "at most N candidates; of a network, mappings for each layer", false},
	{"latency-budget", 0, "CYCLES|TIME", "of a network: the least energy within it", false},
	{"energy-budget", 0, "PJ", "of a network: the least latency within it", false},
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
		"Of a problem's proof, DIR/certificate.yaml is what check --certificate verifies.\n"
		"Of a network, plans name what each layer takes: DIR/layers.csv has the points of\n"
		"layers, DIR/layers/ their problems and mappings, which score and simulate read.\n"
		"Of a broadcast, gather, scatter, reduce, put or get, tiles, orders of chunks and algorithms\n"
		"are tried; plans are such operations.\n"
		"Of recurrences and einsums (space_time), all projections of the ranges are looked at, or\n"
		"all foldings onto an array; every point is executed beside the sequential order.\n"
		"Of a graph with broadcasts, their staging tiles are tried, too (search: staging).\n"
		"A plan, or a mapping of a problem, if the specs bring one, is where the search starts.\n"
		"Of mappings of a problem that are equal in all objectives, the one of least energy x\n"
		"latency that was met is the one that is written; proofs are of the objectives alone.\n"
		"Ctrl-C, or SIGTERM, writes what is known so far.\n\n"
		"example: lxplore explore specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml\n",
	.options = options,
	.reads_specs = true,
	.run = run,
};
