#include "cli/inputs_space_time.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "cli/inputs.h"
#include "cli/inputs_network.h"
#include "cli/inputs_objectives.h"
#include "model/nest/shape.h"
#include "model/graph/workload_read.h"
#include "search/drive/solver.h"

#include <string.h>

/* What says nothing of a projection. */
static void refuse_options(const struct arguments *arguments, struct diag *diag)
{
	static const char *const names[] = {"cores", "mode", "counting", "imperfect", "epsilon",
		"explain", "trace", "simulate-budget"};
	network_limits_refuse(arguments, "a projection", diag);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct option_value *value = option_find(arguments, names[i]);
		if (value)
			diag_error(diag, value->span, "'--%s' is not about projections", names[i]);
	}
}

static void take_solver(struct space_time_inputs *inputs, const char *stage, const char *name,
	struct span span, struct diag *diag)
{
	const struct solver *solver;
	if (!text_equal(stage, "project"))
		diag_error(diag, span,
			"a projection has the one stage 'project'; '--solver' wants project=NAME");
	else if ((solver = inputs_solver(STAGE_PROJECT, name, span, diag)))
		inputs->solver = solver;
}

static void read_search(const struct reading *reading, const struct node *node,
	struct space_time_inputs *inputs, struct exploration *exploration)
{
	struct reader search;
	struct objective_scope scope = {
		.arena = reading->arena, .diag = reading->diag, .subject = SUBJECT_SPACE_TIME};
	int64_t budget = 0, seed = (int64_t)exploration->wishes.seed;
	if (!node || !reader_open(&search, reading, node, "search"))
		return;
	objectives_read(&search, &exploration->wishes.objectives, &scope);
	const struct node *stages = read_map(&search, "solver", OPTIONAL);
	for (size_t i = 0; stages && i < stages->count; i++) {
		const struct node_entry *entry = &stages->entries[i];
		const char *name;
		if (node_text(reading, entry->value, "a solver", &name))
			take_solver(inputs, entry->key, name, entry->value->span, reading->diag);
	}
	if (read_integer(&search, "budget", OPTIONAL, 1, INT64_MAX, &budget))
		exploration->wishes.budget = (uint64_t)budget;
	if (read_integer(&search, "seed", OPTIONAL, 0, INT64_MAX, &seed))
		exploration->wishes.seed = (uint64_t)seed;
	reader_done(&search);
}

static void take_options(const struct reading *reading, const struct arguments *arguments,
	struct space_time_inputs *inputs, struct exploration *exploration)
{
	struct diag *diag = reading->diag;
	struct objective_scope scope = {
		.arena = reading->arena, .diag = diag, .subject = SUBJECT_SPACE_TIME};
	int64_t seed = (int64_t)exploration->wishes.seed,
		budget = (int64_t)exploration->wishes.budget;
	int simulate = SIMULATE_ALL;
	refuse_options(arguments, diag);
	option_integer(arguments, "seed", 0, INT64_MAX, diag, &seed);
	option_integer(arguments, "budget", 1, INT64_MAX, diag, &budget);
	option_word(arguments, "simulate", simulate_names, diag, &simulate);
	exploration->wishes.seed = (uint64_t)seed;
	exploration->wishes.budget = (uint64_t)budget;
	exploration->wishes.simulate = (enum simulate)simulate;
	objectives_take(arguments, &exploration->wishes.objectives, &scope);
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct option_value *value = &arguments->options[i];
		if (!text_equal(value->option->name, "solver"))
			continue;
		const char *equals = strchr(value->text, '=');
		if (equals)
			take_solver(inputs,
				arena_format(reading->arena, "%.*s", (int)(equals - value->text),
					value->text),
				equals + 1, value->span, diag);
		else
			diag_error(diag, value->span,
				"'--solver' wants STAGE=NAME, such as project=exhaustive");
	}
}

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

const struct space_time_inputs *space_time_inputs_read(struct sheet *sheet,
	const struct reading *reading, const struct arguments *arguments,
	struct exploration *exploration)
{
	struct space_time_inputs *inputs = arena_new(reading->arena, struct space_time_inputs);
	static const char *const others[] = {"network", "plan", "mapping"};
	inputs->solver = solver_for(STAGE_PROJECT, FOR_RECURRENCES);
	exploration->wishes.objectives =
		(struct objectives){3, {OBJECTIVE_LATENCY, OBJECTIVE_PES, OBJECTIVE_REGISTERS}};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		const struct node *other = sheet_find(sheet, others[i]);
		if (other)
			diag_error(reading->diag, other->span,
				"a '%s' stands beside 'space_time'; a run is about one of them",
				others[i]);
	}
	const struct node *node = sheet_find(sheet, "space_time");
	const struct node *problem = sheet_find(sheet, "problem");
	const struct node *workload = sheet_find(sheet, "workload");
	struct space_time_beside beside = {
		.plan = sheet_find(sheet, "projection"), .targets = find_targets(sheet, reading)};
	const struct node *search = sheet_find(sheet, "search");
	sheet_done(sheet);
	if (problem && workload)
		diag_error(reading->diag, problem->span,
			"a 'problem' stands beside a 'workload'; a projection is of one op of them");
	if (problem)
		beside.problem = shape_read(reading, problem);
	if (workload)
		beside.workload = workload_read(reading, workload);
	if (!diag_failed(reading->diag))
		space_time_read(reading, node, &beside, &inputs->spec);
	if (inputs->spec.folds)
		inputs->solver = solver_for(STAGE_PROJECT, FOR_FOLDINGS);
	read_search(reading, search, inputs, exploration);
	take_options(reading, arguments, inputs, exploration);
	return diag_failed(reading->diag) ? NULL : inputs;
}
