#include "search/evaluate.h"

#include "base/arena.h"
#include "lower/lower.h"
#include "sim/reference.h"

struct outcome evaluate_cost(const struct plan *plan, struct arena *arena)
{
	struct outcome outcome = {.plan = plan, .worst_ulps = -1};
	if (!cost_plan(plan, arena, &outcome.cost))
		outcome.why = "a count does not fit into 64 bits";
	else if (!outcome.cost.score.feasible)
		outcome.why = outcome.cost.score.rejected;
	return outcome;
}

enum sim_mode evaluate_mode(const struct outcome *outcome)
{
	return outcome->cost.score.computes <= EVALUATE_DATA_COMPUTES ? SIM_DATA : SIM_IDENTITY;
}

/* Tensors that the run left in HBM, against the plain loop nests. */
static void compare(struct outcome *outcome, void **arrays, struct arena *arena)
{
	const struct workload *workload = outcome->plan->workload;
	reference_run(workload, arena, arrays);
	outcome->worst_ulps = 0;
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		if (tensor->role == TENSOR_INPUT || !outcome->sim.outputs[t])
			continue;
		struct comparison comparison =
			reference_compare(tensor, arrays[t], outcome->sim.outputs[t]);
		if (comparison.worst_ulps > outcome->worst_ulps) {
			outcome->worst_ulps = comparison.worst_ulps;
			outcome->worst_tensor = tensor->name;
		}
	}
}

void evaluate_simulate(struct outcome *outcome, enum sim_mode mode, uint64_t seed,
	uint64_t steps_most, struct arena *arena)
{
	const struct workload *workload = outcome->plan->workload;
	const struct program *program = lower_plan(outcome->plan, arena, &outcome->why);
	if (!program)
		return;
	void **arrays = NULL;
	if (mode == SIM_DATA) {
		arrays = arena_array(arena, void *, workload->tensor_count);
		reference_inputs(workload, seed, false, arena, arrays);
	}
	struct sim_options options = {
		.mode = mode, .seed = seed, .steps_most = steps_most, .inputs = arrays};
	outcome->mode = mode;
	outcome->sim = sim_run(program, &options, arena);
	outcome->simulated = outcome->sim.finished;
	outcome->agrees = outcome->simulated && outcome->sim.fault_count == 0 &&
		counts_equal(&outcome->cost.counts, &outcome->sim.counts);
	if (outcome->simulated && mode == SIM_DATA)
		compare(outcome, arrays, arena);
}
