#include "cli/inputs_nest.h"
#include "cli/inputs_network.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/inputs_objectives.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"
#include "model/nest/directive.h"
#include "model/nest/nest_mapping.h"

#include <stdlib.h>
#include <string.h>

static void read_solver(
	const struct reading *reading, const struct node *map, struct nest_inputs *inputs)
{
	struct reader stages;
	if (!map || !reader_open(&stages, reading, map, "solver"))
		return;
	read_text(&stages, "map", OPTIONAL, &inputs->solver);
	reader_done(&stages);
}

static struct objective_scope objective_scope(
	const struct nest_inputs *inputs, const struct reading *reading)
{
	return (struct objective_scope){
		reading->arena, reading->diag, SUBJECT_PROBLEM, inputs->hierarchy};
}

void nest_inputs_patience(
	struct reader *reader, const char *const names[3], struct nest_inputs *inputs)
{
	static const int64_t most[] = {INT64_MAX, INT64_MAX, NEST_SEQUENCES_MOST};
	uint64_t *const out[] = {
		&inputs->patience.victory, &inputs->patience.timeout, &inputs->patience.sequences};
	for (int i = 0; i < 3; i++) {
		int64_t count;
		if (!read_integer(reader, names[i], OPTIONAL, 0, most[i], &count))
			continue;
		*out[i] = (uint64_t)count;
		inputs->patience_span = read_node(reader, names[i], OPTIONAL)->span;
	}
}

/* "all", or a dimension. */
static void allow_imperfect(struct nest_inputs *inputs, const char *name, struct span span,
	const struct reading *reading)
{
	const struct shape *shape = inputs->shape;
	const char *known[SHAPE_DIMENSIONS_MOST + 2] = {"all"};
	uint32_t dimensions = text_equal(name, "all") ? UINT32_MAX : 0;
	for (int d = 0; shape && d < shape->dimension_count; d++) {
		known[d + 1] = shape->dimensions[d].name;
		if (text_equal(name, known[d + 1]))
			dimensions |= UINT32_C(1) << d;
	}
	if (inputs->imperfect & dimensions)
		diag_error(reading->diag, span,
			dimensions == UINT32_MAX ? "'%s' stands alone"
						 : "dimension '%s' is given twice",
			name);
	inputs->imperfect |= dimensions;
	if (!dimensions)
		directive_refuse(reading, span, "dimension", name, known);
}

static void read_imperfect(
	struct reader *search, struct nest_inputs *inputs, const struct reading *reading)
{
	const char *const *names;
	size_t count;
	const struct node *list = read_node(search, "imperfect", OPTIONAL);
	if (!list || !read_texts(search, "imperfect", OPTIONAL, &names, &count))
		return;
	for (size_t i = 0; i < count; i++)
		allow_imperfect(inputs, names[i],
			list->kind == NODE_LIST ? node_item(list, i)->span : list->span, reading);
}

/* "M,N"; it replaces what the specs say. */
static void take_imperfect(const struct arguments *arguments, struct nest_inputs *inputs,
	const struct reading *reading)
{
	const struct option_value *value = option_find(arguments, "imperfect");
	if (!value)
		return;
	inputs->imperfect = 0;
	for (const char *at = value->text; *at;) {
		size_t length = strcspn(at, ",");
		allow_imperfect(inputs, arena_format(reading->arena, "%.*s", (int)length, at),
			value->span, reading);
		at += length + (at[length] == ',');
	}
}

/* A part of the best value: 0.01 for a hundredth. */
static void check_epsilon(double epsilon, struct span span, struct diag *diag)
{
	if (!(epsilon >= 0 && epsilon < NEST_EPSILON_MOST))
		diag_error(diag, span,
			"epsilon is a number of 0 or more and below %.0f, such as 0.01",
			NEST_EPSILON_MOST);
}

static void read_epsilon(struct reader *search, struct nest_inputs *inputs, struct diag *diag)
{
	const struct node *node = read_node(search, "epsilon", OPTIONAL);
	if (node && read_number(search, "epsilon", OPTIONAL, &inputs->epsilon))
		check_epsilon(inputs->epsilon, node->span, diag);
}

static void take_epsilon(
	const struct arguments *arguments, struct nest_inputs *inputs, struct diag *diag)
{
	const struct option_value *value = option_find(arguments, "epsilon");
	if (!value)
		return;
	char *end;
	inputs->epsilon = strtod(value->text, &end);
	check_epsilon(end == value->text || *end ? -1 : inputs->epsilon, value->span, diag);
}

