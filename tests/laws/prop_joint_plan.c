#include "base/arena.h"
#include "base/random.h"
#include "model/graph/planning.h"
#include "tests/support/draws.h"
#include "tests/support/joint_judged.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include "tests/test.h"

/*
 * Random graphs become joint spaces; random answers of these, not only good ones, become plans.  Each keeps
 * all rules, ends with the right results, counts what the model counts, and costs what the answer does: in
 * cycles, energy and HBM bytes.
 */
enum { ANSWERS = 4 };

struct seen {
	long built, clones, reloads, evicts, relayouts, owned, in_place, runs;
};

static const int cores[] = {2, 4, 8, 32};

struct asked {
	struct joint_question question;
	const struct joint_space *space;
	uint64_t seed;
};

/* A small attention, whose scores just fit into LX. */
static void draw_scores(struct random *random, struct joint_question *question, struct arena *arena)
{
	static const int heads[] = {2, 3, 4}, queries[] = {12, 16, 64, 100};
	const char *mapped = draw_chance(random, 2) ? "neg(s[h,q,k])" : "s[h,q,k] - x[h,q]";
	question->workload = workload_given(arena,
		arena_format(arena,
			"workload: {dimensions: {h: %d, q: %d, k: 128, d: 64}, ops: ["
			"'t[h,d,k] = restickify K[h,k,d]', "
			"'s[h,q,k] = sum(d) Q[h,q,d] * t[h,d,k]', 'x[h,q] = max(k) s[h,q,k]', "
			"'e[h,q,k] = %s', 'f[h,q,k] = e[h,q,k] - x[h,q]', "
			"'o[h,q,d] = sum(k) f[h,q,k] * V[h,k,d]', 'y[h,q,d] = o[h,q,d] + Q[h,q,d]']}",
			heads[draw_below(random, 3)], queries[draw_below(random, 4)], mapped));
	int s = workload_tensor(question->workload, "s"), count = question->planning->cores;
	struct planning *planning = arena_copy(arena, question->planning, sizeof *planning);
	planning->lx_capacity = question->workload->tensors[s].layout.bytes / count;
	question->planning = planning;
	question->arch = planning_arch(arena, spyre_arch(arena, count), planning);
}

static void look_at(const struct plan *plan, struct seen *seen)
{
	for (int s = 0; s < plan->step_count; s++) {
		enum move_kind move = plan->workload->ops[s].move;
		seen->clones += move == MOVE_CLONE;
		seen->reloads += move == MOVE_RELOAD;
		seen->evicts += move == MOVE_EVICT;
		seen->relayouts += move == MOVE_RELAYOUT;
	}
	for (int i = 0; i < plan->residency_count; i++) {
		seen->in_place += plan->residencies[i].in_place_of >= 0;
		seen->owned += plan->residencies[i].view.only > 1;
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
	look_at(plan, seen);
}

BARE_TEST(answers_are_plans)
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
		bool scores = draw_chance(&random, 3);
		if (scores)
			draw_scores(&random, &asked.question, arena);
		asked.space = joint_graph_make(&asked.question, arena, &why);
		if (!asked.space)
			fail_msg("draw %ld: %s", draw, why);
		for (int i = 0; i < (scores ? 4 * ANSWERS : ANSWERS); i++)
			try_answer(&asked, &random, arena, &seen);
		arena_close(arena);
	}
	print_message("%ld plans, %ld runs of steps\n", seen.built, seen.runs);
	assert_true(!draws_are_many(count) ||
		    (seen.built > count && seen.clones > count && seen.reloads > count / 2 &&
			    seen.evicts > count / 2 && seen.relayouts > count / 2 &&
			    seen.owned > count / 16 && seen.in_place > count / 2 &&
			    seen.runs > count / 8));
}
