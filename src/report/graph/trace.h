#ifndef REPORT_TRACE_H
#define REPORT_TRACE_H

#include "search/graph/evaluate.h"

/*
 * When every instruction ran, in the trace-event format that Perfetto and
 * chrome://tracing open: a process for each core, a thread for each engine,
 * microseconds.  What several cores do at the same time in the same tile is one
 * event of the lowest of them, with all of them in `cores`, unless `each_core`.
 * The simulation must have kept its trace.
 */
struct arena;
const char *trace_json(struct arena *arena, const struct outcome *outcome, bool each_core);

#endif
