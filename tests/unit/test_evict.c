#include "base/arena.h"
#include "cost/graph/cost.h"
#include "lower/graph/lower.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "sim/graph/sim.h"
#include "tests/support/mutable_program.h"
#include "tests/support/plan_text.h"
#include "tests/support/program_text.h"

#include <string.h>

#include "tests/test.h"

/*
 * One plan by hand: `a` lies in LX of two cores, half of it on each, leaves for HBM behind its
 * first reader, and comes back to another address for the last.
 */
static const char yaml[] = "name: moved\n"
			   "dimensions: {n: 256}\n"
			   "dtype: fp16\n"
			   "ops:\n"
			   "  - a[n] = exp(x[n])\n"
			   "  - b[n] = neg(a[n])\n"
			   "  - c[n] = neg(b[n])\n"
			   "  - d[n] = a[n] + c[n]\n";

enum { A = 1, HALF = 256 }; /* `a`, of which a core has two sticks */

struct moved {
	struct arena *arena;
	struct plan *plan;
	int away, back;
};

static struct moved move(void)
{
	struct moved moved = {.arena = arena_open()};
	struct plan *plan = plan_text(moved.arena, 2, yaml,
		(const char *const[]){"core: n2", "core: n2", "core: n2", "core: n2", NULL},
		(const char *const[]){"a at 0 steps 0 4, cores 2: dim 0 / 2 by 1", NULL});
	assert_string_equal(plan->workload->tensors[A].name, "a");
	struct residency stay = plan->residencies[0];
	stay.address = 1024;
	moved.plan = plan_with_moves(moved.arena, plan,
		(struct plan_wish[]){{.kind = MOVE_EVICT, .tensor = A, .before = 2},
			{.kind = MOVE_RELOAD, .tensor = A, .before = 3, .stay = stay}},
		2);
	moved.away = (int)plan->workload->tensor_count;
	moved.back = moved.away + 1;
	return moved;
}

static const struct program *lower(const struct moved *moved)
{
	const char *why;
	const struct program *program = lower_plan(moved->plan, moved->arena, &why);
	if (!program)
		fail_msg("%s", why);
	return program;
}

TEST(a_move_is_a_step_and_a_tensor)
{
	struct moved moved = move();
	const struct plan *plan = moved.plan;
	const struct workload *workload = plan->workload;
	assert_int_equal(plan_check(plan, moved.arena).count, 0);
	assert_int_equal(plan->step_count, 6);
	assert_true(plan_is_evict(plan, 2));
	assert_false(plan_is_move(plan, 2));
	assert_true(plan_is_move(plan, 4));
	assert_string_equal(workload->tensors[moved.away].name, "evict_a");
	assert_string_equal(workload->tensors[moved.back].name, "reload_a");
	assert_int_equal(tensor_origin(workload, moved.back), A);
	assert_int_equal(workload->ops[1].reads[0].tensor, A);
	assert_int_equal(workload->ops[5].reads[0].tensor, moved.back);
	assert_int_equal(plan_lx(plan, A, 2)->to, 3);
	assert_null(plan_lx(plan, A, 3));
	assert_int_equal(plan_lx(plan, moved.back, 5)->address, 1024);
	arena_close(moved.arena);
}

TEST(what_moves_is_counted)
{
	struct moved moved = move();
	struct plan_cost cost;
	assert_true(cost_plan(moved.plan, moved.arena, &cost));
	const struct step_count *evict = &cost.counts.steps[2], *reload = &cost.counts.steps[4];
	assert_int_equal(evict->bytes[0][TRAFFIC_LX_READ], 0);
	assert_int_equal(evict->bytes[1][TRAFFIC_LX_DRAIN], 2 * HALF);
	assert_int_equal(evict->bytes[1][TRAFFIC_HBM_WRITE], 2 * HALF);
	assert_int_equal(reload->bytes[0][TRAFFIC_HBM_READ], 2 * HALF);
	assert_int_equal(reload->bytes[0][TRAFFIC_LX_FILL], 2 * HALF);
	assert_int_equal(evict->computes + reload->computes, 0);
	/* an evict is a phase of its own, a reload is one with its reader */
	assert_int_equal(cost.phase_count, 5);
	assert_int_equal(cost.phases[2].end_step, 3);
	assert_int_equal(cost.phases[4].first_step, 4);
	arena_close(moved.arena);
}

