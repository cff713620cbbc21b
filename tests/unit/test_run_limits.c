#include "base/arena.h"
#include "base/text.h"
#include "model/graph/plan_check.h"
#include "model/graph/planning.h"
#include "model/graph/run.h"
#include "search/joint/joint_graph.h"
#include "search/joint/joint_plan.h"
#include "tests/support/arch_text.h"
#include "tests/support/draft_kinds.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

/* Runs with more tensors from outside than joint spaces try all places of: a claim names them. */

/* LX holds one of t0 and t1, and not two; rows of n elements are small. */
static const char graph[] = "workload:\n"
			    "  name: outside\n"
			    "  dimensions: {m: 20480, n: 1024}\n"
			    "  outputs: [u, v, w]\n"
			    "  ops:\n"
			    "    - t0[m,n] = a[m,n] * b[n]\n"
			    "    - t1[m,n] = t0[m,n] * c[n]\n"
			    "    - u[m,n] = t0[m,n] * d[n]\n";
static const char with_three[] = "    - v[m,n] = exp(t1[m,n])\n"
				 "    - w[m,n] = neg(t1[m,n])\n";
static const char with_five[] = "    - v[m,n] = t1[m,n] * e[n]\n"
				"    - w[m,n] = t1[m,n] * f[n]\n";

struct asked {
	struct joint_question question;
	struct planning planning;
	const struct joint_space *space;
};

static void open_space(const char *last, struct asked *asked, struct arena *arena)
{
	const struct arch *arch = arch_of_file(arena, "specs/arch/spyre32.yaml", diag_open(arena));
	const char *why = NULL;
	struct arch *boundless = arena_copy(arena, arch, sizeof *arch);
	boundless->bundle_tensors = 0;
	arch = boundless;
	asked->planning = planning_default(arch);
	asked->question =
		(struct joint_question){.arch = planning_arch(arena, arch, &asked->planning),
			.workload = workload_given(arena, arena_format(arena, "%s%s", graph, last)),
			.planning = &asked->planning,
			.aim = {.cycles = 1,
				.fixed = KIND_RELAY | KIND_EARLY | KIND_SHARED | KIND_ORDERS |
					 KIND_REDUCTION | KIND_FEW_CORES | KIND_MANY_LOOPS}};
	asked->space = joint_graph_make(&asked->question, arena, &why);
	if (!asked->space)
		fail_msg("%s", why);
}

static int find_tensor(const struct workload *workload, const char *name)
{
	int t = 0;
	while (strcmp(workload->tensors[t].name, name) != 0)
		t++;
	return t;
}

/* True if a run of all ops has just this tensor from outside in LX. */
static bool has_run_with(const struct joint_space *space, int tensor)
{
	for (size_t i = space->first_option[0]; i < space->first_option[1]; i++) {
		const struct joint_option *option = &space->options[i];
		bool only = option->end == space->op_count;
		for (int u = 0; u < option->use_count; u++)
			only &= (option->uses[u].mode != JOINT_HBM) ==
				(option->uses[u].tensor == tensor);
		if (only)
			return true;
	}
	return false;
}

