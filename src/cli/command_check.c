#include "base/arena.h"
#include "cli/command.h"
#include "cli/command_broadcast.h"
#include "cli/command_network.h"
#include "cli/command_space_time.h"
#include "cli/inputs.h"
#include "search/graph/evaluate.h"
#include "search/graph/recipe.h"

#include <inttypes.h>
#include <stdio.h>

/* Runs the plan with identities in every stick, as far as memory allows: what is illegal shows. */
static int check_plan(
	struct arena *arena, const struct inputs *inputs, const struct recipe_result *made)
{
	struct outcome outcome = evaluate_cost(made->plan, arena);
	struct simulation how = {
		.mode = evaluate_mode(inputs->workload, inputs->arch, &outcome.cost.score),
		.steps_most = EVALUATE_STEPS_MOST};
	if (how.mode == SIM_DATA)
		how.mode = SIM_IDENTITY;
	if (!outcome.why)
		evaluate_simulate(&outcome, &how, arena);
	if (outcome.why) {
		fprintf(stderr, "lxplore: illegal plan: %s\n", outcome.why);
		return EXIT_IMPOSSIBLE;
	}
	if (outcome.too_long) {
		fprintf(stderr, "lxplore: not executed: %s\n", outcome.too_long);
		return EXIT_NOTHING;
	}
	for (int i = 0; i < outcome.sim.fault_count && i < SIM_FAULTS_MOST; i++)
		fprintf(stderr, "lxplore: illegal plan: %s\n", outcome.sim.faults[i].text);
	if (!outcome.agrees) {
		if (!outcome.sim.fault_count)
			fprintf(stderr, "lxplore: the simulator's counts are not the model's\n");
		return EXIT_IMPOSSIBLE;
	}
	command_print(arena_format(arena,
		"plan: %d steps, %" PRId64 " cycles, %" PRId64 " simulated, %" PRIu64
		" events, no fault, counts agree%s\n",
		made->plan->step_count, outcome.cost.score.cycles, outcome.sim.cycles,
		outcome.sim.events,
		how.mode == SIM_COUNT ? " (contents are not followed in more than 1 GiB of tensors)"
				      : ""));
	return EXIT_FOUND;
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct inputs inputs;
	if (option_find(arguments, "certificate"))
		return command_certificate(arena, arguments, diag);
	if (option_find(arguments, "budget")) {
		diag_error(diag, option_find(arguments, "budget")->span,
			"'--budget' is for '--certificate'");
		return command_refuse(diag);
	}
	if (!inputs_read(arena, arguments, diag, &inputs) || !inputs_check_plan(&inputs, diag))
		return command_refuse(diag);
	if (inputs.space_time)
		return command_space_time_check(arena, arguments, &inputs, diag);
	if (inputs.broadcast)
		return command_broadcast_check(arena, arguments, &inputs, diag);
	if (inputs.network)
		return command_network_check(arena, arguments, inputs.network, diag);
	if (inputs.nest)
		return command_nest_check(arena, arguments, inputs.nest, diag);
	if (option_find(arguments, "format")) {
		diag_error(diag, option_find(arguments, "format")->span,
			"'--format' is for problems; this is a workload graph");
		return command_refuse(diag);
	}
	command_print(arena_format(arena, "specs: %s, %d cores; %s, %zu ops, %zu tensors\n",
		inputs.arch->name, (int)arch_cores(inputs.arch), inputs.workload->name,
		inputs.workload->op_count, inputs.workload->tensor_count));
	struct recipe_result made = inputs_plan(&inputs, arena);
	if (!inputs_believe(&inputs, &made, diag))
		return EXIT_IMPOSSIBLE;
	return check_plan(arena, &inputs, &made);
}

static const struct option options[] = {
	INPUT_OPTIONS,
	{"format", 0, "text|csv|json|yaml", "of what is said of a problem (default text)", false},
	{"certificate", 0, "FILE", "what explore proved: find out anew whether it holds", false},
	{"budget", 0, "N",
		"at most N bounds and mappings to check a certificate (default: any number)",
		false},
	{0},
};

const struct command command_check = {
	.name = "check",
	.usage = "SPEC... [PLAN] [--certificate FILE]",
	.summary = "tells everything that is wrong with specs, a plan or a proof",
	.manual =
		"All complaints at once, with file, line and column.  Then the plan, or the one that\n"
		"default settings make, is run with an identity in every stick of memory: an\n"
		"overlap, a stale or unwritten read, a missing dependence shows.\n"
		"\n"
		"Of a problem: whether any mapping meets the constraints and fits; if none does, what\n"
		"each limit would have to be, and a smallest set of constraints that cannot be met\n"
		"together; how many mappings there are; what stands against the mapping, if there is\n"
		"one.  Exit status 1 when nothing fits or the mapping cannot be, 3 when that was not\n"
		"decided.\n"
		"\n"
		"Of a broadcast or an operation beside it: which rules it breaks, by their codes; else it\n"
		"is executed.\n"
		"\n"
		"With --certificate, of the certificate.yaml in a results folder: that it is of these\n"
		"specs, that its points keep the constraints, fit and cost what is said, and, by a plain\n"
		"search that shares nothing with the solvers, that no mapping of the whole space is\n"
		"better than claimed.  The counting is the certificate's.  Exit status 1 when it is\n"
		"rejected, with the reason; 3 when the budget ended first.  A proof among factors that\n"
		"need not divide (--imperfect) has no certificate.\n",
	.options = options,
	.reads_specs = true,
	.run = run,
};
