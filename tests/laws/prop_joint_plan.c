#include "base/arena.h"
#include "base/random.h"
#include "search/joint/joint_build.h"
#include "tests/support/draws.h"
#include "tests/support/joint_judged.h"
#include "tests/support/joint_walk.h"

#include "tests/test.h"

/*
 * Random graphs become joint spaces; random answers of these, not only good ones, become plans.  Each keeps
 * all rules, ends with the right results, counts what the model counts, and costs what the answer does: in
 * cycles, energy and HBM bytes.
 */
enum { ANSWERS = 4 };

struct seen {
	long built, clones, reloads, evicts, in_place;
};

static const int cores[] = {2, 4, 8, 32};

struct asked {
	struct joint_question question;
	const struct joint_space *space;
	uint64_t seed;
};

static void look_at(const struct plan *plan, struct seen *seen)
{
	for (int s = 0; s < plan->step_count; s++) {
		enum move_kind move = plan->workload->ops[s].move;
		seen->clones += move == MOVE_CLONE;
		seen->reloads += move == MOVE_RELOAD;
		seen->evicts += move == MOVE_EVICT;
	}
	for (int i = 0; i < plan->residency_count; i++)
		seen->in_place += plan->residencies[i].in_place_of >= 0;
	seen->built++;
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
	why = joint_judge(&asked->question, plan, value, asked->seed, arena);
	if (why)
		fail_msg("%s", why);
	look_at(plan, seen);
}

static void answers_are_plans(void **state)
{
	long count = draws(60);
	uint64_t seed = draws_seed(1);
	struct seen seen = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		const char *why = NULL;
		struct asked asked = {
			.question = joint_question_draw(&random, cores, 4, arena), .seed = seed};
		asked.space = joint_graph_make(&asked.question, arena, &why);
		if (!asked.space)
			fail_msg("draw %ld: %s", draw, why);
		for (int i = 0; i < ANSWERS; i++)
			try_answer(&asked, &random, arena, &seen);
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) ||
		    (seen.built > 2 * count && seen.clones > count && seen.reloads > count &&
			    seen.evicts > count && seen.in_place > count / 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_plans)};
	return cmocka_run_group_tests_name("joint_plan", tests, NULL, NULL);
}
