#include "tests/support/executed.h"

#include "base/arena.h"
#include "lower/graph/lower.h"
#include "sim/graph/reference.h"

#include <inttypes.h>

static const char *find_wrong(
	const struct plan *plan, const struct executed *executed, struct arena *arena)
{
	const struct sim_result *result = &executed->result;
	const struct score *score = &executed->cost.score;
	if (result->fault_count)
		return result->faults[0].text;
	if (!result->finished)
		return "it did not finish";
	if (!counts_equal(&executed->cost.counts, &result->counts))
		return "the model counts otherwise";
	if (result->cycles < score->cycles)
		return arena_format(arena, "%" PRId64 " cycles, %" PRId64 " in the model",
			result->cycles, score->cycles);
	/* the last chunks of a broadcast may leave a part of their tiles alone */
	bool in_part = workload_has_broadcast(plan->workload) &&
		       result->lx_peak_bytes < score->lx_peak_bytes;
	if (result->lx_peak_bytes != score->lx_peak_bytes && !in_part)
		return arena_format(arena, "%" PRId64 " bytes of LX, %" PRId64 " in the model",
			result->lx_peak_bytes, score->lx_peak_bytes);
	return NULL;
}

struct executed execute_plan(
	const struct plan *plan, uint64_t seed, bool small_integers, struct arena *arena)
{
	struct executed executed = {0};
	executed.program = lower_plan(plan, arena, &executed.why);
	if (!executed.program)
		return executed;
	struct sim_options options = {
		.mode = SIM_DATA, .seed = seed, .small_integers = small_integers};
	executed.result = sim_run(executed.program, &options, arena);
	if (!cost_plan(plan, arena, &executed.cost)) {
		executed.why = "it has no cost";
		return executed;
	}
	int ranks = executed.program->ranks;
	executed.rank_expected = arena_array(arena, void **, ranks);
	for (int r = 0; r < ranks; r++) {
		void **arrays = arena_array(arena, void *, plan->workload->tensor_count);
		reference_inputs(
			plan->workload, reference_seed(seed, r), small_integers, arena, arrays);
		executed.rank_expected[r] = arrays;
	}
	reference_run_ranks(plan->workload, ranks, arena, executed.rank_expected);
	executed.expected = executed.rank_expected[0];
	executed.why = find_wrong(plan, &executed, arena);
	return executed;
}

const char *execute_exactly(const struct plan *plan, uint64_t seed, struct arena *arena)
{
	const struct workload *workload = plan->workload;
	struct executed executed = execute_plan(plan, seed, true, arena);
	for (size_t t = 0; t < workload->tensor_count && !executed.why; t++) {
		if (!executed.result.outputs[t])
			continue;
		struct comparison comparison = reference_compare(
			&workload->tensors[t], executed.expected[t], executed.result.outputs[t]);
		if (comparison.different)
			return arena_format(arena, "%" PRId64 " elements of '%s' differ",
				comparison.different, workload->tensors[t].name);
	}
	return executed.why;
}
