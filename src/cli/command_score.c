#include "base/arena.h"
#include "cli/command.h"
#include "cli/command_broadcast.h"
#include "cli/command_nest.h"
#include "cli/command_space_time.h"
#include "cli/inputs.h"
#include "report/graph/score_json.h"
#include "report/graph/trace.h"
#include "search/graph/evaluate.h"
#include "search/graph/recipe.h"

#include <stdio.h>

static void execute(
	struct outcome *outcome, const struct inputs *inputs, bool trace, struct arena *arena)
{
	struct truth truth;
	struct simulation how = {
		.mode = evaluate_mode(inputs->workload, inputs->arch, &outcome->cost.score),
		.steps_most = EVALUATE_STEPS_MOST,
		.trace = trace};
	if (how.mode == SIM_DATA) {
		truth = evaluate_truth(
			inputs->workload, inputs->arch, inputs->exploration.wishes.seed, arena);
		how.truth = &truth;
	}
	evaluate_simulate(outcome, &how, arena);
}

static bool refuse_option(const struct arguments *arguments, const char *name, struct diag *diag)
{
	const struct option_value *given = option_find(arguments, name);
	if (given)
		diag_error(diag, given->span, "'--%s' is for problems; this is a workload graph",
			name);
	return !given;
}

/* Everything up to the printing is the same for the model and the simulator. */
static int report(
	struct arena *arena, const struct arguments *arguments, struct diag *diag, bool simulated)
{
	struct inputs inputs;
	int format = (int)command_format();
	bool good =
		inputs_read(arena, arguments, diag, &inputs) && inputs_check_plan(&inputs, diag);
	good &= option_word(arguments, "format", format_names, diag, &format);
	if (good && inputs.space_time)
		return command_space_time_score(arena, arguments, &inputs, simulated, diag);
	if (good && inputs.network) {
		diag_error(diag, (struct span){0},
			"a network is explored or checked; of its results score and simulate read "
			"the files in layers/");
		good = false;
	}
	if (good && inputs.broadcast)
		return command_broadcast_score(arena, arguments, &inputs, simulated, diag);
	good = good && (inputs.nest || refuse_option(arguments, "explain", diag));
	good = good && (inputs.nest || refuse_option(arguments, "simulate-budget", diag));
	if (option_find(arguments, "code")) {
		diag_error(
			diag, option_find(arguments, "code")->span, "'--code' is for projections");
		good = false;
	}
	if (!good)
		return command_refuse(diag);
	if (inputs.nest)
		return command_nest_score(arena, arguments, inputs.nest,
			inputs.exploration.wishes.seed, simulated, diag);
	struct recipe_result made = inputs_plan(&inputs, arena);
	if (!inputs_believe(&inputs, &made, diag))
		return EXIT_IMPOSSIBLE;
	struct outcome outcome = evaluate_cost(made.plan, arena);
	const struct option_value *trace = option_find(arguments, "trace");
	if (!outcome.why && simulated)
		execute(&outcome, &inputs, trace != NULL, arena);
	if (outcome.why) {
		fprintf(stderr, "lxplore: %s\n", outcome.why);
		return EXIT_IMPOSSIBLE;
	}
	if (outcome.too_long) {
		fprintf(stderr, "lxplore: not executed: %s\n", outcome.too_long);
		return EXIT_NOTHING;
	}
	if (trace)
		command_write(arena, trace->text, trace_json(arena, &outcome));
	/* JSON is YAML as it stands. */
	const char *text = format == FORMAT_TEXT  ? score_text(arena, &outcome, &made, simulated)
			   : format == FORMAT_CSV ? score_csv(arena, &outcome, &made, simulated)
						  : score_json(arena, &outcome, &made, simulated);
	command_print(text);
	return simulated && !outcome.agrees ? EXIT_IMPOSSIBLE : EXIT_FOUND;
}

static int score(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	return report(arena, arguments, diag, false);
}

static int simulate(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	return report(arena, arguments, diag, true);
}

#define FORMAT_OPTION                                                                              \
	{                                                                                          \
		"format", 0, "text|csv|json|yaml", "of what is printed (default text on a terminal, else json)", false      \
	}

static const struct option score_options[] = {
	INPUT_OPTIONS,
	FORMAT_OPTION,
	{"explain", 0, NULL, "of a problem: how each count comes about", false},
	{"code", 0, "FILE", "of a projection: the transformed loops, as C that computes it", false},
	{0},
};

static const struct option simulate_options[] = {
	INPUT_OPTIONS,
	FORMAT_OPTION,
	{"trace", 't', "FILE", "when every instruction ran, for Perfetto or chrome://tracing",
		false},
	{"simulate-budget", 0, "N",
		"of a problem: at most N steps x multipliers (default 100000000)", false},
	{0},
};

const struct command command_score = {
	.name = "score",
	.usage = "SPEC... [PLAN]",
	.summary = "the analytical model of a plan",
	.manual = "Without a plan file, of the plan that the default settings make.\n",
	.options = score_options,
	.reads_specs = true,
	.run = score,
};

const struct command command_simulate = {
	.name = "simulate",
	.usage = "SPEC... [PLAN]",
	.summary = "executes a plan with real bytes and compares with the model",
	.manual =
		"Without a plan file, the plan that the default settings make.  Exit status 1 when\n"
		"the run shows a fault, its counts are not the model's, or a result is off by more\n"
		"than its op may be (specs/README.md); 3 when it would be too long.\n",
	.options = simulate_options,
	.reads_specs = true,
	.run = simulate,
};
