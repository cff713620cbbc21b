#ifndef REPORT_GRAPH_RUN_H
#define REPORT_GRAPH_RUN_H

#include "report/run/run_json.h"
#include "search/graph/explore.h"

/* run.json of an exploration of plans; its points are of struct plan_found. */
const char *graph_run_json(
	struct arena *arena, const struct run_record *record, const struct explored *explored);

#endif
