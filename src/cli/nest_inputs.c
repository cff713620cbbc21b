#include "cli/nest_inputs.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/graph_inputs.h"
#include "model/nest/directive.h"
#include "model/nest/nest_mapping.h"

#include <stdlib.h>
#include <string.h>

void nest_inputs_patience(struct reader *reader, const char *const names[3],
	struct patience *patience, struct span *span)
{
	static const int64_t most[] = {INT64_MAX, INT64_MAX, NEST_SEQUENCES_MOST};
	uint64_t *const out[] = {&patience->victory, &patience->timeout, &patience->sequences};
	for (int i = 0; i < 3; i++) {
		int64_t count;
		if (!read_integer(reader, names[i], OPTIONAL, 0, most[i], &count))
			continue;
		*out[i] = (uint64_t)count;
		*span = read_node(reader, names[i], OPTIONAL)->span;
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

/* `imperfect: [M, N]`; "M,N" of the command line replaces it. */
static void read_imperfect(struct inputs *inputs, struct nest_inputs *own)
{
	struct reader *search = &inputs->search;
	const struct option_value *value = option_find(inputs->arguments, "imperfect");
	const struct node *list = search->map ? read_node(search, "imperfect", OPTIONAL) : NULL;
	const char *const *names;
	size_t count;
	if (list && read_texts(search, "imperfect", OPTIONAL, &names, &count))
		for (size_t i = 0; i < count; i++)
			allow_imperfect(own, names[i],
				list->kind == NODE_LIST ? node_item(list, i)->span : list->span,
				&inputs->reading);
	if (!value)
		return;
	own->imperfect = 0;
	for (const char *at = value->text; *at;) {
		size_t length = strcspn(at, ",");
		allow_imperfect(own, arena_format(inputs->arena, "%.*s", (int)length, at),
			value->span, &inputs->reading);
		at += length + (at[length] == ',');
	}
}

/* A part of the best value: 0.01 for a hundredth. */
static void read_epsilon(struct inputs *inputs, struct nest_inputs *own)
{
	const char *what;
	const struct node *node = inputs_node(inputs, "epsilon", &what);
	if (!node || !node_number(&inputs->reading, node, what, &own->epsilon))
		return;
	if (!(own->epsilon >= 0 && own->epsilon < NEST_EPSILON_MOST))
		diag_error(inputs->diag, node->span,
			"epsilon is a number of 0 or more and below %.0f, such as 0.01",
			NEST_EPSILON_MOST);
}

void nest_inputs_settings(struct inputs *inputs, struct nest_inputs *own, const struct node *mapper)
{
	static const char *const patience[] = {"victory", "timeout", "sequences"};
	int counting = (int)own->counting;
	if (mapper && !node_is_empty(mapper))
		nest_inputs_mapper(inputs, own, mapper);
	inputs_settings(inputs, own->hierarchy);
	own->solver = inputs_one_solver(inputs, NULL);
	nest_inputs_draw(inputs, own);
	if (inputs->search.map)
		nest_inputs_patience(
			&inputs->search, patience, &own->patience, &own->patience_span);
	inputs_word(inputs, "counting", &counting);
	own->counting = (enum counting)counting;
	read_imperfect(inputs, own);
	read_epsilon(inputs, own);
}

const struct arch *nest_inputs_machine(struct sheet *sheet, const struct reading *reading)
{
	const struct node *node = sheet_find(sheet, "architecture");
	if (!node) {
		diag_error(reading->diag, (struct span){0},
			"a problem needs an 'architecture' to run on; no file has one");
		return NULL;
	}
	return inputs_machine(sheet, reading, node);
}

void nest_inputs_density(const struct shape *shape, enum counting counting, struct diag *diag)
{
	if (!shape->sparse.source)
		return;
	if (counting == COUNTING_TIMELOOP)
		diag_warning(diag, shape->sparse,
			"densities are given, and every element counts, as in Timeloop without "
			"'sparse_optimizations'");
	else
		diag_error(diag, shape->sparse,
			"densities are given, and sparse data is not modelled; '--counting "
			"timeloop' counts every element, as Timeloop does without "
			"'sparse_optimizations'");
}

static bool is_inside(const struct hierarchy *hierarchy, int row)
{
	for (int i = 0; i < hierarchy->level_count; i++)
		if (hierarchy->levels[i].row == row || hierarchy->levels[i].block_row == row)
			return true;
	return row < 0 || row == hierarchy->compute_row;
}

/* What a machine says of memories that only its multipliers have is not about a problem that those do not compute. */
static void leave_out_others(const struct hierarchy *hierarchy, struct constraints *constraints)
{
	struct constraint *at = (struct constraint *)constraints->at;
	size_t all = constraints->count;
	constraints->count = 0;
	for (size_t i = 0; i < all; i++)
		if (is_inside(hierarchy, at[i].row))
			at[constraints->count++] = at[i];
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
	if (hierarchy->vector && inputs->arch->vector != inputs->arch->compute)
		leave_out_others(hierarchy, constraints);
	inputs->constraints = constraints;
	nest_inputs_density(inputs->shape, inputs->counting, reading->diag);
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

/* What stands beside a problem and is of a graph. */
static void refuse_graphs(struct inputs *inputs, struct sheet *sheet)
{
	static const char *const keys[] = {"workload", NULL};
	const struct node *plan = sheet_find(sheet, "plan");
	inputs_refuse_keys(inputs, sheet, keys);
	if (plan)
		diag_error(inputs->diag, plan->span,
			"a 'plan' is of a workload; a problem has a 'mapping'");
}

bool nest_inputs_read(struct inputs *inputs, struct sheet *sheet)
{
	const struct reading *reading = &inputs->reading;
	struct arena *arena = inputs->arena;
	struct nest_inputs *own = arena_new(arena, struct nest_inputs);
	own->arch = nest_inputs_machine(sheet, reading);
	if (own->arch && arch_moves_boxes(own->arch))
		return graph_inputs_read_problem(inputs, sheet, own->arch);
	const struct node *problem = sheet_find(sheet, "problem");
	const struct node *mapping = sheet_find(sheet, "mapping");
	const struct node *mapper = sheet_find(sheet, "mapper");
	const struct node *const *lists = constraints_lists(sheet, arena);
	if (mapping && is_empty_list(mapping))
		mapping = NULL;
	refuse_graphs(inputs, sheet);
	sheet_done(sheet);
	own->shape = shape_read(reading, problem);
	struct hierarchy *hierarchy = NULL;
	if (own->arch && own->shape)
		hierarchy = hierarchy_make(arena, own->arch, own->shape, reading->diag);
	own->hierarchy = hierarchy;
	nest_inputs_settings(inputs, own, mapper);
	inputs_settings_done(inputs);
	if (!own->imperfect && constraints_want_imperfect(lists))
		own->imperfect = UINT32_MAX;
	if (!hierarchy)
		return false;
	hierarchy_price(hierarchy, arena, own->arch, own->counting);
	if (mapping)
		read_mapping(own, reading, mapping);
	nest_inputs_constraints(own, hierarchy, reading, lists, own->mapping ? mapping : NULL);
	inputs->own = own;
	inputs->name = own->shape->name;
	return true;
}
