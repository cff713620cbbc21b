#include "report/recurrence/projection_trace.h"

#include "base/arena.h"
#include "report/run/trace_lines.h"

#include <inttypes.h>

enum { PROCESS_RUN, PROCESS_ARRAY };

/* "[1, 0]" */
static const char *place_text(struct arena *arena, const int64_t *place, int count)
{
	struct text text = text_open(arena);
	for (int i = 0; i < count; i++)
		text_add(&text, "%s%" PRId64, i ? ", " : "[", place[i]);
	text_add(&text, count ? "]" : "[]");
	return text_read(&text);
}

/* The place of a PE by its number in the box. */
static const char *pe_text(struct arena *arena, const struct visits *visits, int64_t pe)
{
	int64_t place[RECURRENCE_LOOPS_MOST];
	int rows = visits->projection->space_count;
	for (int r = rows - 1; r >= 0; r--) {
		place[r] = visits->least[r] + pe % visits->extents[r];
		pe /= visits->extents[r];
	}
	return arena_format(arena, "PE %s", place_text(arena, place, rows));
}

const char *projection_trace_json(struct arena *arena, const struct project_found *found)
{
	const struct visits *visits = found->execution.visits;
	struct text text = trace_open(arena);
	if (!visits || visits->count > PROJECTION_TRACE_MOST)
		return NULL;
	bool *named = arena_array(arena, bool, visits->pe_count);
	int64_t point[RECURRENCE_LOOPS_MOST];
	trace_process(&text, PROCESS_RUN, "run");
	trace_process(&text, PROCESS_ARRAY, "array");
	trace_event(&text, "run", PROCESS_RUN, 0, 0, (double)found->execution.cycles,
		json_pack("{s:I}", "cycles", (json_int_t)found->execution.cycles));
	for (size_t i = 0; i < visits->count; i++) {
		const struct visit *visit = &visits->at[i];
		if (!named[visit->pe])
			trace_thread(
				&text, PROCESS_ARRAY, visit->pe, pe_text(arena, visits, visit->pe));
		named[visit->pe] = true;
		visits_point(visits, visit->index, point);
		trace_event(&text, place_text(arena, point, found->spec->recurrence.loop_count),
			PROCESS_ARRAY, visit->pe, (double)(visit->time - visits->at[0].time), 1,
			json_object());
	}
	return trace_end(&text);
}
