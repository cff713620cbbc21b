#include "report/graph/explain_text.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "search/graph/lx_trial.h"

#include <inttypes.h>
#include <string.h>

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

static void add_phases(struct text *text, const struct outcome *outcome)
{
	const struct plan *plan = outcome->plan;
	int width = set_width(text->arena, &outcome->cost);
	text_add(
		text, "%-20s %12s %12s  %-*s", "phase of", "cycles", "estimate", width, "bound by");
	for (int r = 0; r < RESOURCE_COUNT; r++)
		text_add(text, " %10s", resource_names[r]);
	text_add(text, "\n");
	for (int p = 0; p < outcome->cost.phase_count; p++) {
		const struct phase_cost *phase = &outcome->cost.phases[p];
		text_add(text, "%-20s %12" PRId64 " %12" PRId64 "  %-*s",
			plan->workload->ops[plan->steps[phase->end_step - 1].op].name,
			phase->cycles, phase->estimate, width,
			set_text(text->arena, slowest(phase)));
		for (int r = 0; r < RESOURCE_COUNT; r++)
			text_add(text, " %10" PRId64, phase->resource[r]);
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

static void add_tensors(struct text *text, const struct plan *plan, const struct planning *planning)
{
	text_add(text, "\n%-20s %12s  %s\n", "not in LX", "bytes",
		"what breaks, or what it gains, with the same mappings");
	for (size_t t = 0; t < plan->workload->tensor_count; t++) {
		const struct tensor *tensor = &plan->workload->tensors[t];
		struct arena *scratch = arena_open();
		if (is_in_lx(plan, (int)t)) {
			arena_close(scratch);
			continue;
		}
		const char *why = has_copy_in_lx(plan, (int)t)
					  ? "a move brings it into LX for its readers"
					  : lx_try(plan, planning, (int)t, scratch).text;
		text_add(
			text, "%-20s %12" PRId64 "  %s\n", tensor->name, tensor->layout.bytes, why);
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

enum { SOURCE_WIDTH = 78 };

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
			text_fold(text, SOURCE_WIDTH, "    ",
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
	add_tensors(&text, outcome->plan, planning);
	add_worths(&text, worths);
	energy_text(&text, outcome, false);
	return text_read(&text);
}
