#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "model/graph/run.h"
#include "report/graph/explain_text.h"
#include "report/graph/score_json.h"
#include "report/nest/nest_report.h"
#include "search/graph/lx_plan.h"
#include "search/graph/op_nest.h"

#include <inttypes.h>

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
		nest_text_levels(text, &report);
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

const char *score_text(struct arena *arena, const struct outcome *outcome,
	const struct recipe_result *made, bool from_simulator)
{
	const struct plan *plan = outcome->plan;
	const struct score *score = &outcome->cost.score;
	const struct sim_result *sim = &outcome->sim;
	const struct counts *counts = from_simulator ? &sim->counts : &outcome->cost.counts;
	int64_t cycles = from_simulator ? sim->cycles : score->cycles;
	struct text text = text_open(arena);
	text_add(&text, "latency     %s (%" PRId64 " cycles)\n",
		amount_text(arena, AMOUNT_TIME, arch_nanoseconds(plan->arch, cycles)), cycles);
	if (!from_simulator)
		text_add(&text, "estimate    %s (%" PRId64 " cycles)\n",
			amount_text(arena, AMOUNT_TIME,
				arch_nanoseconds(plan->arch, score->estimate_cycles)),
			score->estimate_cycles);
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
