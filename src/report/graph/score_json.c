#include "report/graph/plan_results.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/text.h"
#include "model/graph/run.h"
#include "report/nest/nest_report.h"
#include "report/run/json.h"
#include "report/run/listing.h"
#include "search/graph/lx.h"
#include "search/graph/op_map.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

/* The printed numbers: the model's, or the simulator's. */
struct shown_score {
	const struct outcome *outcome;
	const struct counts *counts;
	bool simulated;
	struct arena *arena;
};

static json_t *make_bytes(const int64_t bytes[TRAFFIC_COUNT])
{
	json_t *object = json_object();
	for (int t = 0; t < TRAFFIC_COUNT; t++)
		if (bytes[t])
			json_object_set_new(object, traffic_names[t], json_integer(bytes[t]));
	return object;
}

static json_t *make_level(const struct shown_score *of, int level, int64_t utilized,
	enum traffic first, enum traffic end)
{
	const struct level *at = &of->outcome->plan->arch->levels[level];
	json_t *bytes = json_object();
	for (int t = (int)first; t < (int)end; t++) {
		int64_t total = counts_total(of->counts, (enum traffic)t);
		if (total || t != TRAFFIC_DATA_RING)
			json_object_set_new(bytes, traffic_names[t], json_integer(total));
	}
	return json_pack("{s:s, s:I, s:I, s:o}", "name", at->name, "instances",
		(json_int_t)at->instances, "utilized_instances", (json_int_t)utilized, "bytes",
		bytes);
}

static json_t *make_levels(const struct shown_score *of)
{
	const struct arch *arch = of->outcome->plan->arch;
	json_t *list = json_array();
	if (arch->lx >= 0)
		json_array_append_new(list, make_level(of, arch->lx, of->outcome->cost.score.cores,
						    TRAFFIC_LX_FILL, TRAFFIC_LINK));
	json_array_append_new(
		list, make_level(of, arch->hbm, 1, TRAFFIC_HBM_READ, TRAFFIC_LX_FILL));
	return list;
}

/* Returns the energy by level and wires, outermost first, and by tensor; "others" belongs to no tensor. */
static json_t *make_energy(const struct shown_score *of)
{
	const struct workload *workload = of->outcome->plan->workload;
	struct energy_parts parts = evaluate_energy(of->outcome, of->simulated, of->arena);
	json_t *levels = json_array(), *tensors = json_array();
	for (int place = 0; place < ENERGY_PLACES; place++) {
		double pj = energy_of_place(&parts, place);
		if (pj != 0)
			json_array_append_new(
				levels, json_pack("{s:s, s:f, s:s*}", "name",
						energy_place_name(&parts, place), "energy_pj", pj,
						"source", energy_place_source(&parts, place)));
	}
	for (size_t t = 0; t < workload->tensor_count; t++) {
		json_t *at = json_object();
		for (int place = 0; place < ENERGY_PLACES; place++)
			if (parts.at[t][place] != 0)
				json_object_set_new(at, energy_place_name(&parts, place),
					json_real(parts.at[t][place]));
		json_array_append_new(
			tensors, json_pack("{s:s, s:f, s:o}", "name", workload->tensors[t].name,
					 "energy_pj", energy_of_row(&parts, t), "levels", at));
	}
	return json_pack("{s:o, s:o, s:f}", "levels", levels, "tensors", tensors, "others_pj",
		energy_of_row(&parts, workload->tensor_count));
}

/* The phase that a step belongs to. */
static const struct phase_cost *phase_of(const struct plan_cost *cost, int step)
{
	for (int p = 0; p < cost->phase_count; p++)
		if (step < cost->phases[p].end_step)
			return &cost->phases[p];
	return NULL;
}

static void add_phase(json_t *object, const struct plan_cost *cost, int step)
{
	const struct phase_cost *phase = phase_of(cost, step);
	if (!phase)
		return;
	int slowest = 0;
	json_t *resources = json_object();
	for (int r = 0; r < RESOURCE_COUNT; r++) {
		if (phase->resource[r] > phase->resource[slowest])
			slowest = r;
		if (phase->resource[r])
			json_object_set_new(
				resources, resource_names[r], json_integer(phase->resource[r]));
	}
	json_object_set_new(object, "phase",
		json_pack("{s:i, s:i, s:I, s:I, s:s, s:o}", "from", phase->first_step, "to",
			phase->end_step, "cycles", (json_int_t)phase->cycles, "estimate_cycles",
			(json_int_t)phase->estimate, "slowest", resource_names[slowest],
			"resource_cycles", resources));
}

