#include "report/graph/timeline.h"

#include "base/arena.h"
#include "base/number.h"

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
