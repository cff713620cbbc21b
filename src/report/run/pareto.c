#include "report/run/pareto.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "report/run/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct csv_cells csv_cells(struct arena *arena, const char **line)
{
	struct csv_cells cells = {0};
	const char *at = *line, *end = at + strcspn(at, "\n");
	while (at <= end) {
		struct text cell = text_open(arena);
		bool quoted = at < end && *at == '"';
		at += quoted;
		if (quoted && at + 1 < end && *at == '\'' && strchr("=@+-\t\r", at[1]))
			at++;
		for (; at < end && (quoted || *at != ','); at++) {
			if (quoted && *at == '"' && (at + 1 == end || at[1] != '"')) {
				quoted = false;
				continue;
			}
			at += quoted && *at == '"';
			text_bytes(&cell, at, 1);
		}
		*array_add(arena, &cells) = text_read(&cell);
		at++;
	}
	*line = end + (*end == '\n');
	return cells;
}

static json_t *cell_value(const char *cell)
{
	json_t *number =
		strchr("-0123456789", *cell) ? json_loads(cell, JSON_DECODE_ANY, NULL) : NULL;
	return number ? number : *cell ? json_string(cell) : json_null();
}

json_t *csv_rows(struct arena *arena, const char *csv)
{
	json_t *rows = json_array();
	struct csv_cells names = csv_cells(arena, &csv);
	while (*csv) {
		struct csv_cells cells = csv_cells(arena, &csv);
		json_t *row = json_object();
		for (size_t i = 0; i < names.count && i < cells.count; i++)
			json_object_set_new(row, names.at[i], cell_value(cells.at[i]));
		json_array_append_new(rows, row);
	}
	return rows;
}

/* The values of a row; a text that is NULL and a number that is not there are empty cells. */
struct values {
	int64_t number;
	struct score score;
	struct execution execution;
	double nanoseconds, estimate_nanoseconds, edp, ratio, gap;
	const char *agrees, *executed, *proof, *solver, *mapping, *plan;
};

enum type { INTEGER, REAL, TEXT };

#define AT(member) offsetof(struct values, member)
static const struct column {
	const char *name;
	enum pareto_group group;
	enum type type;
	size_t at;
	bool executed; /* empty unless an execution finished */
} pareto_columns[] = {
	{"point", PARETO_ALWAYS, INTEGER, AT(number), false},
	{"latency_cycles", PARETO_ALWAYS, INTEGER, AT(score.cycles), false},
	{"latency_ns", PARETO_TIME, REAL, AT(nanoseconds), false},
	{"energy_pj", PARETO_ENERGY, REAL, AT(score.energy_pj), false},
	{"edp", PARETO_ENERGY, REAL, AT(edp), false},
	{"hbm_bytes", PARETO_ENERGY, INTEGER, AT(score.hbm_bytes), false},
	{"lx_peak_bytes", PARETO_CORES, INTEGER, AT(score.lx_peak_bytes), false},
	{"cores", PARETO_CORES, INTEGER, AT(score.cores), false},
	{"utilization", PARETO_USE, REAL, AT(score.utilization), false},
	{"sim_cycles", PARETO_CLOCKED, INTEGER, AT(execution.cycles), true},
	{"sim_energy_pj", PARETO_ENERGY, REAL, AT(execution.energy_pj), true},
	{"sim_hbm_bytes", PARETO_ENERGY, INTEGER, AT(execution.hbm_bytes), true},
	{"sim_agrees", PARETO_ALWAYS, TEXT, AT(agrees), true},
	{"sim_ratio", PARETO_CLOCKED, REAL, AT(ratio), true},
	{"executed", PARETO_ALWAYS, TEXT, AT(executed), true},
	{"proof", PARETO_ALWAYS, TEXT, AT(proof), false},
	{"gap", PARETO_ALWAYS, REAL, AT(gap), false},
	{"solver", PARETO_ALWAYS, TEXT, AT(solver), false},
	{"mapping", PARETO_ALWAYS, TEXT, AT(mapping), false},
	{"plan", PARETO_ALWAYS, TEXT, AT(plan), false},
	{"pes", PARETO_ARRAY, INTEGER, AT(score.pes), false},
	{"registers", PARETO_ARRAY, INTEGER, AT(score.registers), false},
	{"ports", PARETO_ARRAY, INTEGER, AT(score.ports), false},
	{"wire", PARETO_ARRAY, INTEGER, AT(score.wire), false},
	{"link_bytes", PARETO_LINKS, INTEGER, AT(score.link_bytes), false},
	{"buffer_bytes", PARETO_LINKS, INTEGER, AT(score.buffer_bytes), false},
	{"rounds", PARETO_ROUNDS, INTEGER, AT(score.rounds), false},
	{"estimate_cycles", PARETO_ESTIMATE, INTEGER, AT(score.estimate_cycles), false},
	{"estimate_ns", PARETO_ESTIMATE, REAL, AT(estimate_nanoseconds), false},
};
enum { COLUMNS = sizeof pareto_columns / sizeof *pareto_columns };

const char *pareto_plan_path(struct arena *arena, size_t i)
{
	return arena_format(arena, "plans/point-%03zu.yaml", i + 1);
}

void pareto_head(struct text *text)
{
	for (int c = 0; c < COLUMNS; c++)
		text_add(text, "%s%s", c ? "," : "", pareto_columns[c].name);
}

