#include "base/arena.h"
#include "cost/graph/cost.h"
#include "model/graph/planning.h"
#include "model/graph/run.h"
#include "search/engine/kept.h"
#include "search/graph/nests.h"
#include "tests/support/arch_text.h"
#include "tests/support/array_arch.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/joint_judged.h"
#include "tests/support/random_runs.h"

#include "tests/test.h"

/*
 * Joint spaces of machines whose tiles do not move in boxes: random answers, with runs in them, become plans.
 * Each keeps all rules, ends with the right results, counts what the model counts, and costs what the
 * answer does: in cycles, energy and HBM bytes.  None takes less than the lower bound of its graph.
 */
enum { ANSWERS = 4, TICKS = 50, MACHINES = 4 };
static const char *const machines[MACHINES] = {"specs/arch/eyeriss.yaml", "specs/arch/simba.yaml",
	"specs/arch/tpu.yaml", "specs/arch/tpu_v4i.yaml"};
static const struct joint_aim aims[] = {{.cycles = 1, .nest_ticks = TICKS},
	{.energy = 1, .nest_ticks = TICKS}, {.hbm_bytes = 1, .nest_ticks = TICKS},
	{.cycles = 1024, .energy = 3, .nest_ticks = TICKS}};

struct seen {
	long built, runs, two_loops, adding_up, inside, resident;
	long near; /* their lower bound */
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
	for (int r = 0; r < plan->run_count; r++) {
		const struct tile_run *run = &plan->runs[r];
		seen->two_loops += run->loop_count == 2;
		for (int s = run->first; s < run->end; s++)
			seen->adding_up += run_adds_up(&plan->workload->ops[s], run);
	}
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		int64_t bytes = plan->workload->tensors[stay->tensor].layout.bytes;
		seen->inside += stay->place == PLACE_LX && stay->size < bytes;
		seen->resident += stay->place == PLACE_LX;
	}
	seen->runs += plan->run_count;
	seen->built++;
}

static void try_answer(
	const struct asked *asked, struct random *random, struct arena *arena, struct seen *seen)
{
	int64_t value;
	const struct plan *plan = joint_walked_plan(random, asked->space, arena, &value);
	if (!plan)
		return;
	const char *why = joint_judge(&asked->question, plan, value, asked->seed, arena);
	if (why)
		fail_msg("%s", why);
	struct plan_cost cost;
	int64_t least = nests_floor(asked->question.arch, asked->question.workload);
	assert_true(cost_plan(plan, arena, &cost));
	assert_true(least <= cost.score.cycles);
	seen->near += 2 * least > cost.score.cycles;
	look_at(plan, seen);
}

BARE_TEST(answers_are_plans)
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
		"%ld plans built, %ld runs, %ld of two loops, %ld steps that add up over iterations, "
		"%ld tensors resident, %ld in parts\n",
		seen.built, seen.runs, seen.two_loops, seen.adding_up, seen.resident, seen.inside);
	assert_true(seen.built > count / 2);
	assert_true(!draws_are_many(count) || seen.near);
	assert_true(!draws_are_many(count) || (seen.two_loops && seen.adding_up && seen.inside));
}
