#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/command_check.h"
#include "cli/kind.h"
#include "cli/nest_inputs.h"
#include "cost/nest/nest.h"
#include "cost/nest/nest_home.h"
#include "report/graph/choices.h"
#include "report/nest/check_report.h"
#include "report/nest/nest_report.h"
#include "report/nest/nest_results.h"
#include "sim/nest/nest.h"

#include <inttypes.h>
#include <stdio.h>

/* Words that a run holds grow with the tensors; numbers are computed up to here. */
enum { DATA_COMPUTES_MOST = 20000000 };

/* Steps x multipliers: minutes.  Parts of a run in a trace: 100 MB. */
enum { STEPS_MOST = 100000000, TRACE_SPANS_MOST = 1000000 };

/* A mapping, counted. */
struct counted {
	const struct nest_model *model;
	struct nest_counts *counts;
	struct nest_score *score;
};

static struct counted nest_inputs_count(const struct nest_inputs *inputs,
	const struct mapping *mapping, enum counting counting, struct arena *arena)
{
	struct counted counted = {
		nest_model_make(arena, inputs->hierarchy, inputs->shape, counting),
		arena_new(arena, struct nest_counts), arena_new(arena, struct nest_score)};
	nest_evaluate(counted.model, mapping, counted.counts, counted.score);
	return counted;
}

static const char *verdict_of(
	const struct nest_inputs *inputs, const struct counted *counted, struct arena *arena)
{
	return nest_verdict_text(arena, inputs->hierarchy, inputs->shape, counted->score);
}

