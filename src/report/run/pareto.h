#ifndef REPORT_PARETO_H
#define REPORT_PARETO_H

#include "model/machine/arch.h"
#include "search/drive/drive.h"

/*
 * The frontier as CSV (for programs: header always, columns only ever appended,
 * doubles with 17 digits, a column that does not apply is empty) and as a
 * table (for people).
 */
struct arena;
extern const char pareto_header[]; /* of the CSV, without a line end */

const char *pareto_csv(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier);
const char *pareto_table(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier);

/* The file of point i (from 0) inside the results folder. */
const char *pareto_plan_path(struct arena *arena, size_t i);

#endif
