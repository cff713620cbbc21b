#ifndef REPORT_TRACE_LINES_H
#define REPORT_TRACE_LINES_H

#include "base/text.h"

#include <jansson.h>
#include <stdint.h>

/*
 * Events in the trace-event format that Perfetto and chrome://tracing open, one a line: a trace
 * may have millions, too many for a tree of them.
 */
struct text trace_open(struct arena *arena);
const char *trace_end(struct text *text);

/* What a process and its threads are called. */
void trace_process(struct text *text, int64_t process, const char *name);
void trace_thread(struct text *text, int64_t process, int64_t thread, const char *name);

/* Something that took its time; `arguments` are given away. */
void trace_event(struct text *text, const char *name, int64_t process, int64_t thread, double us,
	double us_long, json_t *arguments);

#endif
