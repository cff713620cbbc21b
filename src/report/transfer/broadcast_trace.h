#ifndef REPORT_BROADCAST_TRACE_H
#define REPORT_BROADCAST_TRACE_H

#include "search/transfer/broadcast_search.h"

/*
 * When every copy, vector step, notice and message ran, in the trace-event format: a process for
 * each rank with a thread for each queue, and one with a thread for each link that was taken.
 */
const char *broadcast_trace_json(struct arena *arena, const struct broadcast_outcome *outcome,
	const struct broadcast_trace *trace, double clock_ns);

#endif
