#include "report/graph/plan_results.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "report/run/json_text.h"
#include "report/run/listing.h"
#include "report/run/pareto.h"
#include "report/run/run_json.h"
#include "report/run/summary.h"

#include <inttypes.h>
#include <math.h>

static void complete_row(
	const void *arch, const struct point *point, struct arena *arena, struct pareto_row *row)
{
	row->groups = PARETO_TIME | PARETO_ENERGY | PARETO_CORES | PARETO_USE | PARETO_CLOCKED |
		      PARETO_ESTIMATE | (point->score.buffer_bytes ? PARETO_LINKS : 0);
	row->nanoseconds = arch_nanoseconds(arch, point->score.cycles);
	row->estimate_nanoseconds = arch_nanoseconds(arch, point->score.estimate_cycles);
	row->mapping = "";
}

const char *plan_pareto_csv(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier)
{
	return pareto_csv(arena, frontier, complete_row, arch);
}

/* How near a point is to what is proven. */
static const char *proof_text(
	struct arena *arena, const struct point *point, enum objective objective)
{
	const struct found *found = point->payload;
	return summary_proof(arena, found, objective_value(objective, &point->score));
}

/* The one or two limiters that take most of the cycles of a point. */
static const char *limits_text(struct arena *arena, const struct plan_found *found)
{
	struct text text = text_open(arena);
	int64_t all = 0;
	int first = 0, second = -1;
	for (int l = 0; l < LIMITER_COUNT; l++)
		all += found->limits[l];
	for (int l = 1; l < LIMITER_COUNT; l++)
		if (found->limits[l] > found->limits[first])
			first = l;
	for (int l = 0; l < LIMITER_COUNT; l++)
		if (l != first && (second < 0 || found->limits[l] > found->limits[second]))
			second = l;
	for (int k = 0; k < 2; k++) {
		int l = k ? second : first;
		double part = all > 0 ? 100 * (double)found->limits[l] / (double)all : 0;
		if (part >= 1)
			text_add(&text, "%s%s %.0f %%", k ? ", " : "", limiter_names[l], part);
	}
	return text_read(&text);
}

static struct summary_point point_at(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier, size_t i)
{
	const struct score *score = &frontier->points[i].score;
	bool estimated = score->price == PRICE_ESTIMATE;
	return (struct summary_point){i + 1,
		arch_nanoseconds(arch, estimated ? score->estimate_cycles : score->cycles),
		score->energy_pj,
		proof_text(arena, &frontier->points[i], frontier->objectives.at[0]),
		limits_text(arena, frontier->points[i].payload)};
}

const char *plan_summary(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier)
{
	struct summary_point fastest, leanest;
	if (!frontier->count || frontier->objectives.at[0] != OBJECTIVE_LATENCY)
		return NULL;
	fastest = point_at(arena, arch, frontier, summary_least(frontier, OBJECTIVE_LATENCY));
	leanest = point_at(arena, arch, frontier, summary_least(frontier, OBJECTIVE_ENERGY));
	const char *assumed = arch_assumed_energies(arena, arch);
	return arena_format(arena, "%s%s%s%s",
		summary_text(arena, &fastest,
			objectives_have(&frontier->objectives, OBJECTIVE_ENERGY) ? &leanest : NULL),
		*assumed ? "energies are assumed, not measured: " : "", assumed,
		*assumed ? "\n" : "");
}

/* What the words behind the solvers mean. */
static void explain_proofs(struct text *text, const struct frontier *frontier)
{
	const struct objectives *objectives = &frontier->objectives;
	bool any = false;
	for (size_t i = 0; i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		any |= found->proof == PROOF_OPTIMAL || found->proof == PROOF_BOUND;
	}
	if (!any)
		return;
	enum objective first = objectives->at[0];
	bool estimated =
		first == OBJECTIVE_LATENCY && frontier->points[0].score.price == PRICE_ESTIMATE;
	text_add(text, "proven: no plan of the space searched has less %s",
		estimated ? "estimated latency" : objective_names[first]);
	for (size_t k = 1; k < objectives->count; k++)
		text_add(text, "%s%s",
			k == 1                       ? "\nand no more "
			: k + 1 == objectives->count ? " or "
						     : ", ",
			objective_names[objectives->at[k]]);
	text_add(text, "; within N %%: none has more than N %% less;\n"
		       "'fixed' under proof_spaces in run.json names what that space leaves out\n");
}

/* The amounts of a point in the order of the columns of the table, and their kinds. */
enum { AMOUNTS = 5 };
static const enum amount amount_kinds[AMOUNTS] = {
	AMOUNT_TIME, AMOUNT_TIME, AMOUNT_ENERGY, AMOUNT_BYTES, AMOUNT_BYTES};

static double amount_at(const struct arch *arch, const struct score *score, int column)
{
	switch (column) {
	case 0:
		return arch_nanoseconds(arch, score->cycles);
	case 1:
		return arch_nanoseconds(arch, score->estimate_cycles);
	case 2:
		return score->energy_pj;
	case 3:
		return (double)score->hbm_bytes;
	default:
		return (double)score->lx_peak_bytes;
	}
}

static void find_units(
	const struct arch *arch, const struct frontier *frontier, const struct amount_unit **units)
{
	for (int k = 0; k < AMOUNTS; k++) {
		double most = 0;
		for (size_t i = 0; i < frontier->count; i++)
			most = fmax(most, amount_at(arch, &frontier->points[i].score, k));
		units[k] = amount_unit(amount_kinds[k], most);
	}
}

