#ifndef REPORT_TRACE_H
#define REPORT_TRACE_H

#include "search/graph/evaluate.h"

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