/* The nests of its computes, or, in an ideal array, the op as a nest on this machine: words of
 * elements instead of bytes of sticks. */
static struct nest_report nest_report_of(const struct arch *arch, const struct op_nest *nest)
{
	return (struct nest_report){.arch = arch,
		.hierarchy = nest->hierarchy,
		.shape = nest->shape,
		.mapping = &nest->mapping,
		.counts = &nest->counts,
		.score = &nest->score};
}

static void score_json_add_nest(json_t *object, const struct shown_score *of, int step)
{
	const struct plan *plan = of->outcome->plan;
	const struct step_count *count = &of->counts->steps[step];
	struct op_nest *nest = arena_new(of->arena, struct op_nest);
	if (count->nests)
		op_nest_inside(plan, step, count, of->arena, nest);
	else
		op_nest_make(plan, step, of->arena, nest);
	if (!nest->shape)
		return;
	struct nest_report report = nest_report_of(plan->arch, nest);
	json_object_set_new(object, "nest",
		json_pack("{s:s, s:I, s:o}", "mapping",
			nest_mapping_print(of->arena, report.arch, nest->shape, &nest->mapping),
			"computes", (json_int_t)nest->counts.computes, "levels",
			count->nests ? nest_json_levels(of->arena, &report)
				     : nest_json_words(of->arena, &report)));
}

/* The tiles that a broadcast goes through. */
static void add_staging(json_t *object, const struct staging *staging)
{
	if (!staging)
		return;
	json_t *addresses = json_array();
	for (int k = 0; k < staging->count; k++)
		json_array_append_new(addresses, json_integer(staging->addresses[k]));
	json_object_set_new(object, "staging",
		json_pack("{s:I, s:I, s:I, s:o}", "rows", (json_int_t)staging->rows, "sticks",
			(json_int_t)staging->sticks, "bytes", (json_int_t)staging_bytes(staging),
			"addresses", addresses));
}

/* Adds the exchanges between ranks if there are several. */
static void add_ranks(json_t *root, const struct shown_score *of)
{
	const struct plan *plan = of->outcome->plan;
	int ranks = workload_ranks(plan->workload, plan->arch);
	if (ranks < 2)
		return;
	json_object_set_new(root, "ranks", json_integer(ranks));
	json_object_set_new(
		root, "link_bytes", json_integer(counts_total(of->counts, TRAFFIC_LINK)));
	json_object_set_new(
		root, "staging_bytes", json_integer(of->outcome->cost.score.buffer_bytes));
}

static json_t *make_ops(const struct shown_score *of)
{
	const struct plan *plan = of->outcome->plan;
	json_t *list = json_array();
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		const struct step_count *count = &of->counts->steps[s];
		json_t *operands = json_array();
		for (int i = 0; i < op_operands(op); i++)
			json_array_append_new(operands,
				json_pack("{s:s, s:o}", "tensor",
					plan->workload->tensors[op_operand(op, i)->tensor].name,
					"bytes", make_bytes(count->bytes[i])));
		json_t *object = json_pack("{s:s, s:s, s:i, s:I, s:s, s:I, s:o}", "op", op->name,
			"type", op->type, "bundle", plan->steps[s].bundle, "cores",
			(json_int_t)mapping_cores(plan->arch, &plan->steps[s].mapping), "mapping",
			mapping_print(of->arena, plan->arch, op, &plan->steps[s].mapping),
			"computes", (json_int_t)count->computes, "operands", operands);
		add_staging(object, plan->steps[s].staging);
		if (!of->simulated)
			add_phase(object, &of->outcome->cost, s);
		score_json_add_nest(object, of, s);
		json_array_append_new(list, object);
	}
	return list;
}

/* Steps that share tile loops; what ops say is of all iterations. */
static json_t *make_runs(const struct plan *plan)
{
	json_t *list = json_array();
	for (int r = 0; r < plan->run_count; r++) {
		const struct tile_run *run = &plan->runs[r];
		json_t *loops = json_object();
		for (int k = 0; k < run->loop_count; k++)
			json_object_set_new(
				loops, run->loops[k].name, json_integer(run->loops[k].tiles));
		json_array_append_new(list,
			json_pack("{s:i, s:i, s:o, s:I}", "from", run->first, "to", run->end,
				"loops", loops, "iterations", (json_int_t)run_iterations(run)));
	}
	return list;
}

