#include "base/arena.h"
#include "cli/command.h"
#include "cli/command_network.h"
#include "cli/inputs_request.h"
#include "cli/listener.h"
#include "report/nest/network_results.h"
#include "report/run/pareto.h"
#include "cli/results.h"
#include "cli/results_certificate.h"

#include <inttypes.h>
#include <stdio.h>

/* The searches of all distinct layers; false when one of them cannot begin. */
static bool make_searches(struct arena *arena, const struct inputs *inputs,
	const struct wishes *wishes, const struct nest_search **searches, struct diag *diag)
{
	const struct network_inputs *nets = inputs->network;
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

static void write_layers(struct arena *arena, struct folder *folder, const struct run_record *record,
	const struct network_explored *explored)
{
	const struct network *network = explored->search->network;
	for (size_t l = 0; l < network->layer_count; l++) {
		size_t count = explored->layers[l].frontier.count;
		if (network->layers[l].same_as != l)
			continue;
		for (size_t i = 0; i < count; i++)
			folder_add(folder, network_layer_path(arena, explored, l, i),
				network_layer_yaml(arena, explored, l, i));
		results_certificate(arena, folder,
			arena_format(arena, "layers/%s.certificate.yaml", network->layers[l].name),
			network->layers[l].name, record, explored->search->layers[l],
			&explored->layers[l]);
	}
	folder_add(folder, "layers.csv", network_layers_csv(arena, explored));
}

static void write_results(struct arena *arena, struct folder *folder,
	const struct run_record *record, const struct network_explored *explored, size_t chosen)
{
	write_layers(arena, folder, record, explored);
	for (size_t i = 0; i < explored->sums.count; i++)
		if (network_has_plan(explored, i, chosen))
			folder_add(folder, pareto_plan_path(arena, i),
				network_plan_yaml(arena, explored, i));
	folder_add(folder, "run.json", network_run_json(arena, record, explored, chosen));
	folder_add(folder, "pareto.csv", network_pareto_csv(arena, explored, chosen));
	results_close(folder);
}

/* "within 1000 cycles and 5 pJ" */
static const char *limits_text(struct arena *arena, const struct network_limits *limits)
{
	const char *cycles = "", *energy = "";
	if (limits->cycles >= 0)
		cycles = arena_format(arena, "%" PRId64 " cycles", limits->cycles);
	if (limits->energy_pj >= 0)
		energy = arena_format(arena, "%.12g pJ", limits->energy_pj);
	return arena_format(
		arena, "within %s%s%s", cycles, *cycles && *energy ? " and " : "", energy);
}

static const char *point_text(
	struct arena *arena, const struct network_explored *explored, size_t i)
{
	struct score score = network_point(explored, i, arena).score;
	return arena_format(arena, "point %zu: %" PRId64 " cycles, %.12g pJ", i + 1, score.cycles,
		score.energy_pj);
}

/* What the limits ask of sums. */
struct limits {
	bool any;
	wide cycles, energy;
};

static struct limits find_limits(const struct network_limits *limits)
{
	return (struct limits){
		.any = limits->cycles >= 0 || limits->energy_pj >= 0,
		.cycles = limits->cycles >= 0 ? limits->cycles : SUMS_NO_LIMIT,
		.energy =
			limits->energy_pj >= 0 ? network_energy(limits->energy_pj) : SUMS_NO_LIMIT,
	};
}

/* Nothing keeps to the limits: for certain, or as far as is known. */
static int tell_miss(struct arena *arena, const struct network_explored *explored,
	const struct network_limits *given, const struct limits *limits)
{
	/* Sums that were left out have substitutes that are not slower. */
	bool proven = explored->total.complete &&
		      (explored->sums.excess == 0 || limits->energy == SUMS_NO_LIMIT);
	size_t nearest = sums_nearest(&explored->sums, limits->cycles, limits->energy);
	fprintf(stderr, "lxplore: %s %s; the nearest is %s\n",
		proven ? "no choice of mappings keeps the network"
		       : "none of the mappings that were found keep the network",
		limits_text(arena, given), point_text(arena, explored, nearest));
	return proven ? EXIT_IMPOSSIBLE : EXIT_NOTHING;
}

static int tell_missing(struct arena *arena, const struct network_explored *explored,
	const struct run_record *record)
{
	bool impossible = false;
	for (size_t l = 0; l < explored->search->network->layer_count; l++)
		impossible |= explored->layers[l].complete && !explored->layers[l].frontier.count;
	fprintf(stderr, "lxplore: %s%s%s\n", explored->missing, record->limit ? ": " : "",
		record->limit ? record->limit : "");
	results_refusals(arena, &explored->total);
	return impossible ? EXIT_IMPOSSIBLE : EXIT_NOTHING;
}

static void tell_end(const struct network_explored *explored, const struct run_record *record,
	const struct folder *folder)
{
	const struct network *network = explored->search->network;
	fprintf(stderr,
		"%zu layers, %zu of them solved, %" PRIu64 " mappings evaluated%s, %" PRIu64
		" executed, %zu on the frontier, %.1f s%s%s; results in %s\n",
		network->layer_count, network->distinct, explored->total.effort.evaluated,
		explored->total.complete ? ", nothing better is left" : "",
		explored->total.effort.simulated, explored->sums.count, record->seconds,
		record->limit ? ", cut short by: " : "", record->limit ? record->limit : "",
		folder_name(folder));
}

static void print_results(struct arena *arena, const struct network_explored *explored,
	const struct run_record *record, enum format format, const struct network_limits *limits,
	size_t chosen)
{
	if (format == FORMAT_CSV) {
		command_print(network_pareto_csv(arena, explored, chosen));
		return;
	}
	if (format != FORMAT_TEXT) {
		command_print(network_run_json(arena, record, explored, chosen));
		return;
	}
	command_print(network_table(arena, explored, chosen));
	if (chosen == SIZE_MAX)
		return;
	command_print(arena_format(arena, "\n%s: %s\n", limits_text(arena, limits),
		point_text(arena, explored, chosen)));
	command_print(network_choice_text(arena, explored, chosen));
}

int command_network_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag)
{
	const struct network_inputs *nets = inputs->network;
	struct listener listener = listener_open(request->seconds, request->quiet, "mappings");
	struct wishes wishes = inputs->exploration.wishes;
	wishes.asker = listener_asker(&listener, request->jobs);
	wishes.asker.report = NULL;
	wishes.asker.progress = listener_layers;
	const struct nest_search **searches =
		arena_array(arena, const struct nest_search *, nets->network->layer_count);
	bool good = request_check(nets->layers[0], &wishes.objectives, diag);
	if (!network_objectives(&wishes.objectives, diag) || !good)
		return command_refuse(diag);
	good = make_searches(arena, inputs, &wishes, searches, diag);
	bool stopped = listener_stop(&listener);
	diag_print(diag, stderr);
	if (!good)
		return listener_interrupted() ? EXIT_INTERRUPTED
		       : stopped              ? EXIT_NOTHING
					      : EXIT_IMPOSSIBLE;
	struct folder *folder = results_open(arena, arguments, nets->network->name);
	struct network_search search = {
		.network = nets->network,
		.layers = searches,
		.wishes = wishes,
		.hurry = {&listener, listener_hurry},
	};
	struct network_explored explored = network_explore(&search, arena);
	struct limits limits = find_limits(&nets->limits);
	size_t chosen = SIZE_MAX;
	if (limits.any)
		chosen = sums_within(&explored.sums, limits.cycles, limits.energy);
	struct run_record record = results_record(arena, arguments, inputs, &listener);
	record.objectives = &search.wishes.objectives;
	record.hierarchy = searches[0]->hierarchy;
	record.counting = counting_names[searches[0]->counting];
	write_results(arena, folder, &record, &explored, chosen);
	print_results(arena, &explored, &record, request->format, &nets->limits, chosen);
	int status = EXIT_FOUND;
	if (explored.missing)
		status = tell_missing(arena, &explored, &record);
	else if (limits.any && chosen == SIZE_MAX)
		status = tell_miss(arena, &explored, &nets->limits, &limits);
	if (!request->quiet && !explored.missing)
		tell_end(&explored, &record, folder);
	return command_end(
		explored.total.fault, listener_interrupted() ? EXIT_INTERRUPTED : status);
}
