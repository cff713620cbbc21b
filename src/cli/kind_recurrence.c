#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/nest_inputs.h"
#include "constraints/constraints.h"
#include "model/graph/workload_read.h"
#include "model/nest/shape.h"
#include "model/recurrence/recurrence.h"
#include "report/recurrence/projection_report.h"
#include "search/recurrence/project_search.h"

#include <inttypes.h>
#include <stdio.h>

/* A recurrence and what is known of its projection: `space_time`, `projection`, `search`. */
struct space_time_inputs {
	struct space_time spec;
	const struct solver *solver; /* of the stage `project` */
};

/* The targets of all files, of which a projection knows those that are rows of space. */
static const struct node *const *find_targets(struct sheet *sheet, const struct reading *reading)
{
	const struct node *const *lists = constraints_lists(sheet, reading->arena);
	struct array(const struct node *) found = {0};
	for (int i = 0; lists[i]; i++) {
		const struct node *targets = constraints_targets(reading, lists[i]);
		for (size_t k = 0; targets && k < targets->count; k++)
			*array_add(reading->arena, &found) = targets->items[k];
	}
	*array_add(reading->arena, &found) = NULL;
	return found.at;
}

static bool read(struct inputs *inputs, struct sheet *sheet)
{
	static const char *const others[] = {"network", "plan", "mapping", NULL};
	const struct reading *reading = &inputs->reading;
	struct space_time_inputs *own = arena_new(inputs->arena, struct space_time_inputs);
	const struct node *node = sheet_find(sheet, "space_time");
	const struct node *problem = sheet_find(sheet, "problem");
	const struct node *workload = sheet_find(sheet, "workload");
	struct space_time_beside beside = {
		.plan = sheet_find(sheet, "projection"), .targets = find_targets(sheet, reading)};
	inputs_refuse_keys(inputs, sheet, others);
	sheet_done(sheet);
	if (problem && workload)
		diag_error(inputs->diag, problem->span,
			"'problem' and 'workload' are both given; a projection is of one op, so remove one");
	if (problem)
		beside.problem = shape_read(reading, problem);
	if (beside.problem)
		nest_inputs_density(beside.problem, COUNTING_EXACT, reading->diag);
	if (workload)
		beside.workload = workload_read(reading, workload, NULL);
	if (!diag_failed(inputs->diag))
		space_time_read(reading, node, &beside, &own->spec);
	inputs_settings(inputs, NULL);
	own->solver = inputs_one_solver(inputs,
		solver_for(STAGE_PROJECT, own->spec.folds ? FOR_FOLDINGS : FOR_RECURRENCES));
	inputs_settings_done(inputs);
	inputs->own = own;
	inputs->name = "space_time";
	return true;
}

static struct project_search open_search(const struct inputs *inputs, const struct wishes *wishes)
{
	const struct space_time_inputs *own = inputs->own;
	return (struct project_search){
		.spec = &own->spec, .wishes = *wishes, .solver = own->solver};
}

/* --- the projection that the specs give */

/* False after complaining when they leave a part of it open. */
static bool find_given(const struct inputs *inputs, struct project_found *found)
{
	const struct space_time_inputs *own = inputs->own;
	const struct space_time *spec = &own->spec;
	if (!spec->has_space || !spec->has_time) {
		diag_error(inputs->diag, spec->projection.span,
			"the specs give no %s; give it, or let explore search it",
			!spec->has_space ? "'allocation'" : "'schedule'");
		return false;
	}
	*found = (struct project_found){.spec = spec,
		.projection = spec->projection,
		.facts = projection_facts(&spec->recurrence, &spec->projection, spec)};
	const struct project_search search = open_search(inputs, &inputs->wishes);
	project_count_ports(&search, found);
	return true;
}

/* The refusal, at the projection and the dependence that it is about. */
static bool is_legal(const struct inputs *inputs, const struct space_time *spec,
	const struct project_found *found)
{
	struct diag *diag = inputs->diag;
	const char *why =
		projection_fault_text(inputs->arena, spec, &found->projection, &found->facts);
	if (!why)
		return true;
	diag_error(diag, spec->projection.span, "%s", why);
	if (found->facts.dependence >= 0)
		diag_note(diag, spec->recurrence.dependences[found->facts.dependence].span,
			"the dependence is here");
	return false;
}

/* `--code`; false after complaining. */
static bool write_code(const struct inputs *inputs, const struct space_time *spec,
	const struct project_found *found)
{
	const struct option_value *file = option_find(inputs->arguments, "code");
	const char *why = NULL;
	if (!file)
		return true;
	const char *code = projection_code(
		inputs->arena, &spec->recurrence, &found->projection, &found->facts, &why);
	if (!code) {
		diag_error(inputs->diag, file->span, "this projection has no code: %s", why);
		return false;
	}
	command_write(inputs->arena, file->text, code);
	return true;
}