/* Runs the nest and compares with the exact model under each counting; `trace` as the simulator has it. */
static struct nest_outcome nest_outcome_execute(const struct nest_inputs *inputs, uint64_t seed,
	int64_t steps_most, struct nest_trace *trace, struct arena *arena)
{
	struct counted exact = nest_inputs_count(inputs, inputs->mapping, COUNTING_EXACT, arena);
	int64_t computes = 0;
	bool small = shape_computes(inputs->shape, &computes) && computes <= DATA_COMPUTES_MOST;
	struct nest_sim_options options = {.data = small,
		.timing = true,
		.seed = seed,
		.steps_most = (uint64_t)steps_most,
		.trace = trace};
	const char *impossible = verdict_of(inputs, &exact, arena);
	if (impossible) /* Timeloop's counting allows it */
		return (struct nest_outcome){.wrong = impossible};
	struct nest_sim sim =
		nest_simulate(inputs->hierarchy, inputs->shape, inputs->mapping, &options, arena);
	struct nest_outcome run = {
		.finished = sim.finished,
		.agrees = sim.finished && sim.right && sim.verdict == exact.score->verdict &&
			  nest_counts_equal(
				  inputs->hierarchy, inputs->shape, exact.counts, &sim.counts),
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

/* Timeloop's counting has no meaning where factors do not divide: warned of, and counted exactly. */
static enum counting find_counting(
	const struct nest_inputs *inputs, struct arena *arena, struct diag *diag)
{
	bool perfect = true;
	if (!inputs->mapping || inputs->counting == COUNTING_EXACT)
		return inputs->counting;
	nest_mapping_check(arena, inputs->arch, inputs->shape, inputs->mapping, &perfect);
	if (!perfect)
		diag_warning(diag, (struct span){0},
			"factors do not divide, so counts are exact: Timeloop's are averages cut to integers there");
	return perfect ? COUNTING_TIMELOOP : COUNTING_EXACT;
}

/* Timeloop lets a home hold less than comes into its tile, and sums end in parts: warned of. */
static void warn_homes(const struct nest_inputs *inputs, const struct mapping *mapping,
	const char *what, struct arena *arena, struct diag *diag)
{
	struct counted timeloop = nest_inputs_count(inputs, mapping, COUNTING_TIMELOOP, arena);
	if (timeloop.score->verdict != NEST_FITS)
		return;
	struct counted exact = nest_inputs_count(inputs, mapping, COUNTING_EXACT, arena);
	enum nest_verdict verdict = exact.score->verdict;
	if (verdict == NEST_CAPACITY || verdict == NEST_SUMS_APART)
		diag_warning(diag, (struct span){0},
			"%s: Timeloop's counting allows it, but no machine can run it: %s", what,
			verdict_of(inputs, &exact, arena));
}

/* The mapping of the specs, counted. */
static struct nest_report make_report(
	const struct nest_inputs *inputs, enum counting counting, struct arena *arena)
{
	struct counted counted = nest_inputs_count(inputs, inputs->mapping, counting, arena);
	struct nest_projection *projection = arena_new(arena, struct nest_projection);
	bool counts = nest_verdict_counts(counted.score->verdict);
	bool projected = counts && nest_array_project(counted.model, inputs->mapping,
					   counted.counts, projection);
	const char *why = verdict_of(inputs, &counted, arena);
	return (struct nest_report){
		.arch = inputs->arch,
		.hierarchy = inputs->hierarchy,
		.shape = inputs->shape,
		.mapping = inputs->mapping,
		.counting = counting,
		.counts = counted.counts,
		.score = counted.score,
		.why = why ? why
			   : constraints_check(
				     inputs->constraints, inputs->domain, inputs->mapping, arena),
		.counted = counts,
		.projection = projected ? projection : NULL,
	};
}

/* --- score and simulate */

static int nest_inputs_explain(const struct inputs *inputs, const struct nest_report *report)
{
	if (report->why)
		utf8_print(command_people(), "lxplore: infeasible: %s\n", report->why);
	if (report->counted)
		command_print(nest_explain(nest_model_make(inputs->arena, report->hierarchy,
						   report->shape, report->counting),
			report->mapping, inputs->arena));
	return report->why ? EXIT_IMPOSSIBLE : EXIT_FOUND;
}

static void write_trace(const struct nest_inputs *inputs, const char *path,
	const struct nest_trace *trace, int64_t cycles, struct arena *arena)
{
	command_write(arena, path, nest_trace_json(arena, inputs->hierarchy, trace, cycles));
	if (trace->cut)
		fprintf(command_people(),
			"lxplore: the trace has the first %d parts of the run alone\n",
			TRACE_SPANS_MOST);
}

static int score(const struct inputs *inputs, enum format format, bool simulated)
{
	const struct nest_inputs *own = inputs->own;
	struct arena *arena = inputs->arena;
	struct diag *diag = inputs->diag;
	int64_t steps_most = STEPS_MOST;
	if (!own->mapping)
		diag_error(diag, (struct span){0},
			"no file has a 'mapping'; explore looks for good ones");
	option_integer(inputs->arguments, "simulate-budget", 0, diag, &steps_most);
	enum counting counting = find_counting(own, arena, diag);
	if (diag_failed(diag))
		return command_refuse(diag);
	if (counting == COUNTING_TIMELOOP)
		warn_homes(own, own->mapping, "the mapping", arena, diag);
	diag_print(diag, command_people());

	struct nest_report report = make_report(own, counting, arena);
	if (inputs_given(inputs, "explain"))
		return nest_inputs_explain(inputs, &report);
	struct nest_outcome run;
	if (simulated && !report.why) {
		struct nest_trace trace = {.arena = arena, .most = TRACE_SPANS_MOST};
		const struct option_value *file = option_find(inputs->arguments, "trace");
		run = nest_outcome_execute(
			own, inputs->wishes.seed, steps_most, file ? &trace : NULL, arena);
		report.run = &run;
		if (file && run.finished)
			write_trace(own, file->text, &trace, run.cycles, arena);
	}
	json_t *tree = nest_json(arena, &report);
	if (format != FORMAT_TIMELOOP)
		command_print(format == FORMAT_TEXT
				      ? nest_text(arena, &report, tree)
				      : command_value(arena, format, json_incref(tree)));
	else if (report.counted)
		command_print(nest_timeloop(arena, &report));
	json_decref(tree);
	if (report.run && !run.finished) {
		utf8_print(command_people(), "lxplore: not executed: %s\n", run.wrong);
		return EXIT_NOTHING;
	}
	return report.why || (report.run && !run.agrees) ? EXIT_IMPOSSIBLE : EXIT_FOUND;
}

static json_t *details(const struct inputs *inputs)
{
	const struct nest_inputs *own = inputs->own;
	if (!own->mapping)
		return NULL;
	enum counting counting = find_counting(own, inputs->arena, inputs->diag);
	struct nest_report report = make_report(own, counting, inputs->arena);
	return json_pack("{s:o}", "score", nest_json(inputs->arena, &report));
}

/* Everything that stands against the mapping: the verdict, and every constraint that it breaks, which are complained
 * about, too.  NULL ends them. */
static const char *const *find_faults(
	const struct nest_inputs *inputs, struct arena *arena, struct diag *diag)
{
	struct array(const char *) why = {0};
	struct counted counted =
		nest_inputs_count(inputs, inputs->mapping, inputs->counting, arena);
	const char *verdict = verdict_of(inputs, &counted, arena);
	if (verdict)
		*array_add(arena, &why) = verdict;
	for (size_t i = 0; i < inputs->constraints->count; i++) {
		const char *broken = constraints_check_one(
			inputs->constraints, i, inputs->domain, inputs->mapping, arena);
		if (!broken)
			continue;
		diag_error(diag, inputs->constraints->at[i].span, "%s", broken);
		*array_add(arena, &why) = broken;
	}
	*array_add(arena, &why) = NULL;
	return why.at;
}

static int check(const struct inputs *inputs, enum format format)
{
	const struct nest_inputs *own = inputs->own;
	struct mapspace_check check =
		mapspace_check(own->domain, own->constraints, NULL, inputs->diag, inputs->arena);
	struct mapspace_check_report report = {.check = &check, .mapping = own->mapping != NULL};
	if (report.mapping)
		report.why = find_faults(own, inputs->arena, inputs->diag);
	if (report.mapping && find_counting(own, inputs->arena, inputs->diag) == COUNTING_TIMELOOP)
		warn_homes(own, own->mapping, "the mapping", inputs->arena, inputs->diag);
	diag_print(inputs->diag, command_people());
	json_t *tree = mapspace_check_json(inputs->arena, &report);
	command_print(format == FORMAT_TEXT
			      ? mapspace_check_text(inputs->arena, tree)
			      : command_value(inputs->arena, format, json_incref(tree)));
	json_decref(tree);
	return report.mapping && report.why[0] ? EXIT_IMPOSSIBLE
					       : listener_status(mapspace_verdict(&check));
}

/* --- explore */

/* Why no mapping fits; contradictions of constraints have been reported. */
static void tell_conflict(struct exploring *exploring)
{
	const struct nest_inputs *own = exploring->inputs->own;
	struct stopper stopper = {&exploring->listener, listener_stop};
	struct diag *silent = diag_open(exploring->arena);
	struct mapspace_check check =
		mapspace_check(own->domain, own->constraints, &stopper, silent, exploring->arena);
	if (check.contradictory || check.feasible.verdict != VERDICT_NO)
		return;
	struct mapspace_check_report report = {.check = &check};
	json_t *tree = mapspace_check_json(exploring->arena, &report);
	fputs(mapspace_conflict_text(exploring->arena, tree), exploring->people);
	json_decref(tree);
}

static int prepare(struct exploring *exploring)
{
	const struct inputs *inputs = exploring->inputs;
	if (!request_check(inputs->own, &inputs->wishes.objectives, inputs->diag))
		return exploration_refuse(exploring);
	struct nest_search *search = arena_new(exploring->arena, struct nest_search);
	exploring->search = search;
	if (request_search(exploring->arena, inputs->own, &exploring->wishes, inputs->diag, search))
		return EXIT_FOUND;
	bool stopped = listener_stop(&exploring->listener);
	diag_print(inputs->diag, exploring->people);
	if (!stopped)
		tell_conflict(exploring);
	return listener_status(stopped ? VERDICT_OPEN : VERDICT_NO);
}

static struct explored run_search(struct exploring *exploring)
{
	return nest_explore(exploring->search, exploring->arena);
}

static void describe(struct exploring *exploring)
{
	nest_record_fill(&exploring->record, exploring->search, exploring->arena);
}

static void finish(struct exploring *exploring)
{
	const struct nest_search *search = exploring->search;
	const struct frontier *frontier = &exploring->explored.frontier;
	struct run_record *record = &exploring->record;
	for (size_t i = 0; i < frontier->count && search->counting == COUNTING_TIMELOOP; i++) {
		const struct nest_found *found = frontier->points[i].payload;
		struct diag *homes = diag_open(exploring->arena);
		warn_homes(exploring->inputs->own, &found->mapping, frontier->points[i].key,
			exploring->arena, homes);
		diag_print(homes, exploring->people);
	}
	if (certificate_write(exploring->arena, exploring->folder, "certificate.yaml", NULL, record,
		    search, &exploring->explored))
		record->certificate = "certificate.yaml";
}

static const char *plan(const struct exploring *exploring, size_t i)
{
	return nest_plan_yaml(
		exploring->arena, exploring->search, &exploring->explored.frontier.points[i]);
}

static struct result_texts texts(const struct exploring *exploring)
{
	const struct nest_search *search = exploring->search;
	const struct explored *explored = &exploring->explored;
	struct arena *arena = exploring->arena;
	return (struct result_texts){
		.run = nest_run_json(arena, &exploring->record, search, explored),
		.pareto = nest_pareto_csv(arena, search, explored),
		.table = nest_pareto_table(arena, search, explored,
			option_find(exploring->inputs->arguments, "verbose") != NULL),
		.summary = nest_points_summary(arena, search, explored),
		.work = arena_format(arena, "%" PRIu64 " mappings evaluated%s, %" PRIu64 " offered",
			explored->effort.evaluated,
			explored->complete ? ", nothing better is left" : "",
			explored->effort.offered),
	};
}

/* --- diff */

static bool has_plan(const struct inputs *inputs)
{
	const struct nest_inputs *own = inputs->own;
	return own->mapping != NULL;
}

/* Both are about the same things, by name; their sizes may differ. */
static const char *unlike(const struct inputs *a, const struct inputs *b)
{
	const struct nest_inputs *x = a->own, *y = b->own;
	bool alike = x->arch->level_count == y->arch->level_count &&
		     x->shape->dimension_count == y->shape->dimension_count &&
		     x->shape->space_count == y->shape->space_count;
	for (int r = 0; alike && r < x->arch->level_count; r++)
		alike = text_equal(x->arch->levels[r].name, y->arch->levels[r].name);
	for (int d = 0; alike && d < x->shape->dimension_count; d++)
		alike = text_equal(x->shape->dimensions[d].name, y->shape->dimensions[d].name);
	for (int t = 0; alike && t < x->shape->space_count; t++)
		alike = text_equal(x->shape->spaces[t].name, y->shape->spaces[t].name);
	return alike ? NULL
		     : "have other levels, dimensions or dataspaces: there is nothing to compare";
}

static bool compare(const struct inputs *a, const struct inputs *b, struct diff *diff)
{
	const struct nest_inputs *x = a->own, *y = b->own;
	struct arena *arena = a->arena;
	struct diag *diag = diag_open(arena);
	enum counting counting = find_counting(x, arena, diag);
	if (counting == COUNTING_TIMELOOP)
		counting = find_counting(y, arena, diag);
	diag_print(diag, command_people());
	struct nest_report of_a = make_report(x, counting, arena);
	struct nest_report of_b = make_report(y, counting, arena);
	diff->counting = counting_names[counting];
	diff->a.line = nest_mapping_print(arena, x->arch, x->shape, x->mapping);
	diff->b.line = nest_mapping_print(arena, y->arch, y->shape, y->mapping);
	diff->a.choices = nest_choices(arena, x->arch, x->shape, x->mapping, y->mapping);
	diff->b.choices = nest_choices(arena, y->arch, y->shape, y->mapping, x->mapping);
	diff->a.counts = nest_json(arena, &of_a);
	diff->b.counts = nest_json(arena, &of_b);
	return true;
}

static const struct nest_inputs *certified(
	const struct inputs *inputs, const char *layer, struct span span)
{
	if (layer)
		diag_error(inputs->diag, span, "this certificate is of layer '%s' of a network",
			layer);
	return layer ? NULL : inputs->own;
}

const struct input_kind nest_kind = {
	.name = "problem",
	.noun = "a problem",
	.plural = "problems",
	.summary = "problem: one loop nest on a hierarchy of memories, as Timeloop has it",
	.key = "problem",
	.rank = 1,
	.subject = SUBJECT_PROBLEM,
	.objectives = {2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}},
	.stages = 1 << STAGE_MAP,
	.plan = "mapping",
	.read = nest_inputs_read,
	.explore = {.counted = "mappings",
		.found = "mapping",
		.none = ", and there is none",
		.prepare = prepare,
		.run = run_search,
		.describe = describe,
		.finish = finish,
		.plan = plan,
		.texts = texts},
	.score = score,
	.timeloop = true,
	.details = details,
	.check = check,
	.has_plan = has_plan,
	.unlike = unlike,
	.compare = compare,
	.certified = certified,
};
