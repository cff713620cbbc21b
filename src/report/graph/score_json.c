#include "report/graph/plan_results.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/text.h"
#include "model/graph/run.h"
#include "report/nest/nest_report.h"
#include "report/run/json.h"
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
struct nest_report score_nest_report(const struct arch *arch, const struct op_nest *nest)
{
	return (struct nest_report){.arch = arch,
		.hierarchy = nest->hierarchy,
		.shape = nest->shape,
		.mapping = &nest->mapping,
		.counts = &nest->counts,
		.score = &nest->score};
}

static void add_nest(json_t *object, const struct shown_score *of, int step)
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
	struct nest_report report = score_nest_report(plan->arch, nest);
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
		add_nest(object, of, s);
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

static int64_t step_bytes(const struct step_count *step, enum traffic a, enum traffic b)
{
	int64_t sum = 0;
	for (int i = 0; i <= OP_READS_MOST; i++)
		sum += step->bytes[i][a] + step->bytes[i][b];
	return sum;
}

static void add_ops(struct text *text, const struct plan *plan, const struct counts *counts)
{
	text_add(text, "\n%4s %-16s %-12s %5s %12s %12s  %s\n", "step", "op", "type", "cores",
		"HBM bytes", "LX bytes", "mapping");
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		const struct mapping *mapping = &plan->steps[s].mapping;
		const struct step_count *step = &counts->steps[s];
		text_add(text, "%4d %-16s %-12s %5" PRId64 " %12" PRId64 " %12" PRId64 "  %s\n", s,
			op->name, op->type, mapping_cores(plan->arch, mapping),
			step_bytes(step, TRAFFIC_HBM_READ, TRAFFIC_HBM_WRITE),
			step_bytes(step, TRAFFIC_LX_READ, TRAFFIC_LX_WRITE),
			mapping_print(text->arena, plan->arch, op, mapping));
	}
}

static void add_runs(struct text *text, const struct plan *plan)
{
	for (int r = 0; r < plan->run_count; r++) {
		const struct tile_run *run = &plan->runs[r];
		text_add(text, "%ssteps %d..%d share", r ? "" : "\n", run->first, run->end);
		for (int k = 0; k < run->loop_count; k++)
			text_add(text, "%s %s in %" PRId64, k ? "," : "", run->loops[k].name,
				run->loops[k].tiles);
		text_add(text, " tiles: %" PRId64 " iterations, one after the other\n",
			run_iterations(run));
	}
}

/* The nests of each op level by level, as of a problem. */
static void add_nests(struct text *text, const struct plan *plan, const struct counts *counts)
{
	for (int s = 0; s < plan->step_count; s++) {
		struct op_nest *nest = arena_new(text->arena, struct op_nest);
		op_nest_inside(plan, s, &counts->steps[s], text->arena, nest);
		if (!nest->shape)
			continue;
		struct nest_report report = score_nest_report(plan->arch, nest);
		text_add(text, "\nnest of step %d, op '%s': %s\n", s,
			plan->workload->ops[plan->steps[s].op].name,
			nest_mapping_print(text->arena, plan->arch, nest->shape, &nest->mapping));
		json_t *levels = nest_json_levels(text->arena, &report);
		nest_text_levels(text, levels);
		json_decref(levels);
	}
}

/* The tiles of broadcasts, among what lies in LX. */
static void add_tiles(struct text *text, const struct plan *plan)
{
	for (int s = 0; s < plan->step_count; s++) {
		const struct staging *staging = plan->steps[s].staging;
		const char *steps = arena_format(text->arena, "%d..%d", s, s + 1);
		for (int k = 0; staging && k < staging->count; k++)
			text_add(text,
				"%-16s %-5s %9s %10" PRId64 " %10" PRId64
				"  staging tile %d: %" PRId64 " x %" PRId64 " sticks\n",
				plan->workload->ops[plan->steps[s].op].name, "LX", steps,
				staging->addresses[k], staging_bytes(staging), k, staging->rows,
				staging->sticks);
	}
}

static const char *why_not(const struct recipe_result *made, int tensor)
{
	for (size_t i = 0; made && i < made->reason_count; i++)
		if (made->reasons[i].tensor == tensor)
			return made->reasons[i].text;
	return "";
}

