#include "cli/inputs_network.h"

#include "base/arena.h"
#include "spec/value.h"

#include <math.h>
#include <string.h>

static const char *const limit_options[] = {"latency-budget", "energy-budget"};
static const char *const limit_keys[] = {"latency_budget", "energy_budget"};

/* The most cycles that end within a time. */
static bool find_cycles(double nanoseconds, double clock_ns, int64_t *cycles)
{
	double count = floor(nanoseconds / clock_ns);
	if ((count + 1) * clock_ns <= nanoseconds)
		count++;
	if (count > 0x1p62)
		return false;
	*cycles = (int64_t)count;
	return true;
}

static void read_latency(const struct reading *reading, const struct node *node, const char *what,
	const struct hierarchy *hierarchy, struct network_limits *limits)
{
	struct value value;
	if (!expr_read(reading->diag, reading->variables, node, what, &value))
		return;
	bool bare = value_quantity(value) == QUANTITY_BARE;
	if (!bare && value_quantity(value) != QUANTITY_TIME) {
		reading_refuse(reading, node, "%s is %s; it can be a number of cycles or a time",
			what, quantity_name(value_quantity(value)));
	} else if (value.real < 0 || (bare && (!value.exact || value.den != 1))) {
		reading_refuse(reading, node,
			"%s is '%s'; a whole number of cycles or a time with its unit is wanted",
			what, node->text);
	} else if (bare) {
		limits->cycles = value.num;
	} else if (hierarchy && !find_cycles(value.real, hierarchy->clock_ns, &limits->cycles)) {
		reading_refuse(reading, node, "%s has more cycles than can be counted", what);
	}
}

static void read_energy(const struct reading *reading, const struct node *node, const char *what,
	struct network_limits *limits)
{
	struct value value;
	if (!expr_read(reading->diag, reading->variables, node, what, &value))
		return;
	if (value_quantity(value) != QUANTITY_BARE && value_quantity(value) != QUANTITY_ENERGY)
		reading_refuse(reading, node, "%s is %s; it can be an energy, bare in pJ", what,
			quantity_name(value_quantity(value)));
	else if (value.real < 0)
		reading_refuse(reading, node, "%s is below 0", what);
	else
		limits->energy_pj = value.real;
}

void network_limits_read(
	struct reader *search, const struct hierarchy *hierarchy, struct network_limits *limits)
{
	const struct node *latency = read_node(search, limit_keys[0], OPTIONAL);
	const struct node *energy = read_node(search, limit_keys[1], OPTIONAL);
	if (latency)
		read_latency(search->reading, latency, reader_place(search, limit_keys[0]),
			hierarchy, limits);
	if (energy)
		read_energy(search->reading, energy, reader_place(search, limit_keys[1]), limits);
}

/* An option's text as a scalar of a spec. */
static const struct node *read_option(
	const struct arguments *arguments, const struct reading *reading, const char *name)
{
	const struct option_value *value = option_find(arguments, name);
	return value ? node_scalar(reading->arena, value->text, value->span) : NULL;
}

void network_limits_take(const struct arguments *arguments, const struct reading *reading,
	const struct hierarchy *hierarchy, struct network_limits *limits)
{
	const struct node *latency = read_option(arguments, reading, limit_options[0]);
	const struct node *energy = read_option(arguments, reading, limit_options[1]);
	if (latency)
		read_latency(reading, latency, "'--latency-budget'", hierarchy, limits);
	if (energy)
		read_energy(reading, energy, "'--energy-budget'", limits);
}

void network_limits_refuse(const struct arguments *arguments, const char *what, struct diag *diag)
{
	for (int i = 0; i < 2; i++) {
		const struct option_value *value = option_find(arguments, limit_options[i]);
		if (value)
			diag_error(diag, value->span, "'--%s' is for networks; this is %s",
				limit_options[i], what);
	}
}

static void refuse_others(struct sheet *sheet, struct diag *diag)
{
	static const char *const keys[] = {"workload", "problem", "plan", "mapping"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const struct node *node = sheet_find(sheet, keys[i]);
		if (node && (node->kind != NODE_LIST || node->count))
			diag_error(diag, node->span,
				"a '%s' stands beside a 'network', which has layers alone",
				keys[i]);
	}
}

