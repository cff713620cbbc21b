#include "search/graph/lx.h"
#include "solvers/joint/dimflip.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include "tests/test.h"

/* The published example: columns for reductions, rows for the others, on four cores. */
static const char product[] = "workload:\n"
			      " dimensions: {m: 48, k: 256, n: 512}\n"
			      " ops: [\"y[m,n] = sum(k) x[m,k] * w[k,n]\"]\n";

TEST(flips_move_the_one_factor_where_it_divides_the_units)
{
	static const struct {
		const char *given, *flips[FLIPS_MOST];
	} rows[] = {
		{"core: m8", {"core: m8", "core: n8"}},
		{"core: n8 k2", {"core: n8 k2", "core: m8 k2"}},
		{"core: m16", {"core: m16"}}, /* 512 elements are 8 sticks */
		{"core: k4", {"core: k4"}},
		{"core: m2 n2", {"core: m2 n2"}},
		{"undivided", {"undivided"}},
	};
	const struct arch *arch = spyre_arch(arena, 32);
	const struct workload *workload = workload_given(arena, product);
	const struct op *op = &workload->ops[0];
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		struct mapping given, expected;
		assert_null(mapping_parse(arena, arch, op, rows[r].given, &given));
		struct flips flips = flips_find(arch, workload, op, &given);
		for (int f = 0; f < flips.count; f++) {
			if (!rows[r].flips[f])
				fail_msg("%s: also %s", rows[r].given,
					mapping_print(arena, arch, op, &flips.at[f]));
			assert_null(mapping_parse(arena, arch, op, rows[r].flips[f], &expected));
			for (int l = 0; l < op->loop_count; l++)
				assert_int_equal(mapping_split(arch, &flips.at[f], l),
					mapping_split(arch, &expected, l));
		}
		assert_null(rows[r].flips[flips.count]);
	}
}

/* 65 columns are two sticks, the second nearly empty: no flip shares them two ways. */
TEST(flips_divide_elements_too)
{
	static const char ragged[] = "workload:\n"
				     " dimensions: {m: 100, n: 65}\n"
				     " ops: [\"y[m,n] = exp(x[m,n])\"]\n";
	const struct arch *arch = spyre_arch(arena, 2);
	const struct workload *workload = workload_given(arena, ragged);
	struct mapping given;
	assert_null(mapping_parse(arena, arch, workload->ops, "core: m2", &given));
	assert_int_equal(op_units(workload, workload->ops, 1), 2);
	assert_int_equal(flips_find(arch, workload, workload->ops, &given).count, 1);
}

struct asked {
	const struct arch *arch;
	const struct workload *workload;
	struct planning planning;
	const struct mapping *division;
	struct answer answer;
};

static struct asked ask(struct arena *arena, const char *yaml, int cores, uint64_t budget)
{
	struct asked asked = {.arch = spyre_arch(arena, cores)};
	asked.workload = workload_given(arena, yaml);
	asked.planning = planning_default(asked.arch);
	planning_lists("published", &asked.planning.eligible, &asked.planning.in_place);
	asked.planning.clones = CLONE_OFF;
	struct problem problem = {.stage = STAGE_DIVIDE,
		.arch = asked.arch,
		.workload = asked.workload,
		.planning = &asked.planning,
		.op = -1,
		.place = solver_find(STAGE_PLACE, "greedy")};
	problem.division = asked.division =
		solve(solver_find(STAGE_DIVIDE, "spyre"), &problem, 0, 1, arena)
			.candidates[0]
			.mappings;
	problem.stage = STAGE_JOINT;
	asked.answer = solve(solver_find(STAGE_JOINT, "dimflip"), &problem, budget, 1, arena);
	assert_int_equal(asked.answer.candidate_count, 1);
	return asked;
}

static int64_t unplaced(
	struct arena *arena, const struct asked *asked, const struct mapping *division)
{
	struct lx_layout layout = lx_layout(asked->arch, asked->workload, division,
		&asked->planning, solver_find(STAGE_PLACE, "greedy"), arena);
	return lx_unplaced_bytes(&layout);
}

TEST(softmax_on_four_cores_is_flipped_to_columns)
{
	struct asked asked = ask(arena, softmax_yaml, 4, 0);
	const struct mapping *best = asked.answer.candidates[0].mappings;
	for (int o = 0; o < 5; o++) {
		const struct op *op = &asked.workload->ops[o];
		for (int l = 0; l < op->loop_count; l++)
			assert_int_equal(mapping_split(asked.arch, &best[o], l),
				op->loops[l].name[0] == 'n' ? 4 : 1);
	}
	assert_int_equal(unplaced(arena, &asked, best), 1048576);
	assert_int_equal((int64_t)asked.answer.values[0], 1048576);
	assert_int_equal(asked.answer.status, PROOF_NONE);
	assert_false(asked.answer.cut);
}

/* Every combination by counting in mixed radix; nothing may be better, no earlier one equal. */
TEST(no_combination_is_better)
{
	struct asked asked = ask(arena, softmax_yaml, 8, 0);
	int64_t value = (int64_t)asked.answer.values[0];
	struct mapping trial[5];
	int combinations = 1, equals = 0;
	for (int number = 0; number < combinations; number++) {
		combinations = 1;
		for (int o = 4; o >= 0; o--) {
			struct flips flips = flips_find(asked.arch, asked.workload,
				&asked.workload->ops[o], &asked.division[o]);
			trial[o] = flips.at[number / combinations % flips.count];
			combinations *= flips.count;
		}
		int64_t bytes = unplaced(arena, &asked, trial);
		assert_true(bytes >= value);
		if (bytes > value || equals++)
			continue;
		for (int o = 0; o < 5; o++)
			assert_true(
				mapping_equal(&trial[o], &asked.answer.candidates[0].mappings[o]));
	}
	assert_true(combinations > 4);
	assert_true(equals > 0);
}

TEST(a_cut_search_says_so_and_offers_the_best_it_saw)
{
	struct asked asked = ask(arena, softmax_yaml, 4, 7);
	assert_true(asked.answer.cut);
	assert_int_equal(asked.answer.status, PROOF_BUDGET);
	assert_int_equal(asked.answer.complaint_count, 1);
	assert_false(asked.answer.complaints[0].error);
	for (int o = 0; o < 5; o++)
		assert_true(
			mapping_equal(&asked.answer.candidates[0].mappings[o], &asked.division[o]));
	assert_true(asked.answer.ticks <= 7);
	struct asked none = ask(arena, softmax_yaml, 4, 1);
	assert_true(none.answer.cut);
	assert_true(mapping_equal(&none.answer.candidates[0].mappings[4], &none.division[4]));
}
