#ifndef REPORT_NEST_RESULTS_H
#define REPORT_NEST_RESULTS_H

#include "base/text.h"
#include "report/run/json.h"
#include "search/nest/nest_search.h"
#include "search/nest/network_search.h"

/*
 * The results folder of a problem: the same files and columns as a graph's
 * (report/run/pareto.h, report/run/json.h).  `hbm_bytes` are the bytes of the outermost
 * storage; a plan is the mapping as Timeloop's directives, which score, simulate and
 * check read; columns of graphs alone are empty.
 */
struct arena;

const char *nest_pareto_csv(
	struct arena *arena, const struct nest_search *search, const struct explored *explored);

/* Shared by the results of problems and of networks. */
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

/* Fills the objectives, with the levels of accesses by name, and the counting of a record. */
void nest_record_fill(
	struct run_record *record, const struct nest_search *search, struct arena *arena);

const char *nest_run_json(struct arena *arena, const struct run_record *record,
	const struct nest_search *search, const struct explored *explored);

/*
 * The results folder of a network:
 *
 *	pareto.csv         the frontier over the network, in the columns of a problem's; `mapping`
 *	                   is a choice, LAYER:POINT for each layer, and where occurrences of a layer
 *	                   differ LAYER:POINT*TIMES+POINT*TIMES; the points are those of layers.csv
 *	layers.csv         layer, count, same_as (the layer that it is the same as), and for each
 *	                   point of its frontier the columns of pareto.csv
 *	layers/            of each point of each distinct layer a problem with its mapping, which
 *	                   score, simulate and check read; LAYER.certificate.yaml is of its proof
 *	plans/             of a point of the network what each layer takes; where there are more
 *	                   points than NETWORK_PLANS_MOST, of which, `plan` is empty in
 *	                   the rows of the others
 *	run.json           what was run, counters of each layer and of all, what was solved once
 */
enum { NETWORK_PLANS_MOST = 256 };

const char *network_pareto_csv(
	struct arena *arena, const struct network_explored *explored, size_t chosen);
const char *network_layers_csv(struct arena *arena, const struct network_explored *explored);

/* The file of point i of layer l. */
const char *network_layer_path(
	struct arena *arena, const struct network_explored *explored, size_t l, size_t i);
const char *network_layer_yaml(
	struct arena *arena, const struct network_explored *explored, size_t l, size_t i);

/* True if point i is among `most` that are shown or have a plan: evenly many, both ends, the least
 * edp and the chosen one (SIZE_MAX: none is). */
bool network_shows(const struct network_explored *explored, size_t i, size_t chosen, size_t most);
const char *network_plan_yaml(
	struct arena *arena, const struct network_explored *explored, size_t i);

/* For people: a line a layer, a line a point, some of them where there are many. */
const char *network_table(
	struct arena *arena, const struct network_explored *explored, size_t chosen);

/* The fastest and the leanest point; NULL where the first objective is not the latency.  *proven: points that are. */
const char *network_summary(
	struct arena *arena, const struct network_explored *explored, size_t *proven);

/* Which points one point of the network takes, a line each. */
const char *network_choice_text(
	struct arena *arena, const struct network_explored *explored, size_t i);

const char *network_run_json(struct arena *arena, const struct run_record *record,
	const struct network_explored *explored, size_t chosen);

#endif
