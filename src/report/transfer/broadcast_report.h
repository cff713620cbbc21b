#ifndef REPORT_BROADCAST_REPORT_H
#define REPORT_BROADCAST_REPORT_H

#include "report/run/json.h"
#include "search/transfer/broadcast_search.h"

#include <jansson.h>

/*
 * Reports of a broadcast.  `score` and `simulate` print one object: feasible, op, way,
 * path, cycles, latency_ns, chunks, loads, stores, flags, bytes_loaded, bytes_stored, link_bytes,
 * buffer_bytes, rounds, bound_cycles, of an algorithm bound_rounds, offsets of the staging tiles,
 * of a reduction combines, and as published what other numbers of tiles would take; a simulation
 * adds executed, agrees and the fault.
 */
struct arena;
json_t *broadcast_json(struct arena *arena, const struct broadcast_outcome *outcome,
	double clock_ns, bool simulated);
const char *broadcast_text(struct arena *arena, const json_t *tree);

/* The results folder: the columns of report/run/pareto.h; a plan is a `broadcast:` that score,
 * simulate and check read. */
const char *broadcast_pareto_csv(
	struct arena *arena, const struct explored *explored, double clock_ns);
const char *broadcast_table(struct arena *arena, const struct explored *explored, double clock_ns);
const char *broadcast_plan_yaml(struct arena *arena, const struct point *point);
const char *broadcast_run_json(
	struct arena *arena, const struct run_record *record, const struct explored *explored);

/*
 * When every copy, vector step, notice and message ran, in the trace-event format: a process for
 * each rank with a thread for each queue, and one with a thread for each link that was taken.
 */
const char *broadcast_trace_json(struct arena *arena, const struct broadcast_outcome *outcome,
	const struct broadcast_trace *trace, double clock_ns);

#endif