/* A run of all ops in two tiles, divided alike, before which the last op's tensor is cloned. */
static void make_draft(const struct asked *asked, const char *cloned, struct plan_draft *draft)
{
	const struct joint_question *question = &asked->question;
	int ops = (int)question->workload->op_count;
	*draft = (struct plan_draft){.arch = question->arch,
		.workload = question->workload,
		.cores = question->planning->cores,
		.run_count = 1,
		.runs[0] = {.end = ops, .loop_count = 1, .loops = {{"m", 2}}}};
	for (int o = 0; o < ops; o++) {
		const struct op *op = &question->workload->ops[o];
		draft->ops[o].mapping = mapping_make(question->arch, op);
		struct mapping *mapping = &draft->ops[o].mapping;
		int m = run_loop(op, &draft->runs[0], 0);
		mapping->rows[question->arch->core].spatial[m] = (uint32_t)draft->cores;
		mapping->rows[question->arch->lx].temporal[m] = 320 / (uint32_t)draft->cores;
		if (question->workload->tensors[op->writes[0].tensor].role == TENSOR_INTERMEDIATE)
			draft->ops[o].stay = (struct draft_stay){true, VIEW_OF_OP, o, {0}};
	}
	int tensor = find_tensor(question->workload, cloned), reader = 0;
	while (!(draft_readers(question->workload, tensor) >> reader & 1))
		reader++;
	draft->move_count = 1;
	draft->moves[0] = (struct draft_move){.kind = MOVE_CLONE,
		.tensor = tensor,
		.from = -1,
		.readers = 1u << reader,
		.stay = {true, VIEW_OF_OP, reader, {0}}};
	for (int l = 0; l < OP_LOOPS_MOST; l++) {
		draft->moves[0].tiles[l] = 1;
		draft->moves[0].order[l] = (uint8_t)l;
	}
}

static struct plan *legal_plan(const struct plan_draft *draft, struct arena *arena)
{
	struct plan *plan = draft_plan(draft, arena);
	assert_non_null(plan);
	struct plan_faults faults = plan_check(plan, arena);
	if (faults.count)
		fail_msg("%s", faults.at[0].why);
	return plan;
}

TEST(claims_name_runs_with_many_tensors_from_outside)
{
	struct asked few, many;
	struct plan_draft draft;
	open_space(with_three, &few, arena);
	open_space(with_five, &many, arena);
	assert_true(has_run_with(few.space, find_tensor(few.question.workload, "d")));
	make_draft(&few, "d", &draft);
	legal_plan(&draft, arena);
	assert_false(draft_kinds(&draft) & KIND_UNLIKE_RUNS);
	assert_true(has_run_with(many.space, find_tensor(many.question.workload, "b")));
	assert_false(has_run_with(many.space, find_tensor(many.question.workload, "f")));
	make_draft(&many, "f", &draft);
	legal_plan(&draft, arena);
	const struct joint_graph *of = many.space->graph;
	assert_true(draft_kinds(&draft) & of->question.aim.fixed & KIND_UNLIKE_RUNS);
	assert_non_null(strstr(joint_claim_text(arena, &of->question), " unlike_runs "));
}

/* Later iterations read again what lies whole in LX, so no plan may have a result of a run in place of it. */
TEST(results_of_runs_are_not_in_place)
{
	struct asked few;
	struct plan_draft draft;
	open_space(with_three, &few, arena);
	make_draft(&few, "d", &draft);
	const struct plan *plan = legal_plan(&draft, arena);
	struct users users = users_make(arena, plan->workload);
	const char *why = plan_in_place_misfit(arena, plan, &users,
		find_tensor(plan->workload, "u"), find_tensor(plan->workload, "t0"));
	assert_non_null(why);
	assert_non_null(strstr(why, "do not both live inside the run of op 'u'"));
}

/* Graphs of more than 12 ops have no runs over fewer cores, even where they have no other runs: their claims say so. */
BARE_TEST(claims_of_large_graphs_name_narrow_runs)
{
	enum { OPS = 5, MOST = 12 };
	for (int ops = MOST; ops <= MOST + 1; ops++) {
		struct arena *arena = arena_open();
		struct text text = text_open(arena);
		struct asked asked;
		text_add(&text, "%s", with_three);
		for (int i = OPS; i < ops; i++)
			text_add(&text, "    - s%d[m,n] = %s%d[m,n] + w[m,n]\n", i,
				i > OPS ? "s" : "t", i > OPS ? i - 1 : 1);
		open_space(text_read(&text), &asked, arena);
		const struct joint_graph *made = asked.space->graph;
		unsigned fixed = made->question.aim.fixed;
		assert_int_equal(asked.question.workload->op_count, ops);
		assert_int_equal((fixed & KIND_NARROW_RUNS) != 0, ops > MOST);
		arena_close(arena);
	}
}