static json_t *make_tensors(const struct shown_score *of, const struct recipe_result *made)
{
	const struct plan *plan = of->outcome->plan;
	json_t *object = json_object();
	for (int r = 0; r < plan->residency_count; r++) {
		const struct residency *stay = &plan->residencies[r];
		const struct workload *workload = plan->workload;
		json_t *entry = json_pack("{s:s, s:i, s:i}", "place",
			stay->place == PLACE_LX ? "LX" : "HBM", "from", stay->from, "to", stay->to);
		if (stay->place == PLACE_LX) {
			json_object_set_new(entry, "address", json_integer(stay->address));
			json_object_set_new(entry, "bytes_per_core", json_integer(stay->size));
		}
		if (stay->place == PLACE_LX && stay->in_place_of >= 0)
			json_object_set_new(entry, "in_place_of",
				json_string(workload->tensors[stay->in_place_of].name));
		json_object_set_new(object, workload->tensors[stay->tensor].name, entry);
	}
	for (size_t i = 0; made && i < made->reason_count; i++) {
		const char *name = plan->workload->tensors[made->reasons[i].tensor].name;
		json_t *entry = json_object_get(object, name);
		if (entry)
			json_object_set_new(
				entry, "why_not_lx", json_string(made->reasons[i].text));
	}
	return object;
}

static json_t *make_faults(const struct sim_result *sim)
{
	json_t *list = json_array();
	for (int i = 0; i < sim->fault_count && i < SIM_FAULTS_MOST; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:i, s:i, s:I, s:I, s:s}", "kind",
				sim_fault_names[sim->faults[i].kind], "step", sim->faults[i].step,
				"core", sim->faults[i].core, "address",
				(json_int_t)sim->faults[i].address, "cycle",
				(json_int_t)sim->faults[i].cycle, "text", sim->faults[i].text));
	return list;
}

static void add_simulation(json_t *root, const struct outcome *outcome)
{
	const struct sim_result *sim = &outcome->sim;
	json_object_set_new(root, "executed", json_string(sim_mode_names[outcome->mode]));
	json_object_set_new(root, "finished", json_boolean(sim->finished));
	json_object_set_new(root, "events", json_integer((json_int_t)sim->events));
	json_object_set_new(root, "agrees", json_boolean(outcome->agrees));
	json_object_set_new(root, "model_cycles", json_integer(outcome->cost.score.cycles));
	json_object_set_new(root, "faults", make_faults(sim));
	if (outcome->worst_ulps >= 0)
		json_object_set_new(root, "worst_ulps", json_real_or_infinite(outcome->worst_ulps));
	if (outcome->off_tensor)
		json_object_set_new(root, "off",
			json_pack("{s:s, s:o, s:o}", "tensor", outcome->off_tensor, "ulps",
				json_real_or_infinite(outcome->off_ulps), "ulps_stated",
				json_real_or_infinite(outcome->off_most)));
}

json_t *score_json(struct arena *arena, const struct outcome *outcome,
	const struct recipe_result *made, bool from_simulator)
{
	const struct score *score = &outcome->cost.score;
	const struct sim_result *sim = &outcome->sim;
	struct shown_score of = {outcome, from_simulator ? &sim->counts : &outcome->cost.counts,
		from_simulator, arena};
	int64_t cycles = from_simulator ? sim->cycles : score->cycles;
	int64_t hbm = counts_total(of.counts, TRAFFIC_HBM_READ) +
		      counts_total(of.counts, TRAFFIC_HBM_WRITE);
	json_t *root = json_pack("{s:b, s:I, s:f, s:I, s:f, s:f, s:I, s:I, s:I, s:I}", "feasible",
		score->feasible, "cycles", (json_int_t)cycles, "latency_ns",
		arch_nanoseconds(outcome->plan->arch, cycles), "computes",
		(json_int_t)score->computes, "energy_pj",
		from_simulator ? outcome->sim_energy_pj : score->energy_pj, "utilization",
		score->utilization * (double)score->cycles / (double)(cycles ? cycles : 1),
		"hbm_bytes", (json_int_t)hbm, "lx_peak_bytes",
		(json_int_t)(from_simulator ? sim->lx_peak_bytes : score->lx_peak_bytes), "cores",
		(json_int_t)score->cores, "overhead_cycles",
		(json_int_t)outcome->cost.overhead_cycles);
	if (!root)
		fatal("the score could not be written");
	add_ranks(root, &of);
	if (from_simulator)
		add_simulation(root, outcome);
	else
		json_object_set_new(root, "estimate_cycles", json_integer(score->estimate_cycles));
	json_object_set_new(root, "levels", make_levels(&of));
	json_object_set_new(root, "energy", make_energy(&of));
	json_object_set_new(root, "ops", make_ops(&of));
	if (outcome->plan->run_count)
		json_object_set_new(root, "runs", make_runs(outcome->plan));
	json_object_set_new(root, "tensors", make_tensors(&of, made));
	return root;
}

