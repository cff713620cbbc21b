#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "cost/graph/cost.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "model/graph/planning.h"
#include "search/engine/kept.h"
#include "search/joint/joint_build.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/joint_walk.h"
#include "tests/support/random_graph.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <math.h>

#include "tests/test.h"

/*
 * Random graphs become joint spaces; random answers of these, not only good ones, become plans.  Each keeps
 * all rules, ends with the right results, counts what the model counts, and costs what the answer does: in
 * cycles, energy and HBM bytes.
 */
enum { ANSWERS = 4 };

struct seen {
	long built, clones, reloads, evicts, in_place, runs;
};

static const struct joint_aim aims[] = {{.cycles = 1}, {.energy = 1}, {.hbm_bytes = 1}};

struct asked {
	struct joint_question question;
	const struct joint_space *space;
	uint64_t seed;
};

/* Small attentions, whose scores LX may not hold. */
static const struct workload *draw_scores(struct random *random, struct arena *arena)
{
	static const int heads[] = {2, 3, 4}, queries[] = {12, 16, 64, 100};
	const char *mapped = draw_chance(random, 2) ? "neg(s[h,q,k])" : "s[h,q,k] - x[h,q]";
	return workload_given(arena,
		arena_format(arena,
			"workload: {dimensions: {h: %d, q: %d, k: 128, d: 64}, ops: ["
			"'t[h,d,k] = restickify K[h,k,d]', "
			"'s[h,q,k] = sum(d) Q[h,q,d] * t[h,d,k]', 'x[h,q] = max(k) s[h,q,k]', "
			"'e[h,q,k] = %s', 'f[h,q,k] = e[h,q,k] - x[h,q]', "
			"'o[h,q,d] = sum(k) f[h,q,k] * V[h,k,d]', 'y[h,q,d] = o[h,q,d] + Q[h,q,d]']}",
			heads[draw_below(random, 3)], queries[draw_below(random, 4)], mapped));
}

static struct joint_question draw_question(struct random *random, struct arena *arena)
{
	static const int cores[] = {2, 4, 8, 32};
	int count = cores[draw_below(random, 4)];
	struct planning *planning = arena_new(arena, struct planning);
	const struct arch *arch = spyre_arch(arena, count);
	*planning = planning_default(arch);
	planning->published_tiles = draw_chance(random, 2);
	bool scores = draw_chance(random, 3);
	const struct workload *workload =
		scores ? draw_scores(random, arena) : random_graph(random, arena);
	if (draw_chance(random, 2))
		planning->lx_capacity = 1024 * (1 + draw_below(random, 16));
	if (scores)
		planning->lx_capacity = number_align_up(
			workload->tensors[workload_tensor(workload, "s")].layout.bytes / count / 2,
			1024);
	return (struct joint_question){.arch = planning_arch(arena, arch, planning),
		.workload = workload,
		.planning = planning,
		.aim = aims[draw_below(random, 3)],
		.price = JOINT_BOUND};
}

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
	seen->runs += plan->run_count;
	seen->built++;
}

/* What the plan's score is worth, and how far off rounding may leave it. */
static double worth(const struct joint_question *question, const struct score *score)
{
	return (double)question->aim.cycles * (double)score->cycles +
	       (double)question->aim.energy * score->energy_pj * 1024 +
	       (double)question->aim.hbm_bytes * (double)score->hbm_bytes;
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
	double own = worth(&asked->question, &cost.score);
	double off = asked->question.aim.energy ? plan->step_count + 1e-12 * own : 0;
	if (cost.score.rejected)
		fail_msg("%s\n%s", cost.score.rejected, text_read(&text));
	if (fabs(own - (double)value) > off)
		fail_msg("the plan is worth %.17g, the answer %" PRId64 "\n%s", own, value,
			text_read(&text));
	const char *why = execute_exactly(plan, asked->seed, arena);
	if (why)
		fail_msg("%s\n%s", why, text_read(&text));
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
	long count = draws(60);
	uint64_t seed = draws_seed(1);
	struct seen seen = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		const char *why = NULL;
		struct asked asked = {.question = draw_question(&random, arena), .seed = seed};
		asked.space = joint_graph_make(&asked.question, arena, &why);
		if (!asked.space)
			fail_msg("draw %ld: %s", draw, why);
		for (int i = 0; i < ANSWERS; i++)
			try_answer(&asked, &random, arena, &seen);
		arena_close(arena);
	}
	print_message("%ld plans, %ld runs\n", seen.built, seen.runs);
	assert_true(!draws_are_many(count) ||
		    (seen.built > 2 * count && seen.clones > count && seen.reloads > count &&
			    seen.evicts > count && seen.in_place > count / 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_plans)};
	return cmocka_run_group_tests_name("joint_plan", tests, NULL, NULL);
}
