#include "report/graph/timeline.h"

#include "base/arena.h"
#include "base/number.h"
#include "cost/graph/latency.h"

struct work {
	int64_t from, to, busy; /* ticks */
	uint64_t cores;
};

static void add_work(struct work *work, const struct instruction *instruction,
	const struct sim_run_time *time)
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
	struct work *works = arena_array(
		arena, struct work, (size_t)program->step_count * ENGINE_COUNT);
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
			json_array_append_new(list,
				json_pack("{s:i, s:s, s:f, s:f, s:f}", "step", step, "engine",
					engine_names[engine], "from", (double)work->from * ns, "to",
					(double)work->to * ns, "busy", busy * ns));
		}
	return list;
}

json_t *timeline_machine(const struct outcome *outcome)
{
	const struct arch *arch = outcome->plan->arch;
	double ns = arch_nanoseconds(arch, 1), cores = (double)arch_cores(arch);
	const struct ratio *read = &arch->levels[arch->hbm].read_rate;
	const struct workload *workload = outcome->plan->workload;
	double fastest = 0;
	for (size_t o = 0; o < workload->op_count; o++) {
		struct ratio rate = latency_rate(arch, workload, &workload->ops[o]);
		if (rate.num > 0 && ratio_double(rate) > fastest)
			fastest = ratio_double(rate);
	}
	json_t *machine = json_pack("{s:s, s:f}", "name", arch->name, "cores", cores);
	if (read->num > 0)
		json_object_set_new(machine, "hbm_bytes_per_ns", json_real(ratio_double(*read) / ns));
	if (fastest > 0)
		json_object_set_new(machine, "computes_per_ns", json_real(fastest * cores / ns));
	if (arch->lx >= 0)
		json_object_set_new(machine, "lx_bytes", json_integer(arch_lx_capacity(arch)));
	return machine;
}
