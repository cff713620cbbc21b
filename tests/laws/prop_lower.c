#include "base/arena.h"
#include "lower/graph/lower.h"
#include "tests/support/draws.h"
#include "tests/support/random_plan.h"
#include "tests/support/replay.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"

#include "tests/test.h"

enum { INSTRUCTIONS_MOST = 1500 };

static void check_dependences(const struct replay *replay)
{
	const struct instruction *list = replay->program->instructions;
	for (int64_t i = 0; i < (int64_t)replay->program->instruction_count; i++) {
		for (size_t d = 0; d < list[i].dependence_count; d++) {
			uint32_t other = list[i].dependences[d];
			assert_false(naive_happens_implied(&replay->order, i, other));
			if (list[i].engine != ENGINE_SYNC && list[other].engine != ENGINE_SYNC)
				assert_true(replay_conflict(replay, other, i));
		}
	}
}

/* Cores that ask for one box in one tile share its transfer. */
static void check_sharing(const struct replay *replay)
{
	const struct instruction *list = replay->program->instructions;
	for (size_t i = 0; i < replay->program->instruction_count; i++) {
		if (list[i].engine != ENGINE_DMA_IN)
			continue;
		const struct transfer *one = list[i].transfer;
		for (size_t j = i + 1; j < replay->program->instruction_count &&
				       list[j].step == list[i].step && list[j].tile == list[i].tile;
			j++) {
			const struct transfer *other = list[j].transfer;
			if (list[j].engine == ENGINE_DMA_IN &&
				one->box->operand == other->box->operand)
				assert_memory_not_equal(&one->box->region, &other->box->region,
					sizeof one->box->region);
		}
	}
}

/* Phases do not overlap, and a SYNC stands between any two. */
static void check_phases(const struct replay *replay)
{
	const struct instruction *list = replay->program->instructions;
	int64_t sync = -1, first = 0;
	for (int64_t i = 0; i < (int64_t)replay->program->instruction_count; i++) {
		if (sync >= 0)
			assert_true(naive_happens_before(&replay->order, sync, i));
		if (list[i].engine != ENGINE_SYNC)
			continue;
		for (int64_t j = first; j < i; j++)
			assert_true(naive_happens_before(&replay->order, j, i));
		sync = i;
		first = i + 1;
	}
	int phases = 0, syncs = 0;
	for (int s = 0; s + 1 < replay->plan->step_count; s++)
		phases += !plan_joins_next(replay->plan, s);
	for (size_t i = 0; i < replay->program->instruction_count; i++)
		syncs += list[i].engine == ENGINE_SYNC;
	assert_int_equal(syncs, phases);
}

/* Every stick left once, or HBM had it. */
static void check_eviction(const struct replay *replay, int t)
{
	const struct tensor *tensor = &replay->plan->workload->tensors[t];
	for (int64_t k = 0; k < tensor->layout.sticks; k++)
		assert_int_equal(replay->sent[t][k], !tensor->copy_of);
}

/* Every iteration was computed; what was made was made once and went where it had to. */
static void check_results(const struct replay *replay)
{
	const struct workload *workload = replay->plan->workload;
	for (int s = 0; s < replay->plan->step_count; s++) {
		const struct op *op = &workload->ops[replay->plan->steps[s].op];
		if (plan_is_move(replay->plan, s))
			continue;
		if (plan_is_evict(replay->plan, s)) {
			check_eviction(replay, op->writes[0].tensor);
			continue;
		}
		for (int64_t i = 0; op->primitive->kind != OP_OPAQUE && i < op_points(op); i++)
			assert_int_equal(replay->computed[replay->plan->steps[s].op][i], 1);
		for (int w = 0; w < op->write_count; w++) {
			int t = op->writes[w].tensor;
			bool resident = plan_lx(replay->plan, t, s);
			for (int64_t k = 0; k < workload->tensors[t].layout.sticks; k++) {
				assert_int_equal(replay->made[t][k], 1);
				assert_int_equal(replay->sent[t][k], !resident);
			}
		}
	}
}

BARE_TEST(programs_obey_their_laws)
{
	struct random random = random_open(draws_seed(7), 0);
	long lowered = 0, refused = 0, large = 0;
	struct random_options options = {.elements_most = 20000, .legal = true, .opaque = true};
	for (long i = 0, count = draws(400); i < count; i++) {
		struct arena *arena = arena_open();
		const struct arch *arch = spyre_arch(arena, REPLAY_CORES);
		const struct plan *plan = random_plan(&random, &options, arch, REPLAY_CORES, arena);
		struct lower_refusal refusal;
		const struct program *program =
			lower_within(plan, INSTRUCTIONS_MOST, arena, &refusal);
		lowered += program != NULL;
		refused += !program && refusal.why;
		large += !program && !refusal.why;
		if (program) {
			const struct replay *replay = replay_run(arena, plan, program);
			check_dependences(replay);
			check_sharing(replay);
			check_phases(replay);
			check_results(replay);
		}
		arena_close(arena);
	}
	print_message("%ld lowered, %ld refused, %ld too large\n", lowered, refused, large);
	assert_true(lowered >= (refused + large) / 4);
}