/* Bytes of two kinds that all operands of an op move together. */
static json_t *sum_bytes(const json_t *op, enum traffic a, enum traffic b)
{
	const json_t *operands = json_object_get(op, "operands"), *operand;
	json_int_t sum = 0;
	size_t i;
	json_array_foreach(operands, i, operand) {
		const json_t *bytes = json_object_get(operand, "bytes");
		sum += json_integer_value(json_object_get(bytes, traffic_names[a])) +
		       json_integer_value(json_object_get(bytes, traffic_names[b]));
	}
	return json_integer(sum);
}

static void score_json_add_ops(struct text *text, const json_t *ops)
{
	static const struct result_column columns[] = {
		{"step", "{.}", NULL},
		{"<op", "{op}", NULL},
		{"<type", "{type}", NULL},
		{"cores", "{cores}", NULL},
		{"HBM bytes", "{hbm_bytes#}", NULL},
		{"LX bytes", "{lx_bytes#}", NULL},
		{"=mapping", "{mapping}", NULL},
		{NULL, NULL, NULL},
	};
	json_t *shown = json_array(), *op;
	size_t i;
	json_array_foreach(ops, i, op) {
		json_t *row = json_copy(op);
		json_object_set_new(
			row, "hbm_bytes", sum_bytes(op, TRAFFIC_HBM_READ, TRAFFIC_HBM_WRITE));
		json_object_set_new(
			row, "lx_bytes", sum_bytes(op, TRAFFIC_LX_READ, TRAFFIC_LX_WRITE));
		json_array_append_new(shown, row);
	}
	text_add(text, "\n");
	result_table(text, shown, columns, NULL);
	json_decref(shown);
}

/* The nests of each op level by level, as of a problem; nests in words alone are left out. */
static void score_json_add_nests(struct text *text, const json_t *ops)
{
	static const struct result_row rows[] = {
		{"", "nest of step {step}, op '{op}': {nest.mapping}", NULL},
		{NULL, NULL, NULL},
	};
	json_t *op;
	size_t i;
	json_array_foreach(ops, i, op) {
		const json_t *levels = json_object_get(json_object_get(op, "nest"), "levels");
		if (!json_object_get(json_array_get(levels, 0), "cycles"))
			continue;
		json_t *shown = json_copy(op);
		json_object_set_new(shown, "step", json_integer((json_int_t)i));
		text_add(text, "\n");
		result_rows(text, shown, rows);
		nest_text_levels(text, levels);
		json_decref(shown);
	}
}

static void add_tensors(struct text *text, const json_t *tree)
{
	static const struct result_column columns[] = {
		{"<tensor", "{.}", NULL},
		{"<place", "{place}", NULL},
		{"steps", "{from}..{to}", NULL},
		{"address", "{address}", NULL},
		{"per core", "{bytes_per_core}", NULL},
		{"=note", "{in_place_of?in place of {in_place_of}|{why_not_lx}}", NULL},
		{NULL, NULL, NULL},
	};
	static const struct result_row tiles[] = {
		{"",
			"staging of {op}: tiles of {staging.rows} x {staging.sticks} sticks, "
			"{staging.bytes} bytes, at {staging.addresses}",
			"ops"},
		{NULL, NULL, NULL},
	};
	text_add(text, "\n");
	result_table(text, json_object_get(tree, "tensors"), columns, NULL);
	result_rows(text, tree, tiles);
}