/* The ports of an array are not known where they are too many to count, and a gap only with a
 * bound. */
static bool column_applies(const struct column *column, const struct pareto_row *row)
{
	enum proof_status proof = row->found->proof;
	if (column->at == AT(gap))
		return proof == PROOF_OPTIMAL || proof == PROOF_BOUND;
	if (column->at == AT(score.ports) && row->score->ports < 0)
		return false;
	return (row->groups & column->group) == (unsigned)column->group &&
	       (!column->executed || row->found->execution.finished);
}

void pareto_add(struct text *text, size_t number, const struct pareto_row *row)
{
	const struct found *found = row->found;
	const struct execution *execution = &found->execution;
	const struct values values = {
		.number = (int64_t)number,
		.score = *row->score,
		.execution = *execution,
		.nanoseconds = row->nanoseconds,
		.estimate_nanoseconds = row->estimate_nanoseconds,
		.edp = objective_value(OBJECTIVE_EDP, row->score),
		.ratio = execution_ratio(execution, row->score->cycles),
		.gap = found->proof == PROOF_BOUND ? found->gap : 0,
		.agrees = execution->agrees ? "true" : "false",
		.executed = execution_name(execution),
		.proof = proof_names[found->proof],
		.solver = row->solver,
		.mapping = row->mapping,
		.plan = row->plan,
	};
	for (int c = 0; c < COLUMNS; c++) {
		const void *at = (const char *)&values + pareto_columns[c].at;
		text_add(text, "%s", c ? "," : "");
		if (!column_applies(&pareto_columns[c], row))
			continue;
		if (pareto_columns[c].type == INTEGER)
			text_add(text, "%" PRId64, *(const int64_t *)at);
		else if (pareto_columns[c].type == REAL)
			text_add(text, "%.17g", *(const double *)at);
		else
			csv_field(text, *(const char *const *)at);
	}
}

const char *pareto_csv(struct arena *arena, const struct frontier *frontier,
	void (*complete)(const void *self, const struct point *point, struct arena *arena,
		struct pareto_row *row),
	const void *self)
{
	struct text text = text_open(arena);
	pareto_head(&text);
	text_add(&text, "\n");
	for (size_t i = 0; i < frontier->count; i++) {
		const struct point *point = &frontier->points[i];
		const struct found *found = point->payload;
		struct pareto_row row = {
			.score = &point->score,
			.found = found,
			.solver = found->solver,
			.mapping = point->key,
			.plan = pareto_plan_path(arena, i),
		};
		complete(self, point, arena, &row);
		pareto_add(&text, i + 1, &row);
		text_add(&text, "\n");
	}
	return text_read(&text);
}

static void summary_add_point(
	struct text *text, const char *title, const struct summary_point *point)
{
	text_add(text, "%s: point %zu, %s (%s), %s%s%s\n", title, point->number,
		amount_text(text->arena, AMOUNT_TIME, point->nanoseconds), point->proof,
		amount_text(text->arena, AMOUNT_ENERGY, point->energy_pj),
		*point->bound ? "; bound by " : "", point->bound);
}

const char *summary_text(struct arena *arena, const struct summary_point *fastest,
	const struct summary_point *leanest)
{
	struct text text = text_open(arena);
	bool one = leanest && leanest->number == fastest->number;
	summary_add_point(&text, one ? "fastest and leanest" : "fastest", fastest);
	if (leanest && !one)
		summary_add_point(&text, "leanest", leanest);
	return text_read(&text);
}

const char *summary_proof(struct arena *arena, const struct found *found, double value)
{
	if (found->proof == PROOF_OPTIMAL)
		return "proven";
	if (found->proof != PROOF_BOUND || !(value > 0))
		return "not proven";
	return arena_format(arena, "within %.1f %%", ceil(found->gap / value * 1000) / 10);
}

size_t summary_least(const struct frontier *frontier, enum objective objective)
{
	size_t least = 0;
	for (size_t i = 1; i < frontier->count; i++)
		if (objective_value(objective, &frontier->points[i].score) <
			objective_value(objective, &frontier->points[least].score))
			least = i;
	return least;
}

size_t summary_proven(const struct frontier *frontier)
{
	size_t proven = 0;
	for (size_t i = 0; i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		proven += found->proof == PROOF_OPTIMAL;
	}
	return proven;
}

const char *summary_bests(
	struct arena *arena, const struct frontier *frontier, const char *const *names)
{
	struct text text = text_open(arena);
	for (size_t k = 0; k < frontier->objectives.count; k++) {
		enum objective objective = frontier->objectives.at[k];
		size_t best = summary_least(frontier, objective);
		text_add(&text, "%s%s: point %zu (%s)", k ? ", " : "least ", names[k], best + 1,
			objective_value_text(arena, objective,
				objective_value(objective, &frontier->points[best].score)));
	}
	text_add(&text, "\n");
	return text_read(&text);
}

void summary_choose(const struct frontier *frontier, bool *shown)
{
	size_t room = SUMMARY_ROWS;
	for (size_t i = 0; i < frontier->count; i++)
		shown[i] = false;
	for (size_t k = 0; frontier->count && k < frontier->objectives.count && room; k++) {
		size_t best = summary_least(frontier, frontier->objectives.at[k]);
		room -= !shown[best];
		shown[best] = true;
	}
	for (size_t i = 0; i < frontier->count && room; i++) {
		room -= !shown[i];
		shown[i] = true;
	}
}
