#include "cli/command_nest.h"

#include "base/arena.h"
#include "cli/command.h"
#include "cost/nest/nest.h"
#include "cost/nest/nest_array.h"
#include "report/nest/nest_report.h"
#include "sim/nest/nest.h"

#include <stdio.h>

/* Words that a run holds grow with the tensors; numbers are computed up to here. */
enum { DATA_COMPUTES_MOST = 20000000 };

/* Steps x multipliers: minutes. */
enum { STEPS_MOST = 100000000 };

/* What stands against the mapping: a verdict, or a constraint that it breaks. */
static const char *find_fault(
	const struct nest_inputs *inputs, const struct nest_score *score, struct arena *arena)
{
	const char *why = nest_verdict_text(arena, inputs->hierarchy, inputs->shape, score);
	if (!why)
		why = constraints_check(
			inputs->constraints, inputs->domain, inputs->mapping, arena);
	return why;
}

/* Runs the nest and compares with the exact model, whatever counting was asked for. */
static struct nest_run execute(
	const struct nest_inputs *inputs, uint64_t seed, int64_t steps_most, struct arena *arena)
{
	const struct nest_model *model =
		nest_model_make(arena, inputs->hierarchy, inputs->shape, COUNTING_EXACT);
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	int64_t computes = 0;
	bool small = shape_computes(inputs->shape, &computes) && computes <= DATA_COMPUTES_MOST;
	struct nest_sim_options options = {
		.data = small, .timing = true, .seed = seed, .steps_most = (uint64_t)steps_most};
	const char *impossible = NULL;
	if (nest_evaluate(model, inputs->mapping, counts, score) != NEST_FITS)
		impossible = nest_verdict_text(arena, inputs->hierarchy, inputs->shape, score);
	if (impossible) /* Timeloop's counting allows it */
		return (struct nest_run){.wrong = impossible};
	struct nest_sim sim =
		nest_simulate(inputs->hierarchy, inputs->shape, inputs->mapping, &options, arena);
	struct nest_run run = {
		.finished = sim.finished,
		.agrees = sim.finished && sim.right && sim.verdict == score->verdict &&
			  nest_counts_equal(inputs->hierarchy, inputs->shape, counts, &sim.counts),
		.right = sim.right,
		.data = small,
		.wrong = sim.wrong,
		.events = sim.events,
		.cycles = sim.cycles,
		.fill_cycles = sim.fill_cycles,
		.drain_cycles = sim.drain_cycles,
		.stall_cycles = sim.stall_cycles,
	};
	for (int i = 0; i < inputs->hierarchy->level_count; i++)
		run.stall_by_level[i] = sim.stall_by_level[i];
	return run;
}

static void print_report(struct arena *arena, const struct nest_report *report, enum format format)
{
	/* JSON is YAML as it stands. */
	command_print(format == FORMAT_TEXT  ? nest_text(arena, report)
		      : format == FORMAT_CSV ? nest_csv(arena, report)
					     : nest_json(arena, report));
}

enum counting command_nest_counting(
	const struct nest_inputs *inputs, struct arena *arena, struct diag *diag)
{
	bool perfect = true;
	if (!inputs->mapping || inputs->counting == COUNTING_EXACT)
		return inputs->counting;
	nest_mapping_check(arena, inputs->arch, inputs->shape, inputs->mapping, &perfect);
	if (!perfect)
		diag_warning(diag, (struct span){0},
			"factors do not divide: counted exactly, for Timeloop's counts are "
			"averages cut to integers there");
	return perfect ? COUNTING_TIMELOOP : COUNTING_EXACT;
}

void command_nest_warn_homes(const struct nest_inputs *inputs, const struct mapping *mapping,
	const char *what, struct arena *arena, struct diag *diag)
{
	const struct nest_model *timeloop =
		nest_model_make(arena, inputs->hierarchy, inputs->shape, COUNTING_TIMELOOP);
	const struct nest_model *exact =
		nest_model_make(arena, inputs->hierarchy, inputs->shape, COUNTING_EXACT);
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score score;
	if (nest_evaluate(timeloop, mapping, counts, &score) != NEST_FITS)
		return;
	enum nest_verdict verdict = nest_evaluate(exact, mapping, counts, &score);
	if (verdict == NEST_CAPACITY || verdict == NEST_SUMS_APART)
		diag_warning(diag, (struct span){0},
			"%s: Timeloop's counting allows it, but no machine can run it: %s", what,
			nest_verdict_text(arena, inputs->hierarchy, inputs->shape, &score));
}

struct nest_report command_nest_report(
	const struct nest_inputs *inputs, enum counting counting, struct arena *arena)
{
	const struct nest_model *model =
		nest_model_make(arena, inputs->hierarchy, inputs->shape, counting);
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	nest_evaluate(model, inputs->mapping, counts, score);
	struct nest_projection *projection = arena_new(arena, struct nest_projection);
	bool projected = nest_verdict_counts(score->verdict) &&
			 nest_array_project(model, inputs->mapping, counts, projection);
	return (struct nest_report){
		.arch = inputs->arch,
		.hierarchy = inputs->hierarchy,
		.shape = inputs->shape,
		.mapping = inputs->mapping,
		.counting = counting,
		.counts = counts,
		.score = score,
		.why = find_fault(inputs, score, arena),
		.counted = nest_verdict_counts(score->verdict),
		.projection = projected ? projection : NULL,
	};
}

int command_nest_score(struct arena *arena, const struct arguments *arguments,
	const struct nest_inputs *inputs, uint64_t seed, bool simulated, struct diag *diag)
{
	int format = (int)command_format();
	int64_t steps_most = STEPS_MOST;
	if (!inputs->mapping)
		diag_error(diag, (struct span){0},
			"no file has a 'mapping'; explore looks for good ones");
	if (option_find(arguments, "trace"))
		diag_error(diag, option_find(arguments, "trace")->span,
			"'--trace' is for workload graphs; this is a problem");
	option_word(arguments, "format", format_names, diag, &format);
	option_integer(arguments, "simulate-budget", 1, INT64_MAX, diag, &steps_most);
	enum counting counting = command_nest_counting(inputs, arena, diag);
	if (diag_failed(diag))
		return command_refuse(diag);
	if (counting == COUNTING_TIMELOOP)
		command_nest_warn_homes(inputs, inputs->mapping, "the mapping", arena, diag);
	diag_print(diag, stderr);

	struct nest_report report = command_nest_report(inputs, counting, arena);
	if (option_find(arguments, "explain")) {
		if (report.why)
			fprintf(stderr, "lxplore: infeasible: %s\n", report.why);
		if (report.counted)
			command_print(nest_explain(
				nest_model_make(arena, inputs->hierarchy, inputs->shape, counting),
				inputs->mapping, arena));
		return report.why ? EXIT_IMPOSSIBLE : EXIT_FOUND;
	}
	struct nest_run run;
	if (simulated && !report.why) {
		run = execute(inputs, seed, steps_most, arena);
		report.run = &run;
	}
	print_report(arena, &report, (enum format)format);
	if (report.run && !run.finished) {
		fprintf(stderr, "lxplore: not executed: %s\n", run.wrong);
		return EXIT_NOTHING;
	}
	return report.why || (report.run && !run.agrees) ? EXIT_IMPOSSIBLE : EXIT_FOUND;
}
