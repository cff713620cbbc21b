#ifndef REPORT_PLAN_RESULTS_H
#define REPORT_PLAN_RESULTS_H

#include "report/run/run_json.h"
#include "search/graph/explore.h"

/* The results folder of a graph: columns of report/run/pareto.h; a plan is that of
 * model/graph/plan_file.h. */
struct arena;

const char *plan_pareto_csv(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier);

/* The fastest and the leanest point; NULL where the first objective is not the latency. */
const char *plan_summary(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier);

/* For people: the best points (summary_choose), without `all`; with it also why executions of points take longer
 * than the model says. */
const char *plan_pareto_table(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier, bool all);

const char *plan_run_json(
	struct arena *arena, const struct run_record *record, const struct explored *explored);

#endif