/* `--trace`, of what was executed. */
static void write_trace(const struct inputs *inputs, const struct project_found *found)
{
	const struct option_value *file = option_find(inputs->arguments, "trace");
	const char *text = file ? projection_trace_json(inputs->arena, found) : NULL;
	if (text)
		command_write(inputs->arena, file->text, text);
	else if (file)
		utf8_print(command_people(), "lxplore: no trace: %s\n",
			found->execution.visits ? "too many points were computed"
						: "nothing was executed");
}

static int score(const struct inputs *inputs, enum format format, bool simulated)
{
	struct project_search search = open_search(inputs, &inputs->wishes);
	struct arena *arena = inputs->arena;
	struct diag *diag = inputs->diag;
	struct project_found found;
	if (!find_given(inputs, &found))
		return command_refuse(diag);
	bool legal = is_legal(inputs, search.spec, &found);
	if (legal && simulated)
		project_execute(&search, &found, arena);
	if (simulated)
		write_trace(inputs, &found);
	const char *fault = found.obstacle;
	if (!fault)
		fault = systolic_fault_text(arena, &search.spec->recurrence, &found.execution);
	bool large = found.large || found.execution.fault == SYSTOLIC_LARGE ||
		     found.execution.fault == SYSTOLIC_STOPPED;
	if (fault && !large)
		diag_error(diag, (struct span){0}, "%s", fault);
	if (legal && !diag_failed(diag))
		legal = write_code(inputs, search.spec, &found);
	diag_print(diag, command_people());
	json_t *tree = projection_json(&found);
	command_print(format == FORMAT_TEXT ? projection_text(arena, &found, tree)
					    : command_value(arena, format, json_incref(tree)));
	json_decref(tree);
	if (large)
		utf8_print(command_people(), "lxplore: not executed: %s\n", fault);
	if (large && !diag_failed(diag))
		return EXIT_NOTHING;
	return legal && (!simulated || found.common.execution.agrees) ? EXIT_FOUND
								      : EXIT_IMPOSSIBLE;
}

/* Prints whether the projection is legal, with a counterexample. */
static int check(const struct inputs *inputs, enum format format)
{
	const struct space_time_inputs *own = inputs->own;
	const struct space_time *spec = &own->spec;
	const struct recurrence *recurrence = &spec->recurrence;
	struct project_found found;
	bool given = spec->has_space && spec->has_time, legal = true;
	if (given) {
		find_given(inputs, &found);
		legal = is_legal(inputs, spec, &found);
		diag_print(inputs->diag, command_people());
	}
	json_t *tree = projection_check_json(recurrence, given ? &found : NULL);
	command_print(format == FORMAT_TEXT
			      ? projection_check_text(inputs->arena, tree)
			      : command_value(inputs->arena, format, json_incref(tree)));
	if (format == FORMAT_TEXT && given && legal)
		command_print(projection_text(
			inputs->arena, &found, json_object_get(tree, "projection")));
	json_decref(tree);
	return legal ? EXIT_FOUND : EXIT_IMPOSSIBLE;
}

/* --- explore */

static struct explored run_search(struct exploring *exploring)
{
	struct project_search search = open_search(exploring->inputs, &exploring->wishes);
	struct explored explored = project_explore(&search, exploring->arena);
	if (!explored.complete && search.wishes.budget && !explored.limit)
		explored.limit = "budget";
	return explored;
}

static const char *plan(const struct exploring *exploring, size_t i)
{
	return projection_plan_yaml(exploring->arena, &exploring->explored.frontier.points[i]);
}

static struct result_texts texts(const struct exploring *exploring)
{
	const struct explored *explored = &exploring->explored;
	struct arena *arena = exploring->arena;
	return (struct result_texts){
		.run = projection_run_json(arena, &exploring->record, explored),
		.pareto = projection_pareto_csv(arena, explored),
		.table = projection_pareto_table(arena, explored),
		.work = arena_format(arena, "%" PRIu64 " projections looked at%s",
			explored->effort.evaluated,
			explored->complete ? ", nothing better is left" : ""),
	};
}

const struct input_kind recurrence_kind = {
	.name = "recurrence",
	.noun = "a recurrence",
	.plural = "recurrences",
	.summary = "space_time: a loop nest or einsum onto a systolic array, by projections",
	.key = "space_time",
	.rank = 4,
	.subject = SUBJECT_SPACE_TIME,
	.objectives = {3, {OBJECTIVE_LATENCY, OBJECTIVE_PES, OBJECTIVE_REGISTERS}},
	.stages = 1 << STAGE_PROJECT,
	.read = read,
	.explore = {.counted = "projections",
		.found = "legal projection",
		.none = ", and there is none in these ranges",
		.run = run_search,
		.plan = plan,
		.texts = texts},
	.score = score,
	.stops = true,
	.check = check,
};
