#include "cli/exploration.h"
#include "cli/results.h"
#include "cli/settings.h"
#include "search/engine/parallel.h"

#include <stdio.h>

static int explore_inputs(struct exploring *exploring, enum format format, bool quiet)
{
	const struct inputs *inputs = exploring->inputs;
	const struct explorer *explorer = &inputs->kind->explore;
	int status = exploration_prepare(exploring);
	if (status != EXIT_FOUND)
		return status;
	diag_print(inputs->diag, stderr);
	exploring->folder = results_open(inputs->arena, inputs->arguments, explorer->name(inputs));
	exploration_run(exploring);
	return results_end(exploring, format, quiet);
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
