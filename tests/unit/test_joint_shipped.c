#include "base/arena.h"
#include "base/random.h"
#include "model/graph/planning.h"
#include "search/drive/solver.h"
#include "search/graph/evaluate.h"
#include "search/joint/joint_plan.h"
#include "search/joint/options.h"
#include "tests/support/arch_text.h"
#include "tests/support/draws.h"
#include "tests/support/joint_judged.h"
#include "tests/support/joint_walk.h"
#include "tests/support/workload_text.h"

#include "tests/test.h"

/* Random answers about graphs with opaque ops and broadcasts are plans that cost what they do. */
enum { TRIES = 100 };

struct trying {
	struct joint_question question;
	const struct joint_space *space;
	struct truth truth;
	struct arena *arena;
};

/* Returns the cost of an answer that begins a bundle with every step. */
static int64_t value_of(const struct trying *trying, struct joint_answer *answer)
{
	struct joint_step *steps =
		arena_copy(trying->arena, answer->steps, answer->count * sizeof *steps);
	for (size_t i = 0; i < answer->count; i++)
		steps[i].begins_bundle = true;
	answer->steps = steps;
	return answer->count ? joint_value(trying->space, answer, trying->arena, NULL)
			     : JOINT_NEVER;
}

static bool try_answer(const struct trying *trying, struct random *random)
{
	struct arena *arena = trying->arena;
	struct joint_answer answer = joint_walk(random, trying->space, arena);
	int64_t value = value_of(trying, &answer);
	if (value == JOINT_NEVER)
		return false;
	struct joint_packing packing = joint_pack(trying->space, &answer, NULL, 100000, arena);
	if (packing.status != VERDICT_YES)
		return false;
	const struct plan *plan = joint_build(trying->space, &answer, &packing, arena);
	const char *why = joint_judge_value(&trying->question, plan, value, arena);
	if (why)
		fail_msg("%s", why);
	struct outcome outcome = evaluate_cost(plan, arena);
	evaluate_simulate(
		&outcome, &(struct simulation){.mode = SIM_DATA, .truth = &trying->truth}, arena);
	if (!outcome.agrees)
		fail_msg("%s is off by %g ulps, or %s", outcome.off_tensor, outcome.off_ulps,
			outcome.sim.fault_count ? outcome.sim.faults[0].text : "counts differ");
	return true;
}

/* Only tensors with few views are laid out again. */
static void expect_relayouts(const struct joint_space *space)
{
	int many = 0, relayed = 0;
	for (int t = 0; t < space->tensor_count; t++) {
		const struct joint_tensor *tensor = &space->tensors[t];
		bool any = false;
		for (int i = 0; i < tensor->view_count * tensor->view_count; i++)
			any |= tensor->relay[i] != JOINT_NEVER;
		many += tensor->view_count > RELAYED_VIEWS_MOST;
		relayed += any;
		assert_false(any && tensor->view_count > RELAYED_VIEWS_MOST);
	}
	assert_true(many && relayed);
}

static void try_answers(
	const char *machine, const char *path, struct joint_aim aim, bool many_views)
{
	struct arena *arena = arena_open();
	struct random random = random_open(1, 1);
	const struct arch *arch = arch_of_file(arena, machine, diag_open(arena));
	struct planning planning = planning_default(arch);
	planning.published_tiles = true;
	struct trying trying = {.question = {.arch = planning_arch(arena, arch, &planning),
					.workload = workload_of_file(arena, path, NULL),
					.planning = &planning,
					.aim = aim},
		.arena = arena};
	const char *why = NULL;
	int built = 0, wanted = (int)draws(3);
	trying.space = joint_graph_make(&trying.question, arena, &why);
	if (!trying.space)
		fail_msg("%s: %s", path, why);
	if (many_views)
		expect_relayouts(trying.space);
	trying.truth = evaluate_truth(trying.question.workload, trying.question.arch, 1, arena);
	for (int i = 0; i < TRIES && built < wanted; i++)
		built += try_answer(&trying, &random);
	assert_int_equal(built, wanted);
	arena_close(arena);
}

TEST(opaque_ops_and_relayouts)
{
	try_answers("specs/arch/spyre32_published.yaml", "specs/workloads/moe_mlp.yaml",
		(struct joint_aim){.cycles = 1}, true);
	if (draws_apart(1) == 1)
		try_answers("specs/arch/spyre32_published.yaml", "specs/workloads/gpt_block.yaml",
			(struct joint_aim){.cycles = 1, .fixed = KIND_RELAY}, false);
}

TEST(broadcasts)
{
	try_answers("specs/arch/spyre32x4.yaml", "specs/workloads/gpt_block_4ranks.yaml",
		(struct joint_aim){.energy = 1, .fixed = KIND_RELAY}, false);
}

static const struct joint_space *space_of(
	struct arena *arena, const char *path, bool published, struct joint_aim aim)
{
	const struct arch *arch =
		arch_of_file(arena, "specs/arch/spyre32_published.yaml", diag_open(arena));
	struct planning *planning = arena_new(arena, struct planning);
	*planning = planning_default(arch);
	planning->published_tiles = published;
	const struct joint_question question = {.arch = planning_arch(arena, arch, planning),
		.workload = workload_of_file(arena, path, NULL),
		.planning = planning,
		.aim = aim};
	const char *why = NULL;
	const struct joint_space *space = joint_graph_make(&question, arena, &why);
	assert_non_null(space);
	return space;
}

static bool is_unproven(const char *path, struct joint_aim aim)
{
	struct arena *arena = arena_open();
	const struct joint_graph *graph = space_of(arena, path, false, aim)->graph;
	bool unproven = graph->unproven;
	arena_close(arena);
	return unproven;
}

/* A plan carries out such a clone beside the op behind it, and so does the space. */
TEST(clones_that_graphs_have)
{
	const struct joint_aim cycles = {.cycles = 1, .fixed = KIND_RELAY};
	assert_false(is_unproven("specs/workloads/pattern_gqa.yaml", cycles));
	assert_false(is_unproven("specs/workloads/softmax_dim0.yaml", cycles));
	try_answers("specs/arch/spyre32_published.yaml", "specs/workloads/pattern_gqa.yaml", cycles,
		false);
}

/* All plans that are no worse have the compulsory bytes: a beam keeps some of the labels with equal bounds. */
TEST(ties)
{
	const struct joint_aim bytes = {.hbm_bytes = 1, .fixed = KIND_RELAY | KIND_ORDERS};
	struct problem problem = {.stage = STAGE_JOINT,
		.joint = space_of(arena, "specs/workloads/moe_mlp.yaml", true, bytes)};
	struct answer answer = solve(solver_find(STAGE_JOINT, "cut_dp"), &problem, 1, 1, arena);
	assert_int_equal(answer.candidate_count, 1);
	assert_int_equal(answer.candidates[0].joint->value, 7356416);
}
