#include "base/arena.h"
#include "constraints/constraints.h"
#include "constraints/graph.h"
#include "model/graph/box_nest.h"
#include "search/drive/solver.h"
#include "search/graph/explore.h"
#include "search/graph/lx.h"
#include "search/graph/recipe.h"
#include "tests/support/complaints.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

enum { CORES = 8 };

/* Two tensors of 131072 bytes on each of 8 cores that are needed at once; x is read twice. */
static const char chain_yaml[] = "workload:\n"
				 "  name: chain\n"
				 "  dimensions: {m: 512, n: 1024}\n"
				 "  ops:\n"
				 "    - a[m,n] = neg(x[m,n])\n"
				 "    - b[m,n] = exp(x[m,n])\n"
				 "    - c[m,n] = a[m,n] + b[m,n]\n"
				 "    - y[m,n] = neg(c[m,n])\n";

struct graph_case {
	struct arena *arena;
	const struct arch *arch;
	const struct workload *workload;
	struct diag *diag;
	struct constraints constraints;
};

static struct graph_case open_case(struct arena *arena, const char *workload, const char *yaml)
{
	struct graph_case test = {.arena = arena,
		.arch = spyre_arch(arena, CORES),
		.workload = workload_given(arena, workload),
		.diag = diag_open(arena)};
	struct reading reading = {.arena = arena, .diag = test.diag};
	const struct constraint_context context = {
		.reading = &reading, .arch = test.arch, .workload = test.workload};
	const struct node *lists[2] = {
		node_read_text(arena, "constraints.yaml", yaml, strlen(yaml), test.diag)};
	test.constraints = constraints_read(&context, lists);
	assert_string_equal(complaints_text(arena, test.diag), "");
	return test;
}

static struct explored explored_under(
	const struct graph_case *test, const struct constraints *constraints)
{
	struct exploration exploration = {
		.arch = test->arch,
		.workload = test->workload,
		.planning = planning_default(test->arch),
		.wishes.objectives = {2, {OBJECTIVE_LATENCY, OBJECTIVE_HBM_BYTES}},
		.core_count = 1,
		.cores = {CORES},
		.vary_clones = true,
		.place = {1, {solver_find(STAGE_PLACE, "greedy")}},
		.divide = portfolio_for(STAGE_DIVIDE, FOR_GRAPHS | FOR_OPS),
		.joint = portfolio_for(STAGE_JOINT, FOR_GRAPHS),
		.wishes.simulate = SIMULATE_NONE,
		.joint_ticks = 2000,
		.wishes.seed = 1,
		.wishes.asker.jobs = 2,
	};
	exploration.planning.constraints = constraints;
	return explore(&exploration, test->arena);
}

/* Counts the points of a frontier whose plans, made again, keep the constraints. */
static size_t count_keeping(const struct graph_case *test, const struct explored *explored,
	bool (*keeps)(const struct plan *plan))
{
	size_t count = 0;
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct plan_found *found = explored->frontier.points[i].payload;
		struct recipe_result made = recipe_plan(&found->recipe, test->arena);
		assert_non_null(made.plan);
		count += keeps(made.plan);
	}
	return count;
}

/* All plans under the constraints keep them, and not all plans do without. */
static void holds_because_it_is_asked_for(const char *yaml, bool (*keeps)(const struct plan *plan))
{
	struct arena *arena = arena_open();
	struct graph_case test = open_case(arena, softmax_yaml, yaml);
	struct explored asked = explored_under(&test, &test.constraints);
	struct explored free = explored_under(&test, NULL);
	assert_true(asked.frontier.count > 0 && free.frontier.count > 0);
	assert_int_equal(count_keeping(&test, &asked, keeps), asked.frontier.count);
	assert_true(count_keeping(&test, &free, keeps) < free.frontier.count);
	arena_close(arena);
}

static int64_t cores_of(const struct plan *plan, const char *name)
{
	for (int i = 0; i < plan->step_count; i++)
		if (strcmp(plan->workload->ops[plan->steps[i].op].name, name) == 0)
			return mapping_cores(plan->arch, &plan->steps[i].mapping);
	fail_msg("no op '%s'", name);
	return 0;
}

static bool exp_has_two_cores(const struct plan *plan)
{
	return cores_of(plan, "e") <= 2;
}

