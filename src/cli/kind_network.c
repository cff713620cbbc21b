#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "cli/command_check.h"
#include "cli/graph_inputs.h"
#include "cli/kind.h"
#include "cli/nest_inputs.h"
#include "model/nest/network.h"
#include "model/nest/network_graph.h"
#include "report/nest/check_report.h"
#include "report/nest/nest_results.h"
#include "report/run/folder.h"
#include "report/run/json.h"
#include "spec/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * A `network:` and what may come with it: the same as with a problem (nest_inputs.h) but a
 * mapping.  Machine, constraints and settings hold for every layer.  With `--as graph`, or where a layer has a
 * `from`, the layers are the ops of a graph, and the inputs are of that kind.
 */

/* Limits of the whole network: `latency_budget` and `energy_budget` of `search:`, or the
 * options of these names.  -1: no limit. */
struct network_limits {
	int64_t cycles; /* given so, or as a time: what ends within it */
	double energy_pj;
};

struct network_inputs {
	const struct network *network;
	const struct nest_inputs *const *layers; /* NULL where a layer is the same as one before */
	struct network_limits limits;
};

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
			"%s is '%s'; a whole number of cycles or a time with its unit is expected",
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

/* Returns the imperfect dimensions of `common` as dimensions of a layer. */
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
			"a budget of latency or energy needs the objectives latency,energy, which "
			"are the default");
}

/* True if the layers are ops of a graph: `--as` says so, or a layer has a `from`. */
static bool is_graph(const struct inputs *inputs, const struct network *network)
{
	const struct option_value *as = option_find(inputs->arguments, "as");
	return as ? text_equal(as->text, "graph") : network_flows(network);
}

/* Reads the graph of the layers in place of a `workload`; the inputs are of that kind from now on. */
static bool read_graph(struct inputs *inputs, struct sheet *sheet, const struct network *network)
{
	static const char *const others[] = {"workload", "problem", "mapping", NULL};
	struct arena *arena = inputs->arena;
	for (size_t l = 0; l < network->layer_count; l++)
		nest_inputs_density(network->layers[l].shape, COUNTING_EXACT, inputs->diag);
	const char *text = network_graph(&inputs->reading, network);
	inputs_refuse_keys(inputs, sheet, others);
	if (!text || diag_failed(inputs->diag))
		return false;
	const char *name = arena_format(arena, "%s as a graph", network->span.source->name);
	sheet_add(sheet, node_read_text(arena, name, text, strlen(text), inputs->diag));
	inputs->kind = &graph_kind;
	inputs->wishes.objectives = graph_kind.objectives;
	return graph_inputs_read(inputs, sheet);
}