/* Instructions of a step on an engine. */
static int count_instructions(const struct program *program, int step, enum engine engine)
{
	int count = 0;
	for (size_t i = 0; i < program->instruction_count; i++)
		count += program->instructions[i].step == step &&
			 program->instructions[i].engine == engine;
	return count;
}

TEST(every_core_sends_its_slice)
{
	struct moved moved = move();
	const struct program *program = lower(&moved);
	assert_int_equal(count_instructions(program, 2, ENGINE_DMA_OUT), 2);
	assert_int_equal(count_instructions(program, 2, ENGINE_COMPUTE), 0);
	assert_int_equal(count_instructions(program, 4, ENGINE_DMA_IN), 2);
	const char *text = program_text(moved.arena, program);
	assert_non_null(strstr(text, "out 0: evict_a[0+2"));
	assert_non_null(strstr(text, "out 1: evict_a[2+2"));
	arena_close(moved.arena);
}

static struct sim_result simulate(const struct program *program, struct arena *arena)
{
	struct sim_options options = {.mode = SIM_DATA, .small_integers = true};
	return sim_run(program, &options, arena);
}

TEST(what_was_not_sent_does_not_come_back)
{
	struct moved moved = move();
	const struct program *program = lower(&moved);
	assert_int_equal(simulate(program, moved.arena).fault_count, 0);
	struct mutable_program *broken = mutable_copy(moved.arena, program);
	for (size_t i = 0; i < program->instruction_count; i++)
		if (program->instructions[i].step == 2 &&
			program->instructions[i].engine == ENGINE_DMA_OUT)
			broken->instructions[i].head->mask = 0;
	struct sim_result result = simulate(&broken->program, moved.arena);
	assert_true(result.fault_count > 0);
	assert_int_equal(result.faults[0].kind, FAULT_UNWRITTEN);
	arena_close(moved.arena);
}

TEST(a_reload_from_another_place_is_stale)
{
	struct moved moved = move();
	const struct program *program = lower(&moved);
	struct mutable_program *broken = mutable_copy(moved.arena, program);
	for (size_t i = 0; i < program->instruction_count; i++)
		if (program->instructions[i].step == 4 &&
			program->instructions[i].engine == ENGINE_DMA_IN)
			broken->instructions[i].transfer->hbm.address = program->hbm[0];
	struct sim_result result = simulate(&broken->program, moved.arena);
	assert_true(result.fault_count > 0);
	assert_int_equal(result.faults[0].kind, FAULT_STALE);
	arena_close(moved.arena);
}

/* An unchanged tensor still has its copy in HBM and needs no store. */
TEST(what_was_reloaded_leaves_for_nothing)
{
	struct moved moved = move();
	struct plan_wish wish = {.kind = MOVE_EVICT, .tensor = moved.back, .before = 5};
	struct plan *plan = plan_with_moves(moved.arena, moved.plan, &wish, 1);
	struct plan_cost cost;
	int again = moved.back + 1;
	assert_int_equal(tensor_home(plan->workload, again), moved.away);
	assert_int_equal(plan_check(plan, moved.arena).count, 0);
	assert_true(cost_plan(plan, moved.arena, &cost));
	assert_int_equal(cost.counts.steps[5].bytes[1][TRAFFIC_HBM_WRITE], 0);
	assert_int_equal(cost.counts.steps[6].bytes[0][TRAFFIC_HBM_READ], 2 * HALF);
	moved.plan = plan;
	const struct program *program = lower(&moved);
	assert_int_equal(count_instructions(program, 5, ENGINE_DMA_OUT), 0);
	assert_int_equal(program->hbm[again], program->hbm[moved.away]);
	assert_int_equal(simulate(program, moved.arena).fault_count, 0);
	arena_close(moved.arena);
}