static bool all_have_four_cores(const struct plan *plan)
{
	int64_t most = 0;
	for (int i = 0; i < plan->step_count; i++)
		if (mapping_cores(plan->arch, &plan->steps[i].mapping) > most)
			most = mapping_cores(plan->arch, &plan->steps[i].mapping);
	return most <= 4;
}

static bool stays_in_lx(const struct plan *plan, const char *name)
{
	int tensor = workload_tensor(plan->workload, name);
	for (int i = 0; i < plan->residency_count; i++)
		if (plan->residencies[i].tensor == tensor && plan->residencies[i].place == PLACE_LX)
			return true;
	return false;
}

static bool exp_is_in_hbm(const struct plan *plan)
{
	return !stays_in_lx(plan, "e");
}

static bool x_has_no_clone(const struct plan *plan)
{
	return workload_tensor(plan->workload, "clone_x") < 0;
}

TEST(an_op_uses_no_more_cores_than_it_may)
{
	holds_because_it_is_asked_for("[{type: graph, target: e, cores: 2}]", exp_has_two_cores);
}

TEST(without_a_target_all_ops_are_meant)
{
	holds_because_it_is_asked_for("[{type: graph, cores: 4}]", all_have_four_cores);
	holds_because_it_is_asked_for(
		"[{type: graph, target: '*', cores: 4}]", all_have_four_cores);
}

TEST(a_tensor_stays_out_of_lx)
{
	holds_because_it_is_asked_for("[{type: graph, target: e, residency: hbm}]", exp_is_in_hbm);
	holds_because_it_is_asked_for("[{type: graph, target: x, residency: hbm}]", x_has_no_clone);
}

/* The plan of the published division. */
static struct recipe_result planned(
	const struct graph_case *test, const struct constraints *constraints, int64_t lx)
{
	struct recipe recipe = {.arch = test->arch,
		.workload = test->workload,
		.planning = planning_default(test->arch),
		.place = solver_find(STAGE_PLACE, "greedy")};
	if (lx)
		recipe.planning.lx_capacity = lx;
	recipe.planning.clones = lx ? CLONE_OFF : CLONE_READERS;
	recipe.planning.constraints = constraints;
	return recipe_plan(&recipe, test->arena);
}

/* With room for one of the two, the one that must be there is. */
BARE_TEST(a_tensor_that_must_live_in_lx_goes_first)
{
	static const char *const names[] = {"a", "b"};
	for (int i = 0; i < 2; i++) {
		struct arena *arena = arena_open();
		struct graph_case test = open_case(arena, chain_yaml,
			arena_format(
				arena, "[{type: graph, target: %s, residency: lx}]", names[i]));
		struct recipe_result made = planned(&test, &test.constraints, 131072);
		assert_non_null(made.plan);
		assert_true(stays_in_lx(made.plan, names[i]));
		assert_false(stays_in_lx(made.plan, names[!i]));
		arena_close(arena);
	}
}

TEST(what_cannot_live_in_lx_is_refused_with_the_reason)
{
	struct graph_case test =
		open_case(arena, chain_yaml, "[{type: graph, target: a, residency: lx}]");
	struct recipe_result made = planned(&test, &test.constraints, 1024);
	assert_null(made.plan);
	assert_string_equal(made.why,
		"'a' lives in HBM, it must live in LX: its 131072 bytes per core (1024 sticks) "
		"exceed the 1024 of LX");
	assert_ptr_equal(made.broken, &test.constraints.at[0]);
}

/* The widest operand of every division that the exhaustive solver offers for one op. */
static int64_t widest_span(const struct graph_case *test, const struct planning *planning, int op)
{
	struct problem problem = {.stage = STAGE_DIVIDE,
		.arch = test->arch,
		.workload = test->workload,
		.planning = planning,
		.op = op};
	struct answer answer =
		solve(solver_find(STAGE_DIVIDE, "exhaustive"), &problem, 0, 1, test->arena);
	const char *why;
	const struct op *meant = &test->workload->ops[op];
	const struct iteration *iteration =
		iteration_make(test->arena, test->workload, meant, &why);
	int64_t widest = 0;
	assert_true(answer.candidate_count > 0);
	for (size_t c = 0; c < answer.candidate_count; c++) {
		int64_t splits[OP_LOOPS_MOST];
		for (int l = 0; l < meant->loop_count; l++)
			splits[l] = mapping_split(test->arch, answer.candidates[c].mappings, l);
		for (int i = 0; i < iteration->operand_count; i++)
			if (iteration_span(iteration, i, splits) > widest)
				widest = iteration_span(iteration, i, splits);
	}
	return widest;
}