/* Adds a table of energies, each with its share of `all`; what takes none is left out. */
static void add_energies(
	struct text *text, const char *title, const json_t *list, double others, double all)
{
	const struct result_column columns[] = {
		{title, "{name}", NULL},
		{"energy", "{energy_pj}", NULL},
		{"of all", "{share%}", NULL},
		{"<", "{assumed?assumed}", NULL},
		{NULL, NULL, NULL},
	};
	json_t *shown = json_array(), *item;
	size_t i;
	json_array_foreach(list, i, item) {
		if (json_number_value(json_object_get(item, "energy_pj")) != 0)
			json_array_append_new(shown, json_copy(item));
	}
	if (others != 0)
		json_array_append_new(shown, json_pack("{s:s, s:f}", "name", "(computes, leakage)",
						     "energy_pj", others));
	json_array_foreach(shown, i, item) {
		double pj = json_number_value(json_object_get(item, "energy_pj"));
		const char *source = json_string_value(json_object_get(item, "source"));
		json_object_update_new(item, json_pack("{s:f, s:b}", "share", pj / all, "assumed",
						     arch_is_assumed(source)));
	}
	result_table(text, shown, columns, NULL);
	json_decref(shown);
}

/* Adds the energy of make_energy by level, the sources of energies, and the energy by tensor. */
static void energy_text(struct text *text, const json_t *energy, double all)
{
	const json_t *levels = json_object_get(energy, "levels"), *level;
	size_t i;
	text_add(text, "\n");
	add_energies(text, "<energy by level", levels, 0, all);
	json_array_foreach(levels, i, level) {
		const char *source = json_string_value(json_object_get(level, "source"));
		if (source)
			text_fold(text, LISTING_WIDTH, "    ",
				arena_format(text->arena, "%s: %s",
					json_string_value(json_object_get(level, "name")), source));
	}
	text_add(text, "\n");
	add_energies(text, "<energy by tensor", json_object_get(energy, "tensors"),
		json_number_value(json_object_get(energy, "others_pj")), all);
}

static const struct result_row score_rows[] = {
	{"latency",
		"{estimated?{estimate_ns} ({estimate_cycles} cycles)|{latency_ns} ({cycles} cycles)}",
		NULL},
	{"bound", "{estimated?{latency_ns} ({cycles} cycles)}", NULL},
	{"estimate", "{estimated?|{estimate_ns} ({estimate_cycles} cycles)}", NULL},
	{"energy", "{energy_pj}", NULL},
	{"utilization", "{utilization%}", NULL},
	{"HBM", "{hbm_bytes} ({hbm_bytes#} bytes)", NULL},
	{"LX peak", "{lx_peak_bytes} ({lx_peak_bytes#} bytes)", NULL},
	{"cores", "{cores}", NULL},
	{"ranks", "{ranks}, {link_bytes#} bytes over links, {staging_bytes#} of staging", NULL},
	{"executed",
		"{executed}, {agrees?agrees with|DISAGREES with} the model"
		"{worst_ulps?, at most {worst_ulps} ulps from the reference}",
		NULL},
	{"results",
		"'{off.tensor}' is off by {off.ulps} ulps, and at most {off.ulps_stated} are "
		"stated",
		NULL},
	{"fault", "{text}", "faults"},
	{NULL, NULL, NULL},
};

const char *score_text(struct arena *arena, const struct outcome *outcome, const json_t *tree)
{
	static const struct result_row runs[] = {
		{"",
			"steps {from}..{to} share tiles: {loops}; {iterations} iterations, one after "
			"the other",
			"runs"},
		{NULL, NULL, NULL},
	};
	const json_t *ops = json_object_get(tree, "ops");
	const json_t *estimate = json_object_get(tree, "estimate_cycles");
	json_t *shown = json_copy((json_t *)tree);
	struct text text = text_open(arena);
	if (estimate)
		json_object_update_new(
			shown, json_pack("{s:b, s:f}", "estimated",
				       outcome->cost.score.price == PRICE_ESTIMATE, "estimate_ns",
				       arch_nanoseconds(
					       outcome->plan->arch, json_integer_value(estimate))));
	result_rows(&text, shown, score_rows);
	json_decref(shown);
	score_json_add_ops(&text, ops);
	result_rows(&text, tree, runs);
	score_json_add_nests(&text, ops);
	add_tensors(&text, tree);
	energy_text(&text, json_object_get(tree, "energy"),
		json_number_value(json_object_get(tree, "energy_pj")));
	return text_read(&text);
}

