#ifndef REPORT_GRAPH_TIMELINE_H
#define REPORT_GRAPH_TIMELINE_H

#include "search/graph/evaluate.h"

#include <jansson.h>

/*
 * When each engine worked on each step of an execution, all cores together, for drawings.  A list by step, then
 * engine: {step, engine, from, to, busy}, in nanoseconds; `busy` is the mean over the cores that have the
 * engine at work.  The simulation must have kept its trace.
 */
struct arena;
json_t *timeline_json(struct arena *arena, const struct outcome *outcome);

/* What the machine of a plan can do at most: HBM bytes and operations of all cores each nanosecond, bytes of LX. */
json_t *timeline_machine(const struct outcome *outcome);

/*
 * When every instruction ran, in the trace-event format that Perfetto and
 * chrome://tracing open: a process for each core, a thread for each engine,
 * microseconds.  What several cores do in the same tile is one event, of the first of them and at its
 * time, unless `each_core`: `cores` has all of them, all_end_us when the last one ends, and
 * all_busy_us the sum of their times, where these are not those of the event.
 * The simulation must have kept its trace.
 */
struct arena;
const char *trace_json(struct arena *arena, const struct outcome *outcome, bool each_core);

#endif