static void add_tensors(
	struct text *text, const struct plan *plan, const struct recipe_result *made)
{
	text_add(text, "\n%-16s %-5s %9s %10s %10s  %s\n", "tensor", "place", "steps", "address",
		"per core", "note");
	for (int r = 0; r < plan->residency_count; r++) {
		const struct residency *stay = &plan->residencies[r];
		const char *name = plan->workload->tensors[stay->tensor].name;
		const char *steps = arena_format(text->arena, "%d..%d", stay->from, stay->to);
		if (stay->place == PLACE_HBM)
			text_add(text, "%-16s %-5s %9s %10s %10s  %s\n", name, "HBM", steps, "", "",
				why_not(made, stay->tensor));
		else
			text_add(text, "%-16s %-5s %9s %10" PRId64 " %10" PRId64 "  %s%s\n", name,
				"LX", steps, stay->address, stay->size,
				stay->in_place_of >= 0 ? "in place of " : "",
				stay->in_place_of >= 0
					? plan->workload->tensors[stay->in_place_of].name
					: "");
	}
	add_tiles(text, plan);
}

static void add_time(struct text *text, struct arena *arena, const struct arch *arch,
	const char *name, int64_t cycles)
{
	text_add(text, "%-12s%s (%" PRId64 " cycles)\n", name,
		amount_text(arena, AMOUNT_TIME, arch_nanoseconds(arch, cycles)), cycles);
}

/* By the price in force, then by the other one. */
static void add_latency(
	struct text *text, struct arena *arena, const struct arch *arch, const struct score *score)
{
	bool estimated = score->price == PRICE_ESTIMATE;
	add_time(text, arena, arch, "latency", estimated ? score->estimate_cycles : score->cycles);
	add_time(text, arena, arch, estimated ? "bound" : "estimate",
		estimated ? score->cycles : score->estimate_cycles);
}

const char *score_text(struct arena *arena, const struct outcome *outcome,
	const struct recipe_result *made, bool from_simulator)
{
	const struct plan *plan = outcome->plan;
	const struct score *score = &outcome->cost.score;
	const struct sim_result *sim = &outcome->sim;
	const struct counts *counts = from_simulator ? &sim->counts : &outcome->cost.counts;
	struct text text = text_open(arena);
	if (from_simulator)
		add_time(&text, arena, plan->arch, "latency", sim->cycles);
	else
		add_latency(&text, arena, plan->arch, score);
	text_add(&text, "energy      %s\n",
		amount_text(arena, AMOUNT_ENERGY,
			from_simulator ? outcome->sim_energy_pj : score->energy_pj));
	text_add(&text, "HBM bytes   %" PRId64 "\n",
		counts_total(counts, TRAFFIC_HBM_READ) + counts_total(counts, TRAFFIC_HBM_WRITE));
	text_add(&text, "LX peak     %" PRId64 " bytes\n",
		from_simulator ? sim->lx_peak_bytes : score->lx_peak_bytes);
	text_add(&text, "cores       %" PRId64 "\n", score->cores);
	if (workload_has_broadcast(plan->workload))
		text_add(&text,
			"ranks       %" PRId64 ", %" PRId64 " bytes over links, %" PRId64
			" of staging\n",
			plan->arch->ranks, counts_total(counts, TRAFFIC_LINK), score->buffer_bytes);
	if (from_simulator) {
		text_add(&text, "executed    %s, %s the model", sim_mode_names[outcome->mode],
			outcome->agrees ? "agrees with" : "DISAGREES with");
		if (outcome->worst_ulps >= 0)
			text_add(&text, ", at most %.3g ulps from the reference",
				outcome->worst_ulps);
		text_add(&text, "\n");
		if (outcome->off_tensor)
			text_add(&text,
				"results     '%s' is off by %.3g ulps, and at most %.3g are stated\n",
				outcome->off_tensor, outcome->off_ulps, outcome->off_most);
		for (int i = 0; i < sim->fault_count && i < SIM_FAULTS_MOST; i++)
			text_add(&text, "fault       %s\n", sim->faults[i].text);
	}
	add_ops(&text, plan, counts);
	add_runs(&text, plan);
	add_nests(&text, plan, counts);
	add_tensors(&text, plan, made);
	energy_text(&text, outcome, from_simulator);
	return text_read(&text);
}

enum { TERMINAL_WIDTH = 80, REASON_BYTES_WIDTH = 13 };

/* A set of resources: all that take as long as the slowest. */
static unsigned slowest(const struct phase_cost *phase)
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