/* A set of resources: all that take as long as the slowest. */
static unsigned phase_cost_slowest(const struct phase_cost *phase)
{
	int64_t most = 0;
	unsigned set = 0;
	for (int r = 0; r < RESOURCE_COUNT; r++)
		most = number_max(most, phase->resource[r]);
	for (int r = 0; r < RESOURCE_COUNT; r++)
		if (phase->resource[r] == most)
			set |= 1u << r;
	return set;
}

/* "lx_read, compute" */
static const char *set_text(struct arena *arena, unsigned set)
{
	struct text text = text_open(arena);
	for (int r = 0; r < RESOURCE_COUNT; r++)
		if (set & 1u << r)
			text_add(&text, "%s%s", set & ((1u << r) - 1) ? ", " : "",
				resource_names[r]);
	return text_read(&text);
}

static const char *phase_name(const struct plan *plan, const struct phase_cost *phase)
{
	return plan->workload->ops[plan->steps[phase->end_step - 1].op].name;
}

/* True if a phase uses the resource. */
static bool plan_cost_is_used(const struct plan_cost *cost, int resource)
{
	for (int p = 0; p < cost->phase_count; p++)
		if (cost->phases[p].resource[resource])
			return true;
	return false;
}

/* A row for each phase; resources that no phase uses have no column. */
static void add_phases(struct text *text, const struct outcome *outcome)
{
	const struct plan_cost *cost = &outcome->cost;
	const char *titles[5 + RESOURCE_COUNT] = {"<phase of", "cycles", "estimate"};
	memcpy(titles + 3, resource_names, RESOURCE_COUNT * sizeof *titles);
	titles[3 + RESOURCE_COUNT] = "=bound by";
	struct listing *listing = listing_open(text->arena, titles);
	for (int p = 0; p < cost->phase_count; p++) {
		const struct phase_cost *phase = &cost->phases[p];
		listing_cell(listing, "%s", phase_name(outcome->plan, phase));
		listing_cell(listing, "%" PRId64, phase->cycles);
		listing_cell(listing, "%" PRId64, phase->estimate);
		for (int r = 0; r < RESOURCE_COUNT; r++)
			if (plan_cost_is_used(cost, r))
				listing_cell(listing, "%" PRId64, phase->resource[r]);
			else
				listing_cell(listing, "%s", "");
		listing_cell(listing, "%s", set_text(text->arena, phase_cost_slowest(phase)));
	}
	text_add(text, "%s", listing_text(listing));
}

static const char *share_text(struct arena *arena, int64_t part, int64_t all)
{
	return amount_share(arena, all > 0 ? (double)part / (double)all : 0);
}

/* One row for all phases that the same resources bound, at the first of them. */
static void add_set(
	struct arena *arena, struct listing *listing, const struct plan_cost *cost, int first)
{
	unsigned set = phase_cost_slowest(&cost->phases[first]);
	int64_t cycles = 0;
	int count = 0;
	for (int p = 0; p < cost->phase_count; p++) {
		if (phase_cost_slowest(&cost->phases[p]) != set)
			continue;
		if (p < first)
			return;
		cycles += cost->phases[p].cycles;
		count++;
	}
	listing_cell(listing, "%s", set_text(arena, set));
	listing_cell(listing, "%d", count);
	listing_cell(listing, "%" PRId64, cycles);
	listing_cell(listing, "%s", share_text(arena, cycles, cost->score.cycles));
}

static void add_resources(struct text *text, const struct outcome *outcome)
{
	static const char *const titles[] = {"<bound by", "phases", "cycles", "of all", NULL};
	const struct plan_cost *cost = &outcome->cost;
	struct listing *listing = listing_open(text->arena, titles);
	for (int p = 0; p < cost->phase_count; p++)
		add_set(text->arena, listing, cost, p);
	listing_cell(listing, "bundles");
	listing_cell(listing, "%s", "");
	listing_cell(listing, "%" PRId64, cost->overhead_cycles);
	listing_cell(
		listing, "%s", share_text(text->arena, cost->overhead_cycles, cost->score.cycles));
	text_add(text, "\n%s", listing_text(listing));
}

