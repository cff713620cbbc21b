#ifndef REPORT_NEST_TRACE_JSON_H
#define REPORT_NEST_TRACE_JSON_H

#include "model/nest/nest_score.h"
#include "model/nest/nest_trace.h"

/*
 * An execution in the trace-event format (report/run/trace_lines.h): rows for the whole run, for the multipliers, for
 * each level that they wait for, and for the tiles of each level.
 */
const char *nest_trace_json(struct arena *arena, const struct hierarchy *hierarchy,
	const struct nest_trace *trace, int64_t cycles);

#endif
