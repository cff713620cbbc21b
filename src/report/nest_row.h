#ifndef REPORT_NEST_ROW_H
#define REPORT_NEST_ROW_H

#include "base/text.h"
#include "search/nest_search.h"

#include <jansson.h>

/* What the results of problems and of networks have in common. */
struct nest_row {
	const struct score *score;
	const struct nest_execution *execution;
	enum proof_status proof;
	double gap;
	const char *solver, *mapping, *plan;
};

/* The header of pareto.csv, and a row of it. */
void nest_row_head(struct text *text, const struct nest_search *search);
void nest_row_add(struct text *text, const struct nest_search *search, size_t number,
	const struct nest_row *row);

/* "data", "count", or "" when it was not executed. */
const char *nest_row_executed(const struct nest_execution *execution);

/* Simulated cycles over those of the model. */
double nest_row_ratio(const struct score *score, const struct nest_execution *execution);

/* What `counters` of run.json are. */
json_t *nest_row_counters(const struct nest_explored *explored);

#endif
