#include "search/graph/gap.h"

#include "base/arena.h"
#include "base/number.h"
#include "lower/graph/program.h"

#include <inttypes.h>

/* Ticks of one phase, of all iterations in a run. */
struct phase_time {
	int64_t took, before, after; /* before its first compute and after its last */
};

/* The phase once. */
struct instance {
	bool open;
	int64_t begin, end;
	int64_t first_compute, last_compute; /* start of the first, end of the last */
};

bool gap_is_large(const struct arch *arch, int64_t cycles, int64_t simulated_cycles)
{
	return arch_nanoseconds(arch, cycles) > GAP_NANOSECONDS &&
	       (double)simulated_cycles > GAP_RATIO * (double)cycles;
}

static void close_instance(struct instance *instance, struct phase_time *time)
{
	int64_t took = instance->end - instance->begin;
	if (!instance->open)
		return;
	instance->open = false;
	time->took += took;
	time->before += instance->last_compute ? instance->first_compute - instance->begin : took;
	time->after += instance->last_compute ? instance->end - instance->last_compute : 0;
}

static struct phase_time phase_time(const struct outcome *ran, const struct phase_cost *phase)
{
	struct phase_time time = {0};
	struct instance instance = {0};
	int64_t end = 0; /* of what came before */
	for (size_t i = 0; i < ran->program->instruction_count; i++) {
		const struct instruction *instruction = &ran->program->instructions[i];
		const struct sim_run_time *run = &ran->sim.trace[i];
		if (instruction->step < phase->first_step || instruction->step >= phase->end_step) {
			close_instance(&instance, &time);
			end = number_max(end, run->end);
			continue;
		}
		if (!instance.open)
			instance = (struct instance){true, end, end, INT64_MAX, 0};
		end = instance.end = number_max(instance.end, run->end);
		if (instruction->engine != ENGINE_COMPUTE)
			continue;
		instance.first_compute = number_min(instance.first_compute, run->start);
		instance.last_compute = number_max(instance.last_compute, run->end);
	}
	close_instance(&instance, &time);
	return time;
}

const char *gap_explain(const struct outcome *outcome, struct arena *arena)
{
	struct outcome ran = *outcome;
	struct simulation how = {.mode = SIM_COUNT, .trace = true};
	evaluate_simulate(&ran, &how, arena);
	if (ran.why || !ran.simulated)
		return NULL;
	const struct plan_cost *cost = &outcome->cost;
	int64_t tick = ran.sim.ticks_per_cycle, most = -1;
	int64_t cycles = 0, before = 0, after = 0;
	const struct phase_cost *worst = NULL;
	for (int p = 0; p < cost->phase_count; p++) {
		const struct phase_cost *phase = &cost->phases[p];
		struct phase_time time = phase_time(&ran, phase);
		int64_t took = time.took / tick;
		if (took - phase->cycles > most) {
			most = took - phase->cycles;
			worst = phase;
			cycles = took;
			before = time.before / tick;
			after = time.after / tick;
		}
	}
	if (!worst)
		return NULL;
	const struct plan *plan = outcome->plan;
	return arena_format(arena,
		"most of it in op '%s': %" PRId64 " cycles against %" PRId64
		" of its slowest resource; %" PRId64
		" pass before its first compute has its operands, %" PRId64 " after its last",
		plan->workload->ops[plan->steps[worst->end_step - 1].op].name, cycles,
		worst->cycles, before, after);
}
