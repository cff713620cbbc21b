#include "report/nest/nest_trace_json.h"

#include "base/arena.h"
#include "report/run/trace_lines.h"

enum { ROW_RUN, ROW_MULTIPLIERS, ROW_LEVELS }; /* from the last one on two for each level */

static int row_of(const struct nest_span *span)
{
	return span->work == NEST_COMPUTES
		       ? ROW_MULTIPLIERS
		       : ROW_LEVELS + 2 * span->level + (span->work == NEST_TILE);
}

/* Rows without anything in them are not named, and so not shown. */
static void name_rows(
	struct text *text, const struct hierarchy *hierarchy, const struct nest_trace *trace)
{
	bool used[ROW_LEVELS + 2 * ARCH_LEVELS_MOST] = {[ROW_RUN] = true};
	for (size_t i = 0; i < trace->spans.count; i++)
		used[row_of(&trace->spans.at[i])] = true;
	trace_process(text, 0, "problem");
	trace_thread(text, 0, ROW_RUN, "run");
	trace_thread(text, 0, ROW_MULTIPLIERS, hierarchy->compute_name);
	for (int i = 0; i < hierarchy->level_count; i++) {
		const char *name = hierarchy->levels[i].name;
		if (used[ROW_LEVELS + 2 * i])
			trace_thread(text, 0, ROW_LEVELS + 2 * i, name);
		if (used[ROW_LEVELS + 2 * i + 1])
			trace_thread(text, 0, ROW_LEVELS + 2 * i + 1,
				arena_format(text->arena, "%s tiles", name));
	}
}

const char *nest_trace_json(struct arena *arena, const struct hierarchy *hierarchy,
	const struct nest_trace *trace, int64_t cycles)
{
	static const char *const names[] = {"compute", "fill", "drain", "wait", "tile"};
	struct text text = trace_open(arena);
	double us = hierarchy->clock_ns / 1e3, us_per_tick = us / (double)trace->ticks_per_cycle;
	name_rows(&text, hierarchy, trace);
	trace_event(&text, "run", 0, ROW_RUN, 0, (double)cycles * us,
		json_pack("{s:I}", "cycles", (json_int_t)cycles));
	for (size_t i = 0; i < trace->spans.count; i++) {
		const struct nest_span *span = &trace->spans.at[i];
		trace_event(&text, names[span->work], 0, row_of(span),
			(double)span->from * us_per_tick,
			(double)(span->to - span->from) * us_per_tick, json_object());
	}
	return trace_end(&text);
}