/* As wide as the names of any set that bounds a phase. */
static int set_width(struct arena *arena, const struct plan_cost *cost)
{
	int width = 10;
	for (int p = 0; p < cost->phase_count; p++)
		width = (int)number_max(
			width, (int64_t)strlen(set_text(arena, slowest(&cost->phases[p]))));
	return width;
}

static const char *phase_name(const struct plan *plan, const struct phase_cost *phase)
{
	return plan->workload->ops[plan->steps[phase->end_step - 1].op].name;
}

/* As wide as a head and the largest of its cycles; 0: no phase uses the resource. */
static int resource_width(const struct plan_cost *cost, int resource, struct arena *arena)
{
	int64_t most = 0;
	for (int p = 0; p < cost->phase_count; p++)
		most = number_max(most, cost->phases[p].resource[resource]);
	size_t digits = strlen(arena_format(arena, "%" PRId64, most));
	return most ? (int)number_max((int64_t)digits, (int64_t)strlen(resource_names[resource]))
		    : 0;
}

/* A row for each phase; resources that no phase uses have no column. */
static void add_phases(struct text *text, const struct outcome *outcome)
{
	const struct plan_cost *cost = &outcome->cost;
	int bound = set_width(text->arena, cost), name = 8, widths[RESOURCE_COUNT];
	for (int p = 0; p < cost->phase_count; p++)
		name = (int)number_max(
			name, (int64_t)strlen(phase_name(outcome->plan, &cost->phases[p])));
	text_add(text, "%-*s %9s %9s  %-*s", name, "phase of", "cycles", "estimate", bound,
		"bound by");
	for (int r = 0; r < RESOURCE_COUNT; r++) {
		widths[r] = resource_width(cost, r, text->arena);
		if (widths[r])
			text_add(text, " %*s", widths[r], resource_names[r]);
	}
	text_add(text, "\n");
	for (int p = 0; p < cost->phase_count; p++) {
		const struct phase_cost *phase = &cost->phases[p];
		text_add(text, "%-*s %9" PRId64 " %9" PRId64 "  %-*s", name,
			phase_name(outcome->plan, phase), phase->cycles, phase->estimate, bound,
			set_text(text->arena, slowest(phase)));
		for (int r = 0; r < RESOURCE_COUNT; r++)
			if (widths[r])
				text_add(text, " %*" PRId64, widths[r], phase->resource[r]);
		text_add(text, "\n");
	}
}

static double share(int64_t part, int64_t all)
{
	return all > 0 ? 100 * (double)part / (double)all : 0;
}

/* One row for all phases that the same resources bound, at the first of them. */
static void add_set(struct text *text, const struct plan_cost *cost, int first, int width)
{
	unsigned set = slowest(&cost->phases[first]);
	int64_t cycles = 0;
	int count = 0;
	for (int p = 0; p < cost->phase_count; p++) {
		if (slowest(&cost->phases[p]) != set)
			continue;
		if (p < first)
			return;
		cycles += cost->phases[p].cycles;
		count++;
	}
	text_add(text, "%-*s %7d %12" PRId64 " %7.1f%%\n", width, set_text(text->arena, set), count,
		cycles, share(cycles, cost->score.cycles));
}

static void add_resources(struct text *text, const struct outcome *outcome)
{
	const struct plan_cost *cost = &outcome->cost;
	int width = set_width(text->arena, cost);
	text_add(text, "\n%-*s %7s %12s %8s\n", width, "bound by", "phases", "cycles", "of all");
	for (int p = 0; p < cost->phase_count; p++)
		add_set(text, cost, p, width);
	text_add(text, "%-*s %7s %12" PRId64 " %7.1f%%\n", width, "bundles", "",
		cost->overhead_cycles, share(cost->overhead_cycles, cost->score.cycles));
}

static bool is_in_lx(const struct plan *plan, int tensor)
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
			is_in_lx(plan, workload->ops[o].writes[0].tensor))
			return true;
	return false;
}

/* Adds a row whose last column is a sentence, folded into the width of a terminal. */
static void add_reason(
	struct text *text, int name_width, const struct tensor *tensor, const char *why)
{
	const char *indent = arena_format(text->arena, "%*s", name_width + REASON_BYTES_WIDTH, "");
	struct text lines = text_open(text->arena);
	text_fold(&lines, TERMINAL_WIDTH, indent, why);
	text_add(text, "%-*s %10" PRId64 "  %s", name_width, tensor->name, tensor->layout.bytes,
		text_read(&lines) + strlen(indent));
}

