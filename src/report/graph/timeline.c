#include "report/graph/timeline.h"

#include "base/arena.h"
#include "base/number.h"
#include "report/run/trace_lines.h"

struct work {
	int64_t from, to, busy; /* ticks */
	uint64_t cores;
};

static void add_work(
	struct work *work, const struct instruction *instruction, const struct sim_run_time *time)
{
	bool first = !work->cores;
	work->from = first ? time->start : number_min(work->from, time->start);
	work->to = first ? time->end : number_max(work->to, time->end);
	work->busy += (time->end - time->start) * __builtin_popcountll(instruction->mask);
	work->cores |= instruction->mask;
}

json_t *timeline_json(struct arena *arena, const struct outcome *outcome)
{
	const struct program *program = outcome->program;
	double ns = arch_nanoseconds(outcome->plan->arch, 1) / (double)outcome->sim.ticks_per_cycle;
	struct work *works =
		arena_array(arena, struct work, (size_t)program->step_count * ENGINE_COUNT);
	json_t *list = json_array();
	for (size_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		const struct sim_run_time *time = &outcome->sim.trace[i];
		if (instruction->engine != ENGINE_SYNC && time->end >= time->start)
			add_work(&works[(size_t)instruction->step * ENGINE_COUNT +
					 instruction->engine],
				instruction, time);
	}
	for (int step = 0; step < program->step_count; step++)
		for (int engine = 0; engine < ENGINE_COUNT; engine++) {
			const struct work *work = &works[(size_t)step * ENGINE_COUNT + engine];
			if (!work->cores)
				continue;
			double busy = (double)work->busy / __builtin_popcountll(work->cores);
			json_array_append_new(
				list, json_pack("{s:i, s:s, s:f, s:f, s:f}", "step", step, "engine",
					      engine_names[engine], "from", (double)work->from * ns,
					      "to", (double)work->to * ns, "busy", busy * ns));
		}
	return list;
}

json_t *timeline_machine(const struct outcome *outcome)
{
	const struct arch *arch = outcome->plan->arch;
	double ns = arch_nanoseconds(arch, 1);
	const struct ratio *read = &arch->levels[arch->hbm].read_rate;
	const struct level *units[] = {&arch->levels[arch->compute], &arch->levels[arch->vector]};
	double fastest = 0; /* operations of all instances each cycle */
	for (int i = 0; i < 2; i++) {
		double rate = (double)units[i]->instances *
			      ratio_double(i ? units[i]->vector_rate : units[i]->mac_rate);
		fastest = rate > fastest ? rate : fastest;
	}
	json_t *machine = json_pack("{s:s}", "name", arch->name);
	if (read->num > 0)
		json_object_set_new(
			machine, "hbm_bytes_per_ns", json_real(ratio_double(*read) / ns));
	if (fastest > 0)
		json_object_set_new(machine, "computes_per_ns", json_real(fastest / ns));
	if (arch->lx >= 0)
		json_object_set_new(machine, "lx_bytes", json_integer(arch_lx_capacity(arch)));
	return machine;
}

/* Executions of an engine that are alike: the same step and tile on several cores, each at its own time. */
struct alike {
	size_t first; /* the first instruction of them, whose time is shown */
	uint64_t cores;
	int64_t end;  /* of the last one to end */
	double ticks; /* of all cores together */
};

struct tracing {
	struct text text;
	const struct outcome *outcome;
	double us_per_tick;
	bool each_core;
	struct alike last[ENGINE_COUNT]; /* not yet written; no cores: none */
	uint64_t named[ENGINE_COUNT];    /* cores whose engine has a name */
	uint64_t processes;              /* cores that have one */
};

