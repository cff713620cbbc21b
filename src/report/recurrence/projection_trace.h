#ifndef REPORT_PROJECTION_TRACE_H
#define REPORT_PROJECTION_TRACE_H

#include "search/recurrence/project_search.h"

/*
 * An execution in the trace-event format (report/run/trace_lines.h): a row for each PE with the points that it
 * computes, a microsecond for a cycle.  NULL where more than PROJECTION_TRACE_MOST points were computed.
 */
enum { PROJECTION_TRACE_MOST = 2000000 };
const char *projection_trace_json(struct arena *arena, const struct project_found *found);

#endif
