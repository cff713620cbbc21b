#include "report/trace.h"

#include "base/arena.h"
#include "base/text.h"

#include <jansson.h>
#include <stdlib.h>

/* One event a line: a trace may have millions, too many for a tree of them. */
static void add_line(struct text *text, json_t *object)
{
	char *line = json_dumps(object, JSON_COMPACT);
	text_add(text, "%s%s", text->length > 1 ? ",\n" : "\n", line);
	free(line);
	json_decref(object);
}

static void name_rows(struct text *text, int64_t cores)
{
	for (int64_t core = 0; core < cores; core++) {
		char name[32];
		snprintf(name, sizeof name, "core %d", (int)core);
		add_line(text, json_pack("{s:s, s:s, s:I, s:{s:s}}", "name", "process_name", "ph",
				       "M", "pid", (json_int_t)core, "args", "name", name));
		for (int engine = 0; engine < ENGINE_SYNC; engine++)
			add_line(
				text, json_pack("{s:s, s:s, s:I, s:i, s:{s:s}}", "name",
					      "thread_name", "ph", "M", "pid", (json_int_t)core,
					      "tid", engine, "args", "name", engine_names[engine]));
	}
}

static void add_run(struct text *text, const struct outcome *outcome, size_t i, double us_per_tick)
{
	const struct program *program = outcome->program;
	const struct instruction *instruction = &program->instructions[i];
	const struct sim_run_time *time = &outcome->sim.trace[i];
	if (instruction->engine == ENGINE_SYNC || time->end < time->start)
		return;
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	for (uint64_t mask = instruction->mask; mask; mask &= mask - 1)
		add_line(text,
			json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:{s:i, s:i, s:I}}", "name",
				op->name, "ph", "X", "pid", __builtin_ctzll(mask), "tid",
				(int)instruction->engine, "ts", (double)time->start * us_per_tick,
				"dur", (double)(time->end - time->start) * us_per_tick, "args",
				"step", instruction->step, "tile", instruction->tile, "instruction",
				(json_int_t)i));
}

const char *trace_json(struct arena *arena, const struct outcome *outcome)
{
	const struct arch *arch = outcome->plan->arch;
	struct text text = text_open(arena);
	double us_per_tick = arch_nanoseconds(arch, 1) / 1e3 / (double)outcome->sim.ticks_per_cycle;
	text_add(&text, "[");
	name_rows(&text, outcome->cost.score.cores);
	for (size_t i = 0; i < outcome->program->instruction_count; i++)
		add_run(&text, outcome, i, us_per_tick);
	text_add(&text, "\n]\n");
	return text_read(&text);
}
