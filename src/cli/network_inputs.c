#include "cli/network_inputs.h"

#include "base/arena.h"
#include "spec/value.h"

#include <math.h>
#include <string.h>

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

static void read_limits(
	struct inputs *inputs, const struct hierarchy *hierarchy, struct network_limits *limits)
{
	const char *what;
	const struct node *latency = inputs_node(inputs, "latency-budget", &what);
	if (latency)
		read_latency(&inputs->reading, latency, what, hierarchy, limits);
	const struct node *energy = inputs_node(inputs, "energy-budget", &what);
	if (energy)
		read_energy(&inputs->reading, energy, what, limits);
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

bool network_inputs_read(struct inputs *inputs, struct sheet *sheet)
{
	static const char *const others[] = {"workload", "problem", "plan", "mapping", NULL};
	const struct reading *reading = &inputs->reading;
	struct arena *arena = inputs->arena;
	struct diag *diag = inputs->diag;
	struct network_inputs *own = arena_new(arena, struct network_inputs);
	struct nest_inputs common = {0};
	const struct node *node = sheet_find(sheet, "network");
	const struct node *mapper = sheet_find(sheet, "mapper");
	const struct node *const *lists = constraints_lists(sheet, arena);
	own->limits = (struct network_limits){-1, -1};
	inputs_refuse_keys(inputs, sheet, others);
	common.arch = nest_inputs_machine(sheet, reading);
	sheet_done(sheet);
	if (common.arch && arch_moves_boxes(common.arch)) {
		diag_error(diag, node->span,
			"the layers of a network are nests of words, and tiles move in boxes on this "
			"machine; explore each as a 'problem', or write them as ops of a 'workload'");
		return false;
	}
	own->network = network_read(reading, node);
	if (own->network)
		common.shape = all_dimensions(own->network, arena);
	if (common.arch && own->network)
		common.hierarchy =
			hierarchy_make(arena, common.arch, own->network->layers[0].shape, diag);
	nest_inputs_settings(inputs, &common, mapper);
	read_limits(inputs, common.hierarchy, &own->limits);
	inputs_settings_done(inputs);
	if (!common.imperfect && constraints_want_imperfect(lists))
		common.imperfect = UINT32_MAX;
	if (!common.hierarchy)
		return false;
	check_objectives(&own->limits, &inputs->wishes.objectives, diag);
	const struct network *network = own->network;
	const struct nest_inputs **layers =
		arena_array(arena, const struct nest_inputs *, network->layer_count);
	for (size_t l = 0; l < network->layer_count && !diag_full(diag); l++)
		if (network->layers[l].same_as == l)
			layers[l] = read_layer(&network->layers[l], &common, reading, lists);
	own->layers = layers;
	inputs->own = own;
	inputs->name = network->name;
	return true;
}
