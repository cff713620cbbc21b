#ifndef REPORT_NEST_ROW_H
#define REPORT_NEST_ROW_H

#include "base/text.h"
#include "search/nest/nest_search.h"

/* What the results of problems and of networks have in common. */
struct nest_row {
	const struct score *score;
	const struct found *found;
	const char *solver, *mapping, *plan;
};

/* The header of pareto.csv, and a row of it. */
void nest_row_head(struct text *text, const struct nest_search *search);
void nest_row_add(struct text *text, const struct nest_search *search, size_t number,
	const struct nest_row *row);

#endif
