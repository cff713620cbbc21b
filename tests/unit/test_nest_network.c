#include "base/arena.h"
#include "cost/nest.h"
#include "tests/support/nest_line.h"

#include "tests/test.h"

/*
 * Networks by hand: four elements below the buffer, a hop at 0.5 pJ, a router at 2 pJ.  A word for
 * one of four takes 2 + 0.5 - 2 + 0.5 = 1 hop, one for all of them 4 - 1 + 0.5 = 3.5.
 */
static double network_pj(struct arena *arena, const char *einsum, const char *mapping,
	enum counting counting, double hop_pj, double router_pj)
{
	struct nest_case *nest = nest_line(arena, "DRAM GLB (PE:4) RF MAC", einsum, mapping);
	struct nest_level *level = nest_line_level(nest, "GLB");
	struct nest_level *fan = level - 1; /* the fan-out is a level of its own below the buffer */
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	level->hop_pj = hop_pj;
	level->router_pj = router_pj;
	assert_true(fan->fanout_x == 4 || level->fanout_x == 4);
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, counting);
	assert_int_equal(nest_evaluate(model, &nest->mapping, counts, score), NEST_FITS);
	int i = (int)(level - nest->hierarchy.levels);
	double sum = score->compute_pj;
	for (int k = 0; k < nest->hierarchy.level_count; k++)
		sum += score->level_pj[k];
	assert_true(score->energy_pj == sum);
	return score->network_pj[i];
}

/* A: 8 words for one each; B: 4 words for all; Z: 8 words from one each. */
static void multicast_shares_the_way(void **state)
{
	struct arena *arena = arena_open();
	for (int c = COUNTING_EXACT; c <= COUNTING_TIMELOOP; c++) {
		double pj = network_pj(arena, "Z[m,n] = A[m,k] B[k,n], m=4 n=2 k=2",
			"GLB: n2 | PE: m4 | RF: k2", (enum counting)c, 0.5, 2);
		assert_true(pj == 0.5 * (8 + 4 * 3.5 + 8) + 2 * (8 * 2 + 4 * 4.5 + 8 * 2));
	}
	arena_close(arena);
}

/* A and B: 8 words for one each; Z: 4 words that the network makes of 16. */
static void sums_meet_on_the_way(void **state)
{
	struct arena *arena = arena_open();
	double pj = network_pj(arena, "Z[m,n] = A[m,k] B[k,n], m=2 n=2 k=4",
		"GLB: n2 | PE: k4 | RF: m2", COUNTING_EXACT, 0.5, 0);
	assert_true(pj == 0.5 * (8 + 8 + 4 * 3.5));
	arena_close(arena);
}

/* Z comes back once for each of k's two rounds: 8 words up twice, 8 down again. */
static void returning_sums_are_charged_exactly(void **state)
{
	struct arena *arena = arena_open();
	static const char einsum[] = "Z[m,n] = A[m,k] B[k,n], m=4 n=2 k=2";
	static const char mapping[] = "GLB: k2 n2 | PE: m4";
	double exact = network_pj(arena, einsum, mapping, COUNTING_EXACT, 1, 0);
	double timeloop = network_pj(arena, einsum, mapping, COUNTING_TIMELOOP, 1, 0);
	assert_true(exact - timeloop == 8);
	arena_close(arena);
}

static void nothing_is_charged_where_nothing_is_given(void **state)
{
	struct arena *arena = arena_open();
	assert_true(network_pj(arena, "Z[m,n] = A[m,k] B[k,n], m=4 n=2 k=2",
			    "GLB: n2 | PE: m4 | RF: k2", COUNTING_EXACT, 0, 0) == 0);
	arena_close(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(multicast_shares_the_way),
		cmocka_unit_test(sums_meet_on_the_way),
		cmocka_unit_test(returning_sums_are_charged_exactly),
		cmocka_unit_test(nothing_is_charged_where_nothing_is_given),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