static void read_search(const struct reading *reading, const struct node *node,
	struct nest_inputs *inputs, struct exploration *exploration)
{
	struct reader search;
	int64_t budget = 0, seed = 0;
	int counting = COUNTING_EXACT;
	if (!node || !reader_open(&search, reading, node, "search"))
		return;
	struct objective_scope scope = objective_scope(inputs, reading);
	objectives_read(&search, &exploration->wishes.objectives, &scope);
	read_solver(reading, read_node(&search, "solver", OPTIONAL), inputs);
	if (read_integer(&search, "budget", OPTIONAL, 1, INT64_MAX, &budget))
		exploration->wishes.budget = (uint64_t)budget;
	if (read_integer(&search, "seed", OPTIONAL, 0, INT64_MAX, &seed))
		exploration->wishes.seed = (uint64_t)seed;
	nest_inputs_patience(&search, (const char *[]){"victory", "timeout", "sequences"}, inputs);
	if (read_word(&search, "counting", OPTIONAL, counting_names, &counting))
		inputs->counting = (enum counting)counting;
	read_imperfect(&search, inputs, reading);
	read_epsilon(&search, inputs, reading->diag);
	if (inputs->limits)
		network_limits_read(&search, inputs->hierarchy, inputs->limits);
	reader_done(&search);
}

/* Options about cores and planners say nothing of a problem. */
static void refuse_options(const struct arguments *arguments, bool network, struct diag *diag)
{
	static const char *const names[] = {"cores", "mode"};
	if (!network)
		network_limits_refuse(arguments, "a problem", diag);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct option_value *value = option_find(arguments, names[i]);
		if (value)
			diag_error(diag, value->span, "'--%s' is for workload graphs; this is a %s",
				names[i], network ? "network" : "problem");
	}
}

static void take_options(const struct arguments *arguments, struct nest_inputs *inputs,
	struct exploration *exploration, const struct reading *reading)
{
	struct diag *diag = reading->diag;
	int64_t seed = (int64_t)exploration->wishes.seed,
		budget = (int64_t)exploration->wishes.budget;
	int64_t events = (int64_t)exploration->wishes.simulate_budget;
	int counting = (int)inputs->counting, simulate = (int)exploration->wishes.simulate;
	refuse_options(arguments, inputs->limits, diag);
	if (inputs->limits)
		network_limits_take(arguments, reading, inputs->hierarchy, inputs->limits);
	option_integer(arguments, "seed", 0, INT64_MAX, diag, &seed);
	option_integer(arguments, "budget", 1, INT64_MAX, diag, &budget);
	option_integer(arguments, "simulate-budget", 1, INT64_MAX, diag, &events);
	option_word(arguments, "simulate", simulate_names, diag, &simulate);
	option_word(arguments, "counting", counting_names, diag, &counting);
	take_imperfect(arguments, inputs, reading);
	take_epsilon(arguments, inputs, diag);
	struct objective_scope scope = objective_scope(inputs, reading);
	objectives_take(arguments, &exploration->wishes.objectives, &scope);
	const struct option_value *solver = option_find(arguments, "solver");
	if (solver && strncmp(solver->text, "map=", 4) != 0)
		diag_error(diag, solver->span,
			"a problem has the one stage 'map'; '--solver' wants map=NAME");
	else if (solver)
		inputs->solver = solver->text + 4;
	exploration->wishes.seed = (uint64_t)seed;
	exploration->wishes.budget = (uint64_t)budget;
	exploration->wishes.simulate_budget = (uint64_t)events;
	exploration->wishes.simulate = (enum simulate)simulate;
	inputs->counting = (enum counting)counting;
}

void nest_inputs_wishes(struct nest_inputs *inputs, const struct reading *reading,
	const struct arguments *arguments, const struct node *mapper, const struct node *search,
	struct exploration *exploration)
{
	exploration->wishes.objectives =
		(struct objectives){2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}};
	if (mapper && !node_is_empty(mapper))
		nest_inputs_mapper(reading, mapper, inputs, exploration);
	read_search(reading, search, inputs, exploration);
	take_options(arguments, inputs, exploration, reading);
}