/* Columns of a table of tensors whose first column has that head. */
static int tensor_width(const struct plan *plan, const char *head)
{
	int width = (int)strlen(head);
	for (size_t t = 0; t < plan->workload->tensor_count; t++)
		width = (int)number_max(width, (int64_t)strlen(plan->workload->tensors[t].name));
	return width;
}

/* Stays in LX in the order of the plan: what ops leave there for the ops behind them. */
static void add_kept(struct text *text, const struct plan *plan)
{
	int width = tensor_width(plan, "kept in LX");
	bool any = false;
	for (int r = 0; r < plan->residency_count; r++) {
		const struct residency *stay = &plan->residencies[r];
		if (stay->place != PLACE_LX || stay->to <= stay->from)
			continue;
		if (!any)
			text_add(text, "\n%-*s %12s  %s\n", width, "kept in LX", "bytes a core",
				"from the op, to the op");
		any = true;
		const struct op *ops = plan->workload->ops;
		text_add(text, "%-*s %12" PRId64 "  %s to %s\n", width,
			plan->workload->tensors[stay->tensor].name, stay->size,
			ops[plan->steps[stay->from].op].name,
			ops[plan->steps[stay->to - 1].op].name);
	}
}

static void add_tensor_reasons(
	struct text *text, const struct plan *plan, const struct planning *planning)
{
	int width = tensor_width(plan, "not in LX");
	text_add(text, "\n%-*s %10s  %s\n", width, "not in LX", "bytes",
		"what breaks, or what it gains, with the same mappings");
	for (size_t t = 0; t < plan->workload->tensor_count; t++) {
		struct arena *scratch = arena_open();
		if (is_in_lx(plan, (int)t)) {
			arena_close(scratch);
			continue;
		}
		add_reason(text, width, &plan->workload->tensors[t],
			has_copy_in_lx(plan, (int)t)
				? "a move brings it into LX for its readers"
				: lx_try(plan, planning, (int)t, scratch).text);
		arena_close(scratch);
	}
}

static void add_worths(struct text *text, const struct joint_worths *worths)
{
	double all = worths->count ? worths->at[0].cycles : 0;
	if (all <= 0)
		return;
	text_add(text, "\n%-20s %12s %8s\n", "whole plans", "least cycles", "more");
	for (size_t i = 0; i < worths->count; i++) {
		const struct joint_worth *worth = &worths->at[i];
		text_add(text, "%-20s",
			worth->kind ? arena_format(text->arena, "without %s", worth->kind)
				    : "with all kinds");
		if (worth->why)
			text_add(text, "  %s\n", worth->why);
		else
			text_add(text, " %12.0f %7.1f%%%s\n", worth->cycles,
				100 * (worth->cycles - all) / all,
				worth->proven ? "" : "  at most: the search was cut");
	}
}

static void add_share(
	struct text *text, const char *name, double pj, double all, const char *source)
{
	if (pj != 0)
		text_add(text, "  %-20s %12s %5.1f %%%s\n", name,
			amount_text(text->arena, AMOUNT_ENERGY, pj), 100 * pj / all,
			arch_is_assumed(source) ? "  assumed" : "");
}

void energy_text(struct text *text, const struct outcome *outcome, bool from_simulator)
{
	struct energy_parts parts = evaluate_energy(outcome, from_simulator, text->arena);
	const struct workload *workload = outcome->plan->workload;
	double all = from_simulator ? outcome->sim_energy_pj : outcome->cost.score.energy_pj;
	text_add(text, "\nenergy by level\n");
	for (int place = 0; place < ENERGY_PLACES; place++)
		add_share(text, energy_place_name(&parts, place), energy_of_place(&parts, place),
			all, energy_place_source(&parts, place));
	for (int place = 0; place < ENERGY_PLACES; place++)
		if (energy_of_place(&parts, place) != 0 && energy_place_source(&parts, place))
			text_fold(text, TERMINAL_WIDTH, "    ",
				arena_format(text->arena, "%s: %s",
					energy_place_name(&parts, place),
					energy_place_source(&parts, place)));
	text_add(text, "energy by tensor\n");
	for (size_t t = 0; t < workload->tensor_count; t++)
		add_share(text, workload->tensors[t].name, energy_of_row(&parts, t), all, NULL);
	add_share(text, "(computes, leakage)", energy_of_row(&parts, workload->tensor_count), all,
		NULL);
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
	energy_text(&text, outcome, false);
	return text_read(&text);
}