/* "0-3 8" */
static const char *cores_text(struct arena *arena, uint64_t cores)
{
	struct text text = text_open(arena);
	for (int core = 0; core < 64; core++) {
		int end = core;
		if (!(cores >> core & 1))
			continue;
		while (end < 63 && cores >> (end + 1) & 1)
			end++;
		text_add(&text, "%s%d", text.length ? " " : "", core);
		if (end > core)
			text_add(&text, "-%d", end);
		core = end;
	}
	return text_read(&text);
}

static void name_row(struct tracing *tracing, int core, int engine)
{
	struct arena *arena = tracing->text.arena;
	if (!(tracing->processes >> core & 1))
		trace_process(&tracing->text, core, arena_format(arena, "core %d", core));
	if (!(tracing->named[engine] >> core & 1))
		trace_thread(&tracing->text, core, engine, engine_names[engine]);
	tracing->processes |= UINT64_C(1) << core;
	tracing->named[engine] |= UINT64_C(1) << core;
}

/* Writes what is alike as one event, in the row of the lowest core. */
static void write_alike(struct tracing *tracing, int engine)
{
	const struct program *program = tracing->outcome->program;
	struct alike *last = &tracing->last[engine];
	if (!last->cores)
		return;
	const struct instruction *instruction = &program->instructions[last->first];
	const struct sim_run_time *time = &tracing->outcome->sim.trace[last->first];
	int core = __builtin_ctzll(last->cores);
	name_row(tracing, core, engine);
	json_t *arguments = json_pack("{s:i, s:i, s:I, s:s}", "step", instruction->step, "tile",
		instruction->tile, "instruction", (json_int_t)last->first, "cores",
		cores_text(tracing->text.arena, last->cores));
	double each = (double)(time->end - time->start);
	if (last->end > time->end)
		json_object_set_new(arguments, "all_end_us",
			json_real((double)last->end * tracing->us_per_tick));
	if (last->ticks != each * __builtin_popcountll(last->cores))
		json_object_set_new(
			arguments, "all_busy_us", json_real(last->ticks * tracing->us_per_tick));
	trace_event(&tracing->text,
		program->workload->ops[program->step_ops[instruction->step]].name, core, engine,
		(double)time->start * tracing->us_per_tick, each * tracing->us_per_tick, arguments);
	last->cores = 0;
	last->ticks = 0;
}

static void add_run(struct tracing *tracing, size_t i)
{
	const struct program *program = tracing->outcome->program;
	const struct sim_run_time *times = tracing->outcome->sim.trace, *time = &times[i];
	const struct instruction *instruction = &program->instructions[i];
	int engine = (int)instruction->engine;
	if (instruction->engine == ENGINE_SYNC || time->end < time->start)
		return;
	struct alike *last = &tracing->last[engine];
	const struct instruction *before = &program->instructions[last->first];
	bool same = last->cores && before->step == instruction->step &&
		    before->tile == instruction->tile && !(last->cores & instruction->mask);
	if (!same) {
		write_alike(tracing, engine);
		last->first = i;
		last->end = time->end;
	}
	last->cores |= instruction->mask;
	last->end = number_max(last->end, time->end);
	double each = (double)(time->end - time->start);
	last->ticks += each * __builtin_popcountll(instruction->mask);
	if (!tracing->each_core)
		return;
	for (uint64_t mask = instruction->mask; mask; mask &= mask - 1) {
		last->cores = mask & -mask;
		last->ticks = each;
		write_alike(tracing, engine);
	}
}

const char *trace_json(struct arena *arena, const struct outcome *outcome, bool each_core)
{
	struct tracing tracing = {.text = trace_open(arena),
		.outcome = outcome,
		.each_core = each_core,
		.us_per_tick = arch_nanoseconds(outcome->plan->arch, 1) / 1e3 /
			       (double)outcome->sim.ticks_per_cycle};
	for (size_t i = 0; i < outcome->program->instruction_count; i++)
		add_run(&tracing, i);
	for (int engine = 0; engine < ENGINE_COUNT; engine++)
		write_alike(&tracing, engine);
	return trace_end(&tracing.text);
}