/* Into inputs->own; false after complaining. */
static bool network_inputs_read(struct inputs *inputs, struct sheet *sheet)
{
	static const char *const others[] = {"workload", "problem", "plan", "mapping", NULL};
	const struct reading *reading = &inputs->reading;
	struct arena *arena = inputs->arena;
	struct diag *diag = inputs->diag;
	struct network_inputs *own = arena_new(arena, struct network_inputs);
	struct nest_inputs common = {0};
	const struct node *node = sheet_find(sheet, "network");
	own->network = network_read(reading, node);
	if (own->network && is_graph(inputs, own->network))
		return read_graph(inputs, sheet, own->network);
	const struct node *mapper = sheet_find(sheet, "mapper");
	const struct node *const *lists = constraints_lists(sheet, arena);
	own->limits = (struct network_limits){-1, -1};
	inputs_refuse_keys(inputs, sheet, others);
	common.arch = nest_inputs_machine(sheet, reading);
	sheet_done(sheet);
	if (common.arch && arch_moves_boxes(common.arch)) {
		diag_error(diag, node->span,
			"the layers of a network are nests of words, and tiles move in boxes on this "
			"machine; '--as graph' explores them as ops of a graph");
		return false;
	}
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

/* One exploration of a network. */
struct networking {
	struct network_search search;
	struct network_explored explored;
	/* The limits of sums, and the point within them; SIZE_MAX: none is chosen. */
	bool limited;
	wide cycles, energy;
	size_t chosen;
};

/* The searches of all distinct layers; false when one of them cannot begin. */
static bool make_searches(struct exploring *exploring, const struct wishes *wishes,
	const struct nest_search **searches)
{
	const struct network_inputs *nets = exploring->inputs->own;
	struct arena *arena = exploring->arena;
	struct diag *diag = exploring->inputs->diag;
	bool good = true;
	for (size_t l = 0; l < nets->network->layer_count; l++) {
		if (!nets->layers[l])
			continue;
		struct nest_search *search = arena_new(arena, struct nest_search);
		if (!request_search(arena, nets->layers[l], wishes, diag, search)) {
			diag_note(diag, nets->network->layers[l].span, "for layer '%s'",
				nets->network->layers[l].name);
			good = false;
		}
		searches[l] = search;
	}
	return good;
}

static int prepare(struct exploring *exploring)
{
	const struct inputs *inputs = exploring->inputs;
	const struct network_inputs *own = inputs->own;
	const struct network *network = own->network;
	struct networking *networking = arena_new(exploring->arena, struct networking);
	const struct nest_search **searches =
		arena_array(exploring->arena, const struct nest_search *, network->layer_count);
	struct wishes *wishes = &exploring->wishes;
	if (wishes->asker.progress)
		wishes->asker.progress = listener_layers;
	bool good = request_check(own->layers[0], &wishes->objectives, inputs->diag);
	if (!network_objectives(&wishes->objectives, inputs->diag) || !good)
		return exploration_refuse(exploring);
	good = make_searches(exploring, wishes, searches);
	bool stopped = listener_stop(&exploring->listener);
	if (!good) {
		diag_print(inputs->diag, exploring->people);
		return listener_status(stopped ? VERDICT_OPEN : VERDICT_NO);
	}
	networking->search = (struct network_search){
		.network = network,
		.layers = searches,
		.wishes = *wishes,
		.hurry = {&exploring->listener, listener_hurry},
	};
	exploring->search = networking;
	return EXIT_FOUND;
}

static struct explored run_search(struct exploring *exploring)
{
	const struct network_inputs *own = exploring->inputs->own;
	const struct network_limits *limits = &own->limits;
	struct networking *networking = exploring->search;
	networking->explored = network_explore(&networking->search, exploring->arena);
	networking->limited = limits->cycles >= 0 || limits->energy_pj >= 0;
	networking->cycles = limits->cycles >= 0 ? limits->cycles : SUMS_NO_LIMIT;
	networking->energy =
		limits->energy_pj >= 0 ? network_energy_most(limits->energy_pj) : SUMS_NO_LIMIT;
	networking->chosen = SIZE_MAX;
	if (networking->limited)
		networking->chosen = sums_within(
			&networking->explored.sums, networking->cycles, networking->energy);
	return networking->explored.total;
}

static void write_layers(struct arena *arena, struct folder *folder,
	const struct run_record *record, const struct network_explored *explored)
{
	const struct network *network = explored->search->network;
	for (size_t l = 0; l < network->layer_count; l++) {
		size_t count = explored->layers[l].frontier.count;
		if (network->layers[l].same_as != l)
			continue;
		for (size_t i = 0; i < count; i++)
			folder_add(folder, network_layer_path(arena, explored, l, i),
				network_layer_yaml(arena, explored, l, i));
		certificate_write(arena, folder,
			arena_format(arena, "layers/%s.certificate.yaml", network->layers[l].name),
			network->layers[l].name, record, explored->search->layers[l],
			&explored->layers[l]);
	}
	folder_add(folder, "layers.csv", network_layers_csv(arena, explored));
}

static void describe(struct exploring *exploring)
{
	const struct networking *networking = exploring->search;
	nest_record_fill(&exploring->record, networking->search.layers[0], exploring->arena);
}

static void finish(struct exploring *exploring)
{
	const struct networking *networking = exploring->search;
	write_layers(
		exploring->arena, exploring->folder, &exploring->record, &networking->explored);
}

static size_t points(const struct exploring *exploring)
{
	const struct networking *networking = exploring->search;
	return networking->explored.sums.count;
}

static const char *plan(const struct exploring *exploring, size_t i)
{
	const struct networking *networking = exploring->search;
	if (!network_shows(&networking->explored, i, networking->chosen, NETWORK_PLANS_MOST))
		return NULL;
	return network_plan_yaml(exploring->arena, &networking->explored, i);
}

/* "within 1000 cycles and 5 pJ" */
static const char *limits_text(struct arena *arena, const struct network_limits *limits)
{
	const char *cycles = "", *energy = "";
	if (limits->cycles >= 0)
		cycles = arena_format(arena, "%" PRId64 " cycles", limits->cycles);
	if (limits->energy_pj >= 0)
		energy = amount_text(arena, AMOUNT_ENERGY, limits->energy_pj);
	return arena_format(
		arena, "within %s%s%s", cycles, *cycles && *energy ? " and " : "", energy);
}

static const char *point_text(
	struct arena *arena, const struct network_explored *explored, size_t i)
{
	struct score score = network_point(explored, i, arena).score;
	return arena_format(arena, "point %zu: %" PRId64 " cycles, %s", i + 1, score.cycles,
		amount_text(arena, AMOUNT_ENERGY, score.energy_pj));
}

/* Returns the text about the frontier and the chosen point. */
static const char *exploring_table(const struct exploring *exploring)
{
	const struct networking *networking = exploring->search;
	const struct network_inputs *own = exploring->inputs->own;
	const struct network_explored *explored = &networking->explored;
	struct arena *arena = exploring->arena;
	size_t chosen = networking->chosen;
	const char *all = network_table(arena, explored, chosen);
	if (chosen == SIZE_MAX)
		return all;
	return arena_format(arena, "%s\n%s: %s\n%s", all, limits_text(arena, &own->limits),
		point_text(arena, explored, chosen), network_choice_text(arena, explored, chosen));
}

/* "26 layers, 24 of them solved: 2 are equal to others" */
static const char *layers_text(struct arena *arena, const struct network *network)
{
	size_t equal = network->layer_count - network->distinct;
	return equal ? arena_format(arena, "%zu layers, %zu of them solved: %zu %s",
			       network->layer_count, network->distinct, equal,
			       equal == 1 ? "is equal to another" : "are equal to others")
		     : arena_format(arena, "%zu layers", network->layer_count);
}

static struct result_texts texts(const struct exploring *exploring)
{
	const struct networking *networking = exploring->search;
	const struct network *network = networking->search.network;
	const struct network_explored *explored = &networking->explored;
	const struct explored *total = &explored->total;
	struct arena *arena = exploring->arena;
	size_t chosen = networking->chosen, proven;
	const char *summary = network_summary(arena, explored, &proven);
	return (struct result_texts){
		.run = network_run_json(arena, &exploring->record, explored, chosen),
		.pareto = network_pareto_csv(arena, explored, chosen),
		.table = exploring_table(exploring),
		.summary = summary ? arena_format(
					     arena, "%s\n%s", layers_text(arena, network), summary)
				   : NULL,
		.proven = proven,
		.work = arena_format(arena, "%s; %" PRIu64 " mappings evaluated%s",
			layers_text(arena, network), total->effort.evaluated,
			total->complete ? ", nothing better is left" : ""),
	};
}

static const char *nothing(const struct exploring *exploring, bool *certain)
{
	const struct networking *networking = exploring->search;
	const struct network_explored *explored = &networking->explored;
	*certain = false;
	for (size_t l = 0; l < networking->search.network->layer_count; l++)
		*certain |= explored->layers[l].complete && !explored->layers[l].frontier.count;
	return explored->missing;
}

/* Reports that no point is within the limits, proven or as far as is known; returns the exit status. */
static int judge(const struct exploring *exploring)
{
	const struct networking *networking = exploring->search;
	const struct network_inputs *own = exploring->inputs->own;
	const struct network_explored *explored = &networking->explored;
	struct arena *arena = exploring->arena;
	if (!networking->limited || networking->chosen != SIZE_MAX)
		return EXIT_FOUND;
	/* Sums that were left out have substitutes that are not slower. */
	bool proven = explored->total.complete &&
		      (explored->sums.excess == 0 || networking->energy == SUMS_NO_LIMIT);
	size_t nearest = sums_nearest(&explored->sums, networking->cycles, networking->energy);
	utf8_print(exploring->people, "lxplore: %s %s; the nearest is %s\n",
		proven ? "no choice of mappings keeps the network"
		       : "none of the mappings that were found keep the network",
		limits_text(arena, &own->limits), point_text(arena, explored, nearest));
	return proven ? EXIT_IMPOSSIBLE : EXIT_NOTHING;
}

/* --- the other commands */

static int score(const struct inputs *inputs, enum format format, bool simulated)
{
	diag_error(inputs->diag, (struct span){0},
		"a network is explored or checked; score and simulate read the files in layers/ of "
		"its results, or with '--as graph' the network");
	return command_refuse(inputs->diag);
}

static struct mapspace_check check_layer(const struct inputs *inputs, size_t l)
{
	const struct network_inputs *own = inputs->own;
	const struct layer *layer = &own->network->layers[l];
	size_t errors = diag_errors(inputs->diag);
	struct mapspace_check check = mapspace_check(own->layers[l]->domain,
		own->layers[l]->constraints, NULL, inputs->diag, inputs->arena);
	if (diag_errors(inputs->diag) != errors)
		diag_note(inputs->diag, layer->span, "for layer '%s'", layer->name);
	return check;
}

static int check(const struct inputs *inputs, enum format format)
{
	const struct network_inputs *own = inputs->own;
	const struct network *network = own->network;
	enum verdict worst = VERDICT_YES;
	struct text text = text_open(inputs->arena);
	json_t *layers = json_object();
	for (size_t l = 0; l < network->layer_count; l++) {
		const struct layer *layer = &network->layers[l];
		if (layer->same_as != l) {
			const char *same = network->layers[layer->same_as].name;
			text_add(&text, "%s: as %s\n", layer->name, same);
			json_object_set_new(layers, layer->name, json_pack("{s:s}", "as", same));
			continue;
		}
		struct mapspace_check check = check_layer(inputs, l);
		struct mapspace_check_report report = {.check = &check};
		json_t *tree = mapspace_check_json(inputs->arena, &report);
		json_object_set_new(layers, layer->name, tree);
		if (mapspace_verdict(&check) == VERDICT_YES) {
			text_add(&text, "%s: fits, %s mappings\n", layer->name, check.narrowed.all);
			continue;
		}
		text_add(&text, "%s: %s", layer->name, mapspace_check_text(inputs->arena, tree));
		if (worst != VERDICT_NO)
			worst = mapspace_verdict(&check);
	}
	text_add(&text, "%s: %zu layers, %zu of them different, %" PRId64 " with their counts\n",
		network->name, network->layer_count, network->distinct,
		network_occurrences(network));
	diag_print(inputs->diag, command_people());
	json_t *root = json_pack("{s:s, s:I, s:I, s:o}", "network", network->name, "different",
		(json_int_t)network->distinct, "occurrences",
		(json_int_t)network_occurrences(network), "layers", layers);
	command_print(format == FORMAT_TEXT
			      ? text_read(&text)
			      : command_value(inputs->arena, format, json_incref(root)));
	json_decref(root);
	return listener_status(worst);
}

static const struct nest_inputs *certified(
	const struct inputs *inputs, const char *layer, struct span span)
{
	const struct network_inputs *own = inputs->own;
	const struct network *network = own->network;
	if (!layer) {
		diag_error(inputs->diag, span,
			"this certificate is of a problem and not of a network");
		return NULL;
	}
	for (size_t l = 0; l < network->layer_count; l++)
		if (own->layers[l] && text_equal(network->layers[l].name, layer))
			return own->layers[l];
	diag_error(inputs->diag, span, "the network has no layer '%s' that is solved", layer);
	return NULL;
}

const struct input_kind network_kind = {
	.name = "network",
	.noun = "a network",
	.plural = "networks",
	.summary = "network: layers, each a problem on the same machine, as one whole",
	.key = "network",
	.rank = 2,
	.subject = SUBJECT_PROBLEM,
	.objectives = {2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}},
	.stages = 1 << STAGE_MAP,
	.read = network_inputs_read,
	.explore = {.counted = "mappings",
		.prepare = prepare,
		.run = run_search,
		.describe = describe,
		.finish = finish,
		.points = points,
		.plan = plan,
		.texts = texts,
		.nothing = nothing,
		.judge = judge},
	.score = score,
	.check = check,
	.certified = certified,
};
