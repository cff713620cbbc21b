#include "report/nest/nest_row.h"

#include "report/run/pareto.h"

#include <inttypes.h>
#include <string.h>

static const char *word(bool value)
{
	return value ? "true" : "false";
}

static void add_execution(struct text *text, const struct nest_row *row)
{
	const struct execution *execution = &row->found->execution;
	if (execution->finished && execution->mode == SIM_DATA)
		text_add(text, "%" PRId64 ",%.17g,%" PRId64 ",%s,%.17g,data,", execution->cycles,
			execution->energy_pj, execution->hbm_bytes, word(execution->agrees),
			execution_ratio(execution, row->score->cycles));
	else if (execution->finished)
		text_add(text, ",%.17g,%" PRId64 ",%s,,count,", execution->energy_pj,
			execution->hbm_bytes, word(execution->agrees));
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
	text_add(text, "%s,", proof_names[row->found->proof]);
	if (row->found->proof == PROOF_OPTIMAL || row->found->proof == PROOF_BOUND)
		text_add(text, "%.17g", row->found->gap);
	/* a mapping may have commas, and never quotes */
	const char *quote = strchr(row->mapping, ',') ? "\"" : "";
	text_add(text, ",%s,%s%s%s,%s,,,,,,,", row->solver, quote, row->mapping, quote, row->plan);
	const struct objectives *objectives = &search->wishes.objectives;
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(text, ",%" PRId64,
				score->accesses[objectives->at[k] - OBJECTIVE_ACCESSES]);
	text_add(text, "\n");
}

void nest_row_head(struct text *text, const struct nest_search *search)
{
	const struct objectives *objectives = &search->wishes.objectives;
	text_add(text, "%s", pareto_header);
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(text, ",%s",
				objective_text(text->arena, objectives->at[k], search->hierarchy));
	text_add(text, "\n");
}