static bool plan_is_in_lx(const struct plan *plan, int tensor)
{
	for (int r = 0; r < plan->residency_count; r++)
		if (plan->residencies[r].tensor == tensor && plan->residencies[r].place == PLACE_LX)
			return true;
	return false;
}

/* A copy of a tensor under another name is in LX. */
static bool has_copy_in_lx(const struct plan *plan, int tensor)
{
	const struct workload *workload = plan->workload;
	for (size_t o = 0; o < workload->op_count; o++)
		if (workload->ops[o].move && workload->ops[o].reads[0].tensor == tensor &&
			plan_is_in_lx(plan, workload->ops[o].writes[0].tensor))
			return true;
	return false;
}

/* Stays in LX in the order of the plan: what ops leave there for the ops behind them. */
static void add_kept(struct text *text, const struct plan *plan)
{
	static const char *const titles[] = {
		"<kept in LX", "bytes a core", "<from the op, to the op", NULL};
	struct listing *listing = listing_open(text->arena, titles);
	bool any = false;
	for (int r = 0; r < plan->residency_count; r++) {
		const struct residency *stay = &plan->residencies[r];
		const struct op *ops = plan->workload->ops;
		if (stay->place != PLACE_LX || stay->to <= stay->from)
			continue;
		any = true;
		listing_cell(listing, "%s", plan->workload->tensors[stay->tensor].name);
		listing_cell(listing, "%" PRId64, stay->size);
		listing_cell(listing, "%s to %s", ops[plan->steps[stay->from].op].name,
			ops[plan->steps[stay->to - 1].op].name);
	}
	if (any)
		text_add(text, "\n%s", listing_text(listing));
}

static void add_tensor_reasons(
	struct text *text, const struct plan *plan, const struct planning *planning)
{
	static const char *const titles[] = {"<not in LX", "bytes",
		"=what breaks, or what it gains, with the same mappings", NULL};
	struct listing *listing = listing_open(text->arena, titles);
	for (size_t t = 0; t < plan->workload->tensor_count; t++) {
		const struct tensor *tensor = &plan->workload->tensors[t];
		if (plan_is_in_lx(plan, (int)t))
			continue;
		struct arena *scratch = arena_open();
		listing_cell(listing, "%s", tensor->name);
		listing_cell(listing, "%" PRId64, tensor->layout.bytes);
		listing_cell(listing, "%s",
			has_copy_in_lx(plan, (int)t)
				? "a move brings it into LX for its readers"
				: lx_try(plan, planning, (int)t, scratch).text);
		arena_close(scratch);
	}
	text_add(text, "\n%s", listing_text(listing));
}

static void add_worths(struct text *text, const struct joint_worths *worths)
{
	static const char *const titles[] = {"<whole plans", "least cycles", "more", "=", NULL};
	struct listing *listing = listing_open(text->arena, titles);
	double all = worths->count ? worths->at[0].cycles : 0;
	if (all <= 0)
		return;
	for (size_t i = 0; i < worths->count; i++) {
		const struct joint_worth *worth = &worths->at[i];
		double more = (worth->cycles - all) / all;
		listing_cell(listing, "%s%s", worth->kind ? "without " : "with all kinds",
			worth->kind ? worth->kind : "");
		listing_cell(listing, "%s",
			worth->why ? "" : arena_format(text->arena, "%.0f", worth->cycles));
		listing_cell(listing, "%s", worth->why ? "" : amount_share(text->arena, more));
		listing_cell(listing, "%s",
			worth->why      ? worth->why
			: worth->proven ? ""
					: "at most: the search was cut");
	}
	text_add(text, "\n%s", listing_text(listing));
}

const char *explain_text(struct arena *arena, const struct outcome *outcome,
	const struct planning *planning, const struct joint_worths *worths)
{
	struct text text = text_open(arena);
	add_phases(&text, outcome);
	add_resources(&text, outcome);
	add_kept(&text, outcome->plan);
	add_tensor_reasons(&text, outcome->plan, planning);
	add_worths(&text, worths);
	struct shown_score of = {outcome, &outcome->cost.counts, false, arena};
	json_t *energy = make_energy(&of);
	energy_text(&text, energy, outcome->cost.score.energy_pj);
	json_decref(energy);
	return text_read(&text);
}
