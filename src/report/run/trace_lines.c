#include "report/run/trace_lines.h"

#include <stdlib.h>

struct text trace_open(struct arena *arena)
{
	struct text text = text_open(arena);
	text_add(&text, "[");
	return text;
}

const char *trace_end(struct text *text)
{
	text_add(text, "\n]\n");
	return text_read(text);
}

static void add_line(struct text *text, json_t *object)
{
	char *line = json_dumps(object, JSON_COMPACT);
	text_add(text, "%s%s", text->length > 1 ? ",\n" : "\n", line);
	free(line);
	json_decref(object);
}

void trace_process(struct text *text, int64_t process, const char *name)
{
	add_line(text, json_pack("{s:s, s:s, s:I, s:{s:s}}", "name", "process_name", "ph", "M",
			       "pid", (json_int_t)process, "args", "name", name));
}

void trace_thread(struct text *text, int64_t process, int64_t thread, const char *name)
{
	add_line(text,
		json_pack("{s:s, s:s, s:I, s:I, s:{s:s}}", "name", "thread_name", "ph", "M", "pid",
			(json_int_t)process, "tid", (json_int_t)thread, "args", "name", name));
}

void trace_event(struct text *text, const char *name, int64_t process, int64_t thread, double us,
	double us_long, json_t *arguments)
{
	add_line(text, json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:o}", "name", name, "ph", "X",
			       "pid", (json_int_t)process, "tid", (json_int_t)thread, "ts", us,
			       "dur", us_long, "args", arguments));
}
