#include "base/arena.h"
#include "cost/graph/cost.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "model/graph/planning.h"
#include "search/engine/kept.h"
#include "search/joint/joint_build.h"
#include "tests/support/arch_text.h"
#include "tests/support/array_arch.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/joint_walk.h"
#include "tests/support/random_runs.h"

#include <inttypes.h>
#include <math.h>

#include "tests/test.h"

/*
 * Joint spaces of machines whose tiles do not move in boxes: random answers, with runs in them, become plans.
 * Each keeps all rules, ends with the right results, counts what the model counts, and costs what the
 * answer does: in cycles, energy and HBM bytes.
 */
enum { ANSWERS = 4, TICKS = 50, MACHINES = 4 };
static const char *const machines[MACHINES] = {"specs/arch/eyeriss.yaml", "specs/arch/simba.yaml",
	"specs/arch/tpu.yaml", "specs/arch/tpu_v4i.yaml"};
static const struct joint_aim aims[] = {{.cycles = 1, .nest_ticks = TICKS},
	{.energy = 1, .nest_ticks = TICKS}, {.hbm_bytes = 1, .nest_ticks = TICKS},
	{.cycles = 1024, .energy = 3, .nest_ticks = TICKS}};

struct seen {
	long built, runs, two_loops, inside, resident;
};

struct asked {
	struct joint_question question;
	const struct joint_space *space;
	uint64_t seed;
};

static struct joint_question draw_question(
	struct random *random, const struct arch *const *read, struct arena *arena)
{
	struct planning *planning = arena_new(arena, struct planning);
	int machine = (int)draw_below(random, MACHINES + 1);
	const struct arch *arch = machine == MACHINES ? whole_arch(arena) : read[machine];
	*planning = planning_default(arch);
	planning->price = PRICE_BOUND;
	if (draw_chance(random, 2))
		planning->lx_capacity = 64 * (1 + draw_below(random, 32));
	return (struct joint_question){.arch = arch,
		.workload = random_chain(random, arch, arena),
		.planning = planning,
		.aim = aims[draw_below(random, sizeof aims / sizeof *aims)]};
}

static void look_at(const struct plan *plan, struct seen *seen)
{
	for (int r = 0; r < plan->run_count; r++)
		seen->two_loops += plan->runs[r].loop_count == 2;
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		int64_t bytes = plan->workload->tensors[stay->tensor].layout.bytes;
		seen->inside += stay->place == PLACE_LX && stay->size < bytes;
		seen->resident += stay->place == PLACE_LX;
	}
	seen->runs += plan->run_count;
	seen->built++;
}

static double worth(const struct joint_aim *aim, const struct score *score)
{
	return (double)aim->cycles * (double)score->cycles +
	       (double)aim->energy * score->energy_pj * 1024 +
	       (double)aim->hbm_bytes * (double)score->hbm_bytes;
}

static void judge(
	const struct asked *asked, const struct plan *plan, int64_t value, struct arena *arena)
{
	struct plan_faults faults = plan_check(plan, arena);
	struct plan_cost cost;
	struct text text = text_open(arena);
	plan_write(plan, &text);
	if (faults.count)
		fail_msg("%s\n%s", faults.at[0].why, text_read(&text));
	assert_true(cost_plan(plan, arena, &cost));
	double own = worth(&asked->question.aim, &cost.score);
	double off = asked->question.aim.energy
			     ? (double)asked->question.aim.energy * plan->step_count + 1e-12 * own
			     : 0;
	if (cost.score.rejected)
		fail_msg("%s\n%s", cost.score.rejected, text_read(&text));
	if (fabs(own - (double)value) > off)
		fail_msg("the plan is worth %.17g, the answer %" PRId64 "\n%s", own, value,
			text_read(&text));
	struct executed executed = execute_plan(plan, asked->seed, true, arena);
	if (executed.why)
		fail_msg("%s\n%s", executed.why, text_read(&text));
}

static void try_answer(
	const struct asked *asked, struct random *random, struct arena *arena, struct seen *seen)
{
	struct joint_answer answer = joint_walk(random, asked->space, arena);
	const char *why = NULL;
	if (!answer.count)
		return;
	int64_t value = joint_value(asked->space, &answer, arena, &why);
	if (value == JOINT_NEVER)
		return;
	struct joint_packing packing = joint_pack(asked->space, &answer, NULL, 100000, arena);
	assert_null(packing.why);
	if (packing.status != VERDICT_YES)
		return;
	const struct plan *plan = joint_build(asked->space, &answer, &packing, arena);
	judge(asked, plan, value, arena);
	look_at(plan, seen);
}

static void answers_are_plans(void **state)
{
	long count = draws(25);
	uint64_t seed = draws_seed(1);
	struct seen seen = {0};
	struct arena *lasting = arena_open();
	struct diag *diag = diag_open(lasting);
	const struct arch *read[MACHINES];
	for (int m = 0; m < MACHINES; m++) {
		read[m] = arch_of_file(lasting, machines[m], diag);
		if (!read[m])
			fail_msg("%s: %s", machines[m], complaints_text(lasting, diag));
	}
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		const char *why = NULL;
		struct asked asked = {
			.question = draw_question(&random, read, arena), .seed = seed};
		asked.space = joint_graph_make(&asked.question, arena, &why);
		for (int i = 0; asked.space && i < ANSWERS; i++)
			try_answer(&asked, &random, arena, &seen);
		arena_close(arena);
	}
	arena_close(lasting);
	print_message(
		"%ld plans built, %ld runs, %ld of two loops, %ld tensors resident, %ld in parts\n",
		seen.built, seen.runs, seen.two_loops, seen.resident, seen.inside);
	assert_true(seen.built > count / 2);
	assert_true(!draws_are_many(count) || (seen.two_loops && seen.inside));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_plans)};
	return cmocka_run_group_tests_name("joint_nests", tests, NULL, NULL);
}