/* All dimensions that layers have, by name; of more than a shape can have, the first ones. */
static const struct shape *all_dimensions(const struct network *network, struct arena *arena)
{
	struct shape *all = arena_new(arena, struct shape);
	for (size_t l = 0; l < network->layer_count; l++) {
		const struct shape *shape = network->layers[l].shape;
		for (int d = 0; d < shape->dimension_count; d++)
			if (all->dimension_count < SHAPE_DIMENSIONS_MOST &&
				shape_dimension(all, shape->dimensions[d].name) < 0)
				all->dimensions[all->dimension_count++] = shape->dimensions[d];
	}
	return all;
}

/* What `common` says of dimensions, for those of a layer. */
static uint32_t find_imperfect(const struct nest_inputs *common, const struct shape *shape)
{
	uint32_t imperfect = 0;
	for (int d = 0; d < shape->dimension_count; d++) {
		int of = shape_dimension(common->shape, shape->dimensions[d].name);
		if (common->imperfect == UINT32_MAX || (of >= 0 && common->imperfect >> of & 1))
			imperfect |= UINT32_C(1) << d;
	}
	return imperfect;
}

/* One layer as a problem of its own; complaints about it name it. */
static const struct nest_inputs *read_layer(const struct layer *layer,
	const struct nest_inputs *common, const struct reading *reading,
	const struct node *const *lists)
{
	struct diag *diag = reading->diag;
	size_t errors = diag_errors(diag);
	struct nest_inputs *inputs = arena_copy(reading->arena, common, sizeof *common);
	inputs->shape = layer->shape;
	inputs->imperfect = find_imperfect(common, layer->shape);
	struct hierarchy *hierarchy =
		hierarchy_make(reading->arena, inputs->arch, inputs->shape, diag);
	inputs->hierarchy = hierarchy;
	if (hierarchy) {
		hierarchy_price(hierarchy, reading->arena, inputs->arch, inputs->counting);
		nest_inputs_constraints(inputs, hierarchy, reading, lists, NULL);
	}
	if (diag_errors(diag) == errors)
		return inputs;
	diag_note(diag, layer->span, "for layer '%s'", layer->name);
	return NULL;
}

/* Limits are kept to on the frontier of both. */
static void check_objectives(
	const struct network_limits *limits, const struct objectives *objectives, struct diag *diag)
{
	bool both = objectives->count == 2 && objectives->at[0] == OBJECTIVE_LATENCY &&
		    objectives->at[1] == OBJECTIVE_ENERGY;
	if (!both && (limits->cycles >= 0 || limits->energy_pj >= 0))
		diag_error(diag, (struct span){0},
			"a budget of latency or energy wants the objectives latency,energy, which "
			"are the default");
}

const struct network_inputs *network_inputs_read(struct sheet *sheet, const struct reading *reading,
	const struct arguments *arguments, struct exploration *exploration)
{
	struct arena *arena = reading->arena;
	struct diag *diag = reading->diag;
	struct network_inputs *inputs = arena_new(arena, struct network_inputs);
	struct nest_inputs common = {.limits = &inputs->limits};
	size_t errors = diag_errors(diag);
	const struct node *node = sheet_find(sheet, "network");
	const struct node *mapper = sheet_find(sheet, "mapper");
	const struct node *search = sheet_find(sheet, "search");
	const struct node *const *lists = constraints_lists(sheet, arena);
	inputs->limits = (struct network_limits){-1, -1};
	refuse_others(sheet, diag);
	common.arch = nest_inputs_machine(sheet, reading);
	sheet_done(sheet);
	inputs->network = network_read(reading, node);
	if (inputs->network)
		common.shape = all_dimensions(inputs->network, arena);
	if (common.arch && inputs->network)
		common.hierarchy =
			hierarchy_make(arena, common.arch, inputs->network->layers[0].shape, diag);
	nest_inputs_wishes(&common, reading, arguments, mapper, search, exploration);
	if (!common.imperfect && constraints_want_imperfect(lists))
		common.imperfect = UINT32_MAX;
	if (!common.hierarchy)
		return NULL;
	check_objectives(&inputs->limits, &exploration->wishes.objectives, diag);
	const struct network *network = inputs->network;
	const struct nest_inputs **layers =
		arena_array(arena, const struct nest_inputs *, network->layer_count);
	for (size_t l = 0; l < network->layer_count && !diag_full(diag); l++)
		if (network->layers[l].same_as == l)
			layers[l] = read_layer(&network->layers[l], &common, reading, lists);
	inputs->layers = layers;
	return diag_errors(diag) == errors ? inputs : NULL;
}
