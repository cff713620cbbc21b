#include "report/nest/nest_row.h"

#include "report/run/pareto.h"

#include <inttypes.h>

void nest_row_add(struct text *text, const struct nest_search *search, size_t number,
	const struct nest_row *row)
{
	const struct objectives *objectives = &search->wishes.objectives;
	bool clocked = row->found->execution.mode == SIM_DATA;
	struct pareto_row common = {
		.groups = PARETO_TIME | PARETO_ENERGY | PARETO_USE | (clocked ? PARETO_CLOCKED : 0),
		.score = row->score,
		.found = row->found,
		.nanoseconds = (double)row->score->cycles * search->hierarchy->clock_ns,
		.solver = row->solver,
		.mapping = row->mapping,
		.plan = row->plan,
	};
	pareto_add(text, number, &common);
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(text, ",%" PRId64,
				row->score->accesses[objectives->at[k] - OBJECTIVE_ACCESSES]);
	text_add(text, "\n");
}

void nest_row_head(struct text *text, const struct nest_search *search)
{
	const struct objectives *objectives = &search->wishes.objectives;
	pareto_head(text);
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(text, ",%s",
				nest_objective_text(
					text->arena, objectives->at[k], search->hierarchy));
	text_add(text, "\n");
}