const struct arch *nest_inputs_machine(struct sheet *sheet, const struct reading *reading)
{
	const struct node *node = sheet_find(sheet, "architecture");
	const struct node *ert = sheet_find(sheet, "ERT");
	if (!node) {
		diag_error(reading->diag, (struct span){0},
			"a problem needs an 'architecture' to run on; no file has one");
		return NULL;
	}
	const struct arch *arch = arch_read(reading, node);
	return arch && ert ? ert_read(reading, ert, arch) : arch;
}

void nest_inputs_constraints(struct nest_inputs *inputs, struct hierarchy *hierarchy,
	const struct reading *reading, const struct node *const *lists, const struct node *mapping)
{
	struct constraint_context context = {.reading = reading,
		.arch = inputs->arch,
		.shape = inputs->shape,
		.timeloop = inputs->counting == COUNTING_TIMELOOP};
	struct constraints *constraints = arena_new(reading->arena, struct constraints);
	*constraints = constraints_read(&context, lists);
	inputs->constraints = constraints;
	constraints_flag(constraints, hierarchy);
	hierarchy->dummy_loops = inputs->counting == COUNTING_TIMELOOP;
	struct domain *domain = domain_make(reading->arena, inputs->arch, inputs->shape, hierarchy);
	domain->imperfect = inputs->imperfect;
	domain->whole_homes = inputs->counting == COUNTING_EXACT;
	inputs->domain = domain;
	if (!mapping)
		return;
	struct constraints flags = constraints_of_mapping(&context, mapping);
	const struct hierarchy *before = arena_copy(reading->arena, hierarchy, sizeof *hierarchy);
	constraints_flag(&flags, hierarchy);
	inputs->mapping_flags = memcmp(before, hierarchy, sizeof *hierarchy) != 0;
}

static void read_mapping(
	struct nest_inputs *inputs, const struct reading *reading, const struct node *node)
{
	struct mapping *mapping = arena_new(reading->arena, struct mapping);
	if (nest_mapping_read(reading, node, inputs->arch, inputs->shape, mapping))
		inputs->mapping = mapping;
	inputs->mapping_span = node->span;
}

static bool is_empty_list(const struct node *node)
{
	return node->kind == NODE_LIST && node->count == 0;
}

static void refuse_graphs(struct sheet *sheet, struct diag *diag)
{
	const struct node *workload = sheet_find(sheet, "workload");
	const struct node *plan = sheet_find(sheet, "plan");
	if (workload)
		diag_error(diag, workload->span,
			"a 'workload' stands beside a 'problem'; a run is about one of them");
	if (plan)
		diag_error(
			diag, plan->span, "a 'plan' is of a workload; a problem has a 'mapping'");
}

const struct nest_inputs *nest_inputs_read(struct sheet *sheet, const struct reading *reading,
	const struct arguments *arguments, struct exploration *exploration)
{
	struct arena *arena = reading->arena;
	struct nest_inputs *inputs = arena_new(arena, struct nest_inputs);
	size_t errors = diag_errors(reading->diag);
	const struct node *problem = sheet_find(sheet, "problem");
	const struct node *mapping = sheet_find(sheet, "mapping");
	const struct node *mapper = sheet_find(sheet, "mapper");
	const struct node *search = sheet_find(sheet, "search");
	const struct node *const *lists = constraints_lists(sheet, arena);
	if (mapping && is_empty_list(mapping))
		mapping = NULL;
	refuse_graphs(sheet, reading->diag);
	inputs->arch = nest_inputs_machine(sheet, reading);
	sheet_done(sheet);
	inputs->shape = shape_read(reading, problem);
	struct hierarchy *hierarchy = NULL;
	if (inputs->arch && inputs->shape)
		hierarchy = hierarchy_make(arena, inputs->arch, inputs->shape, reading->diag);
	inputs->hierarchy = hierarchy;
	nest_inputs_wishes(inputs, reading, arguments, mapper, search, exploration);
	if (!inputs->imperfect && constraints_want_imperfect(lists))
		inputs->imperfect = UINT32_MAX;
	if (!hierarchy)
		return NULL;
	hierarchy_price(hierarchy, arena, inputs->arch, inputs->counting);
	if (mapping)
		read_mapping(inputs, reading, mapping);
	nest_inputs_constraints(
		inputs, hierarchy, reading, lists, inputs->mapping ? mapping : NULL);
	return diag_errors(reading->diag) == errors ? inputs : NULL;
}
