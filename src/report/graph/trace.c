#include "report/graph/trace.h"

#include "base/arena.h"
#include "report/run/trace_lines.h"

static void name_rows(struct text *text, int64_t cores)
{
	for (int64_t core = 0; core < cores; core++) {
		trace_process(text, core, arena_format(text->arena, "core %d", (int)core));
		for (int engine = 0; engine < ENGINE_SYNC; engine++)
			trace_thread(text, core, engine, engine_names[engine]);
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
		trace_event(text, op->name, __builtin_ctzll(mask), (int64_t)instruction->engine,
			(double)time->start * us_per_tick,
			(double)(time->end - time->start) * us_per_tick,
			json_pack("{s:i, s:i, s:I}", "step", instruction->step, "tile",
				instruction->tile, "instruction", (json_int_t)i));
}

const char *trace_json(struct arena *arena, const struct outcome *outcome)
{
	const struct arch *arch = outcome->plan->arch;
	struct text text = trace_open(arena);
	double us_per_tick = arch_nanoseconds(arch, 1) / 1e3 / (double)outcome->sim.ticks_per_cycle;
	name_rows(&text, outcome->cost.score.cores);
	for (size_t i = 0; i < outcome->program->instruction_count; i++)
		add_run(&text, outcome, i, us_per_tick);
	return trace_end(&text);
}