TEST(an_op_spans_no_more_than_it_may)
{
	struct graph_case test =
		open_case(arena, softmax_yaml, "[{type: graph, target: e, span: 256KiB}]");
	struct planning planning = planning_default(test.arch);
	int exp = workload_op(test.workload, "e"), sub = workload_op(test.workload, "s");
	assert_true(widest_span(&test, &planning, exp) > 256 << 10);
	planning.constraints = &test.constraints;
	planning.strict = false;
	assert_true(widest_span(&test, &planning, exp) <= 256 << 10);
	assert_true(widest_span(&test, &planning, sub) > 256 << 10);
	struct explored asked = explored_under(&test, &test.constraints);
	assert_true(asked.frontier.count > 0);
}

/* A plan that was made without them is held against constraints of all kinds. */
BARE_TEST(a_plan_that_breaks_one_is_told_so)
{
	static const struct {
		const char *yaml, *why;
	} cases[] = {
		{"[{type: graph, target: b, cores: 2}]", "op 'b' uses 8 cores, more than 2"},
		{"[{type: graph, cores: 8}]", NULL},
		{"[{type: graph, span: 4KiB}]",
			"op 'a': a core spans 1048576 bytes of 'clone_x', more than 4096"},
		{"[{type: graph, span: 256MiB}]", NULL},
		{"[{type: graph, target: a, residency: hbm}]",
			"'a' lives in LX, it must live in HBM"},
		{"[{type: graph, target: a, residency: lx}]", NULL},
		{"[{type: graph, target: x, residency: hbm}]",
			"'x' lives in LX, it must live in HBM"},
		{"[{type: graph, target: x, residency: lx}]", NULL},
		{"[{type: graph, target: y, residency: lx}]",
			"'y' lives in HBM, it must live in LX"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena *arena = arena_open();
		struct graph_case test = open_case(arena, chain_yaml, cases[i].yaml);
		struct recipe_result made = planned(&test, NULL, 0);
		const char *why = NULL;
		assert_non_null(made.plan);
		graph_check(&test.constraints, made.plan, arena, &why);
		if (cases[i].why)
			assert_string_equal(why, cases[i].why);
		else
			assert_null(why);
		arena_close(arena);
	}
}

TEST(they_explain_themselves)
{
	static const char *const sentences[] = {"every op uses at most 4 cores",
		"a core spans at most 65536 bytes of an operand of op 'e'", "'e' lives in LX"};
	struct graph_case test = open_case(arena, softmax_yaml,
		"[{type: graph, cores: 4}, {type: graph, target: e, span: 64KiB}, {type: graph, "
		"target: e, residency: lx}]");
	for (size_t i = 0; i < test.constraints.count; i++)
		assert_string_equal(
			test.constraints.at[i].kind->explain(NULL, &test.constraints.at[i], arena),
			sentences[i]);
}

/* The plan that is free of the constraint is proven, no slower than the one that keeps it, and where the search
 * under the constraint begins. */
BARE_TEST(a_price_is_told_by_the_free_plan)
{
	static const char *const names[] = {"a", "b", "c"};
	size_t starts = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct arena *arena = arena_open();
		struct graph_case test = open_case(arena, chain_yaml,
			arena_format(
				arena, "[{type: graph, target: %s, residency: lx}]", names[i]));
		struct recipe recipe = {.arch = test.arch,
			.workload = test.workload,
			.planning = planning_default(test.arch),
			.place = solver_for(STAGE_PLACE, FOR_GRAPHS),
			.joint = solver_find(STAGE_JOINT, "cut_dp"),
			.aim = {.cycles = 1}};
		assert_null(lx_price_find(&recipe, arena).tensors);
		recipe.planning.constraints = &test.constraints;
		struct lx_price price = lx_price_find(&recipe, arena);
		assert_string_equal(price.tensors, arena_format(arena, "'%s'", names[i]));
		assert_non_null(price.free);
		assert_int_equal(price.free->proof.status, PROOF_OPTIMAL);
		const struct plan *kept = recipe_plan(&recipe, arena).plan;
		assert_non_null(kept);
		assert_true(price.free->proof.value <= kept->proof.value);
		const char *why = NULL;
		starts += price.start != NULL;
		assert_true(
			!price.start || !graph_check(&test.constraints, price.start, arena, &why));
		arena_close(arena);
	}
	assert_true(starts > 0);
}
