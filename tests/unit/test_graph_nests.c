/* Ops of graphs on machines whose tiles do not move in boxes: each step is a whole nest. */
#include "base/arena.h"
#include "cost/graph/cost.h"
#include "model/graph/plan_check.h"
#include "search/graph/nests.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/nest_request.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

static const struct spelling {
	const char *problem, *workload;
} spellings[] = {
	{"problem:\n"
	 "  shape:\n"
	 "    name: gemm\n"
	 "    dimensions: [M, N, K]\n"
	 "    data_spaces:\n"
	 "    - {name: Inputs, projection: [M, K]}\n"
	 "    - {name: Weights, projection: [K, N]}\n"
	 "    - {name: Outputs, projection: [M, N], read_write: true}\n"
	 "  instance: {M: 512, N: 512, K: 512}\n",
		"workload:\n"
		"  dimensions: {M: 512, N: 512, K: 512}\n"
		"  ops: ['Outputs[M,N] = sum(K) Inputs[M,K] * Weights[K,N]']\n"},
	{"problem:\n"
	 "  shape:\n"
	 "    name: conv\n"
	 "    dimensions: [C, K, R, S, P, Q]\n"
	 "    data_spaces:\n"
	 "    - {name: Weights, projection: [C, K, R, S]}\n"
	 "    - {name: Inputs, projection: [C, R + P, S + Q]}\n"
	 "    - {name: Outputs, projection: [K, P, Q], read_write: true}\n"
	 "  instance: {C: 8, K: 16, R: 3, S: 3, P: 7, Q: 7}\n",
		"workload:\n"
		"  dimensions: {C: 8, K: 16, R: 3, S: 3, P: 7, Q: 7}\n"
		"  ops: ['Outputs[K,P,Q] = sum(C,R,S) Inputs[C,R+P,S+Q] * Weights[C,K,R,S]']\n"},
	{"problem:\n"
	 "  shape:\n"
	 "    name: strided\n"
	 "    dimensions: [C, K, R, P]\n"
	 "    coefficients: [{name: stride, default: 2}]\n"
	 "    data_spaces:\n"
	 "    - {name: Weights, projection: [C, K, R]}\n"
	 "    - {name: Inputs, projection: [[[C]], [[R], [P, stride]]]}\n"
	 "    - {name: Outputs, projection: [K, P], read_write: true}\n"
	 "  instance: {C: 4, K: 6, R: 3, P: 10, stride: 2}\n",
		"workload:\n"
		"  dimensions: {C: 4, K: 6, R: 3, P: 10}\n"
		"  ops: ['Outputs[K,P] = sum(C,R) Inputs[C,R+2P] * Weights[C,K,R]']\n"},
};

static const char *const machines[] = {"specs/arch/eyeriss.yaml", "specs/arch/simba.yaml",
	"specs/arch/gemmini.yaml", "specs/arch/tpu.yaml", "specs/arch/output_stationary.yaml",
	"specs/arch/weight_stationary.yaml", "specs/arch/three_level.yaml"};

static int find_loop(const struct op *op, const char *name)
{
	for (int l = 0; l < op->loop_count; l++)
		if (!strcmp(op->loops[l].name, name))
			return l;
	fail_msg("no loop '%s'", name);
	return -1;
}

static int find_operand(const struct workload *workload, const char *name)
{
	for (int i = 0; i < op_operands(&workload->ops[0]); i++)
		if (!strcmp(workload->tensors[op_operand(&workload->ops[0], i)->tensor].name, name))
			return i;
	fail_msg("no operand '%s'", name);
	return -1;
}

/* The mapping of a problem with the loops and operands of the op. */
static struct mapping translate(
	const struct shape *shape, const struct workload *workload, const struct mapping *from)
{
	const struct op *op = &workload->ops[0];
	struct mapping to = {.loop_count = from->loop_count, .level_count = from->level_count};
	for (int t = 0; t < shape->space_count; t++)
		to.residency[find_operand(workload, shape->spaces[t].name)] = from->residency[t];
	for (int r = 0; r < from->level_count; r++)
		for (int d = 0; d < shape->dimension_count; d++) {
			const struct mapping_row *row = &from->rows[r];
			struct mapping_row *out = &to.rows[r];
			int l = find_loop(op, shape->dimensions[d].name);
			out->spatial[l] = row->spatial[d];
			out->temporal[l] = row->temporal[d];
			out->spatial_y |= (uint16_t)((row->spatial_y >> d & 1) << l);
			out->spatial_order[d] = (uint8_t)find_loop(
				op, shape->dimensions[row->spatial_order[d]].name);
			out->temporal_order[d] = (uint8_t)find_loop(
				op, shape->dimensions[row->temporal_order[d]].name);
		}
	return to;
}

