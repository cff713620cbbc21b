#ifndef REPORT_NEST_NETWORK_RESULTS_H
#define REPORT_NEST_NETWORK_RESULTS_H

#include "report/run/run_json.h"
#include "search/nest/network_search.h"

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

struct arena;
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
