#ifndef REPORT_NEST_RESULTS_H
#define REPORT_NEST_RESULTS_H

#include "base/text.h"
#include "report/run/run_json.h"
#include "search/nest/nest_search.h"

/*
 * The results folder of a problem: the same files and columns as a graph's
 * (report/run/pareto.h, report/run/run_json.h).  `hbm_bytes` are the bytes of the outermost
 * storage; a plan is the mapping as Timeloop's directives, which score, simulate and
 * check read; columns of graphs alone are empty.
 */
struct arena;

const char *nest_pareto_csv(
	struct arena *arena, const struct nest_search *search, const struct explored *explored);

/* What the results of problems and of networks have in common. */
struct listing;
struct nest_row {
	const struct score *score;
	const struct found *found;
	const char *solver, *mapping, *plan;
};

/* The header of pareto.csv, and a row of it. */
void nest_row_head(struct text *text, const struct nest_search *search);
void nest_row_add(struct text *text, const struct nest_search *search, size_t number,
	const struct nest_row *row);

/* The cells of a point for people, under these titles, and one cell more. */
#define NEST_TITLES "point", "cycles", "energy", "use", "sim/model", "executed", "proof"
void nest_cells_add(struct listing *listing, struct arena *arena, size_t number,
	const struct score *score, const struct found *found);

/* The fastest and the leanest mapping; NULL where the first objective is not the latency. */
const char *nest_points_summary(
	struct arena *arena, const struct nest_search *search, const struct explored *explored);

/* For people: the best points (summary_choose), or all. */
const char *nest_pareto_table(struct arena *arena, const struct nest_search *search,
	const struct explored *explored, bool all);

/* The file of one point, with its line of text and its figures as comments. */
const char *nest_plan_yaml(
	struct arena *arena, const struct nest_search *search, const struct point *point);

const char *nest_run_json(struct arena *arena, const struct run_record *record,
	const struct nest_search *search, const struct explored *explored);

#endif