static struct plan *open_plan(
	struct arena *arena, const struct arch *arch, const struct workload *workload)
{
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){.arch = arch,
		.workload = workload,
		.cores = 1,
		.step_count = (int)workload->op_count,
		.steps = arena_array(arena, struct step, workload->op_count)};
	for (int i = 0; i < plan->step_count; i++)
		plan->steps[i].op = i;
	return plan;
}

/* Checks that all integers of the nest are the same in the plan as in the problem. */
static void check_counts(const struct nest_search *search, const struct workload *workload,
	const struct nest_counts *expected, const struct nest_counts *got)
{
	assert_non_null(got);
	assert_int_equal(got->computes, expected->computes);
	assert_int_equal(got->compute_cycles, expected->compute_cycles);
	assert_int_equal(got->array_cycles, expected->array_cycles);
	for (int i = 0; i < search->hierarchy->level_count; i++)
		for (int t = 0; t < search->shape->space_count; t++) {
			int operand = find_operand(workload, search->shape->spaces[t].name);
			const struct nest_count *a = &expected->at[i][t], *b = &got->at[i][operand];
			assert_int_equal(a->reads, b->reads);
			assert_int_equal(a->fills, b->fills);
			assert_int_equal(a->updates, b->updates);
		}
}

static void check_spelling(const char *machine, const struct spelling *spelling)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	struct nest_search search = {.counting = COUNTING_EXACT,
		.wishes = {.objectives = {2, {OBJECTIVE_ENERGY, OBJECTIVE_LATENCY}},
			.simulate = SIMULATE_NONE}};
	if (!nest_request_read(arena, diag, &machine, 1, spelling->problem, &search))
		fail_msg("%s: %s", machine, complaints_text(arena, diag));
	search.exact = search.model;
	search.wishes.budget = 3000;
	struct explored explored = nest_explore(&search, arena);
	const char *complaints, *why = NULL;
	const struct workload *workload =
		workload_at_home(arena, spelling->workload, arch_home(search.arch), &complaints);
	assert_non_null(workload);
	struct plan *plan = open_plan(arena, search.arch, workload);
	assert_true(explored.frontier.count > 0);
	for (size_t k = 0; k < explored.frontier.count; k++) {
		const struct nest_found *found = explored.frontier.points[k].payload;
		struct plan_cost cost;
		plan->steps[0].mapping = translate(search.shape, workload, &found->mapping);
		struct plan_faults faults = plan_check(plan, arena);
		if (faults.count)
			fail_msg("%s: %s", machine, faults.at[0].why);
		assert_true(cost_plan(plan, arena, &cost));
		assert_true(cost.score.feasible);
		assert_int_equal(cost.score.cycles, found->score.cycles);
		assert_true(cost.score.energy_pj == found->score.energy_pj);
		assert_int_equal(cost.score.hbm_bytes, explored.frontier.points[k].score.hbm_bytes);
		check_counts(&search, workload, &found->counts, cost.counts.steps[0].nests);
	}
	/* And stage `map` finds for the op what it finds for the problem. */
	const struct nests_wanted wanted = {.objective = OBJECTIVE_ENERGY};
	struct plan_cost cost;
	if (!nests_plan(plan, &wanted, arena, &why))
		fail_msg("%s: %s", machine, why);
	assert_true(cost_plan(plan, arena, &cost));
	assert_true(
		cost.score.energy_pj <= explored.frontier.points[0].score.energy_pj * (1 + 1e-12));
	arena_close(arena);
}

TEST(an_op_costs_what_its_problem_costs)
{
	enum {
		MACHINES = sizeof machines / sizeof *machines,
		SPELLINGS = sizeof spellings / sizeof *spellings
	};
	for (long i = 0; i < MACHINES * SPELLINGS; i += draws_apart(1))
		check_spelling(machines[i % MACHINES], &spellings[i % SPELLINGS]);
}