/* The latency is that of the price in force, then comes the other one. */
static void add_amounts(struct listing *listing, struct arena *arena, const struct arch *arch,
	const struct score *score, const struct amount_unit *const *units)
{
	for (int i = 0; i < AMOUNTS; i++) {
		int k = i < 2 && score->price == PRICE_ESTIMATE ? 1 - i : i;
		listing_cell(listing, "%s", amount_in(arena, amount_at(arch, score, k), units[k]));
	}
}

/* Why executions take longer than the model says: of each point, or how many there are. */
static void add_reasons(struct text *text, const struct frontier *frontier, bool all)
{
	size_t count = 0, last = 0;
	for (size_t i = 0; i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		if (!found->execution.why_longer)
			continue;
		count++;
		last = i;
		if (all)
			text_add(text, "point %zu, simulated against modelled: %s\n", i + 1,
				found->execution.why_longer);
	}
	if (all || !count)
		return;
	if (count == 1)
		text_add(text, "point %zu takes longer when simulated; -v says why\n", last + 1);
	else
		text_add(text, "%zu points take longer when simulated; -v says why\n", count);
}

const char *plan_pareto_table(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier, bool all)
{
	bool estimated = frontier->count && frontier->points[0].score.price == PRICE_ESTIMATE;
	const char *titles[] = {"point", "latency", estimated ? "bound" : "estimate", "energy",
		"HBM", "LX peak", "cores", "sim/model", "executed", "<solver", NULL};
	struct listing *listing = listing_open(arena, titles);
	struct text text = text_open(arena);
	const struct amount_unit *units[AMOUNTS];
	bool *shown = arena_array(arena, bool, frontier->count);
	find_units(arch, frontier, units);
	summary_choose(frontier, shown);
	for (size_t i = 0; i < frontier->count; i++) {
		if (!all && !shown[i])
			continue;
		const struct point *point = &frontier->points[i];
		const struct found *found = point->payload;
		const struct execution *execution = &found->execution;
		listing_cell(listing, "%zu", i + 1);
		add_amounts(listing, arena, arch, &point->score, units);
		listing_cell(listing, "%" PRId64, point->score.cores);
		if (execution->finished)
			listing_cell(listing, "%.3f%s",
				execution_ratio(execution, point->score.cycles),
				execution->agrees ? "" : " !");
		else
			listing_cell(listing, "-");
		listing_cell(listing, "%s", execution->finished ? execution_name(execution) : "-");
		listing_cell(listing, "%s%s%s", found->solver,
			found->proof == PROOF_NONE ? "" : ", ",
			found->proof == PROOF_NONE
				? ""
				: proof_text(arena, point, frontier->objectives.at[0]));
	}
	text_add(&text, "%s", listing_text(listing));
	if (!all && frontier->count > SUMMARY_ROWS)
		text_add(&text, "%zu more points: pareto.csv, or -v\n",
			frontier->count - SUMMARY_ROWS);
	explain_proofs(&text, frontier);
	add_reasons(&text, frontier, all);
	return text_read(&text);
}

static json_t *make_points(const struct explored *explored)
{
	json_t *list = json_array();
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct plan_found *found = explored->frontier.points[i].payload;
		const struct execution *execution = &found->common.execution;
		json_t *point = json_pack("{s:I, s:s, s:i, s:b}", "point", (json_int_t)i + 1,
			"solver", found->common.solver, "cores_allowed",
			found->recipe.planning.cores, "k_fast", found->recipe.planning.k_fast);
		json_object_set_new(point, "proof", json_string(proof_names[found->common.proof]));
		if (found->common.proof == PROOF_BOUND)
			json_object_set_new(point, "bound", json_real(found->common.bound));
		if (execution->finished)
			json_object_set_new(
				point, "executed", json_string(execution_name(execution)));
		if (execution->finished && execution->mode == SIM_DATA)
			json_object_set_new(
				point, "worst_ulps", json_real_or_infinite(execution->worst_ulps));
		if (execution->worst_tensor)
			json_object_set_new(
				point, "worst_tensor", json_string(execution->worst_tensor));
		if (execution->off_tensor)
			json_object_set_new(point, "off",
				json_pack("{s:s, s:o, s:o}", "tensor", execution->off_tensor,
					"ulps", json_real_or_infinite(execution->off_ulps),
					"ulps_stated", json_real_or_infinite(execution->off_most)));
		if (execution->why_longer)
			json_object_set_new(
				point, "sim_ratio_because", json_string(execution->why_longer));
		json_array_append_new(list, point);
	}
	return list;
}

/* Which plans the proofs of points are about: a point may be proven by the bound of another plan's search. */
static json_t *proof_spaces(const struct explored *explored)
{
	const char *const *spaces = explored->more;
	json_t *list = json_array();
	for (; spaces && *spaces; spaces++)
		json_array_append_new(list, json_string(*spaces));
	return list;
}

const char *plan_run_json(
	struct arena *arena, const struct run_record *record, const struct explored *explored)
{
	json_t *root = run_head(record, arena);
	json_object_set_new(root, "counters", run_counters(&explored->effort));
	json_object_set_new(root, "points", make_points(explored));
	json_object_set_new(root, "proof_spaces", proof_spaces(explored));
	json_object_set_new(root, "refusals",
		run_texts(refusals_lines(&explored->refusals, arena), explored->refusals.count));
	return json_text(arena, root);
}
