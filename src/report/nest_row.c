#include "report/nest_row.h"

#include "model/plan_file.h"
#include "report/pareto.h"

#include <inttypes.h>
#include <string.h>

double nest_row_ratio(const struct score *score, const struct nest_execution *execution)
{
	return score->cycles ? (double)execution->cycles / (double)score->cycles : 1;
}

const char *nest_row_executed(const struct nest_execution *execution)
{
	return !execution->finished ? "" : execution->data ? "data" : "count";
}

static const char *word(bool value)
{
	return value ? "true" : "false";
}

static void add_execution(struct text *text, const struct nest_row *row)
{
	const struct nest_execution *execution = row->execution;
	if (execution->finished && execution->data)
		text_add(text, "%" PRId64 ",%.17g,%" PRId64 ",%s,%.17g,data,", execution->cycles,
			execution->energy_pj, execution->outer_bytes, word(execution->agrees),
			nest_row_ratio(row->score, execution));
	else if (execution->finished)
		text_add(text, ",%.17g,%" PRId64 ",%s,,count,", execution->energy_pj,
			execution->outer_bytes, word(execution->agrees));
	else
		text_add(text, ",,,,,,");
}

void nest_row_add(struct text *text, const struct nest_search *search, size_t number,
	const struct nest_row *row)
{
	const struct score *score = row->score;
	text_add(text, "%zu,%" PRId64 ",%.17g,%.17g,%.17g,%" PRId64 ",,,%.17g,", number,
		score->cycles, (double)score->cycles * search->hierarchy->clock_ns,
		score->energy_pj, score->energy_pj * (double)score->cycles, score->hbm_bytes,
		score->utilization);
	add_execution(text, row);
	text_add(text, "%s,", proof_names[row->proof]);
	if (row->proof == PROOF_OPTIMAL || row->proof == PROOF_BOUND)
		text_add(text, "%.17g", row->gap);
	/* a mapping may have commas, and never quotes */
	const char *quote = strchr(row->mapping, ',') ? "\"" : "";
	text_add(text, ",%s,%s%s%s,%s,,,,,,,", row->solver, quote, row->mapping, quote, row->plan);
	const struct objectives *objectives = &search->objectives;
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(text, ",%" PRId64,
				score->accesses[objectives->at[k] - OBJECTIVE_ACCESSES]);
	text_add(text, "\n");
}

void nest_row_head(struct text *text, const struct nest_search *search)
{
	const struct objectives *objectives = &search->objectives;
	text_add(text, "%s", pareto_header);
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(text, ",%s",
				objective_text(text->arena, objectives->at[k], search->hierarchy));
	text_add(text, "\n");
}

json_t *nest_row_counters(const struct nest_explored *explored)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "evaluated",
		(json_int_t)explored->evaluated, "ticks", (json_int_t)explored->ticks, "states",
		(json_int_t)explored->states, "edges", (json_int_t)explored->edges, "labels",
		(json_int_t)explored->labels, "offered", (json_int_t)explored->offered, "refused",
		(json_int_t)explored->refused, "simulated", (json_int_t)explored->simulated,
		"not_simulated", (json_int_t)explored->unsimulated, "simulator_events",
		(json_int_t)explored->events, "disagreed", (json_int_t)explored->disagreed);
}
