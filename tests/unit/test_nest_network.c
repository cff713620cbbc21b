#include "base/arena.h"
#include "cost/nest/nest.h"
#include "tests/support/nest_line.h"

#include "tests/test.h"

/*
 * Networks by hand: four elements in a row below the buffer, or four rows of two.
 *
 * `exact`: a word for one of four takes 2 + 0.5 - 2 + 0.5 = 1 hop, one for all of them
 * 4 - 1 + 0.5 = 3.5.
 *
 * `timeloop`: Manhattan distances from the middle of the side, so 0, 1, 2, 3 in a row and 3 for all.
 */
static double network_pj(struct arena *arena, const char *einsum, const char *mapping,
	enum counting counting, double hop_pj, double router_pj)
{
	struct nest_case *nest = nest_line(arena, "DRAM GLB (PE:4) RF MAC", einsum, mapping);
	struct nest_level *level = nest_line_level(nest, "GLB");
	struct nest_level *fan = level - 1; /* the fan-out is a level of its own below the buffer */
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	assert_int_equal(fan->fanout.x, 4);
	/* Timeloop's network below a level ends at the next one, be it a fan-out alone. */
	level = counting == COUNTING_TIMELOOP ? fan : level;
	level->network.hop_pj = hop_pj;
	level->network.router_pj = router_pj;
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
TEST(multicast_shares_the_way)
{
	double pj = network_pj(arena, "Z[m,n] = A[m,k] B[k,n], m=4 n=2 k=2",
		"GLB: n2 | PE: m4 | RF: k2", COUNTING_EXACT, 0.5, 2);
	assert_true(pj == 0.5 * (8 + 4 * 3.5 + 8) + 2 * (8 * 2 + 4 * 4.5 + 8 * 2));
}

/* 1024 words each of A and Z for one, at 1.5 hops on average, and 256 of B for all; as Timeloop
 * 4cf6d4c has it: 3,840 and 5,120 pJ. */
TEST(timeloop_measures_manhattan_hops)
{
	static const char einsum[] = "Z[m,n] = A[m,k] B[k,n], m=16 n=16 k=16";
	static const char mapping[] = "DRAM: k2 n2 | GLB: k2 n2 m2 | PE: m4 | RF: k4 n4 m2";
	assert_true(network_pj(arena, einsum, mapping, COUNTING_TIMELOOP, 1, 0) == 3840);
	assert_true(network_pj(arena, einsum, mapping, COUNTING_TIMELOOP, 0, 1) == 5120);
	assert_true(network_pj(arena, einsum, mapping, COUNTING_EXACT, 1, 0) >= 2944);
}

/* Hops, or routers if the level cannot add. */
static double below_mesh(struct arena *arena, const char *einsum, const char *mapping, bool reduces)
{
	struct nest_case *nest = nest_line(arena, "DRAM GLB (PE:2x4) RF MAC", einsum, mapping);
	struct nest_level *fan = nest_line_level(nest, "GLB") - 1;
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	assert_int_equal(fan->fanout.y, 4);
	fan->network.hop_pj = reduces ? 1 : 0;
	fan->network.router_pj = reduces ? 0 : 1;
	fan->store.reduces = reduces;
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_TIMELOOP);
	assert_int_equal(nest_evaluate(model, &nest->mapping, counts, score), NEST_FITS);
	return score->network_pj[fan - nest->hierarchy.levels];
}

/*
 * By hand from nest-analysis.cpp and network-legacy.cpp of Timeloop, for n along X and m along Y:
 * words enter at row 1.5.  A: each of four words for both columns of a row, 1 + 2 x 1.5 or 1 + 2 x
 * 0.5 hops.  B: each of two words for one column, 1.5 up and 1.5 down, and 1 hop to the second.  Z:
 * eight words for one each, 1.5 or 0.5, four of them 1 more. If m is in time alone, nothing leaves
 * row 0.
 */
TEST(timeloop_goes_along_x_and_then_along_columns)
{
	assert_true(below_mesh(arena, "Z[m,n] = A[m,k] B[k,n], m=4 n=2 k=1", "PE: m4@y n2", true) ==
		    2 * (1 + 3) + 2 * (1 + 1) + (3 + 4) + 4 * (1.5 + 0.5) + 4);
	assert_true(below_mesh(arena, "Z[m,n] = A[m,k] B[k,n], m=4 n=2 k=1", "PE: n2 | RF: m4",
			    true) == 4 * (1 + 3) + 8 * 1.5 + 4 + 2 * 1.5 + 1);
}

/* As Timeloop of 2024 printed it for the Eyeriss of its exercises, 14 x 12 PEs: of 14 in a row 6.5
 * hops to one and 13 to all, of 9 in a column of 12 2.5 to one and 8 to all. */
TEST(timeloop_printed_these_hops)
{
	static const struct {
		const char *levels, *einsum, *mapping;
		double pj;
	} rows[] = {
		{"DRAM GLB (PE:14) RF MAC", "Z[q] = A[q] B[k], q=14 k=1", "PE: q14",
			14 * 6.5 + 13 + 14 * 6.5},
		{"DRAM GLB (PE:1x12) RF MAC", "Z[q] = A[k] B[q], q=1 k=9", "PE: k9@y",
			9 * 2.5 + 8 + 8},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct nest_case *nest =
			nest_line(arena, rows[i].levels, rows[i].einsum, rows[i].mapping);
		struct nest_level *fan = nest_line_level(nest, "GLB") - 1;
		struct nest_counts *counts = arena_new(arena, struct nest_counts);
		struct nest_score *score = arena_new(arena, struct nest_score);
		fan->network.hop_pj = 1;
		const struct nest_model *model =
			nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_TIMELOOP);
		assert_int_equal(nest_evaluate(model, &nest->mapping, counts, score), NEST_FITS);
		assert_true(score->network_pj[fan - nest->hierarchy.levels] == rows[i].pj);
	}
}

/* Partial sums of a level that cannot add come down first, even for the first time, because
 * Timeloop gives a bypassed level no part of Z: 64 words pass for 32, at 48 hops. */
TEST(timeloop_passes_sums_twice_where_they_are_not_added)
{
	double routers = below_mesh(
		arena, "Z[m,n] = A[m,k] B[k,n], m=8 n=2 k=2", "GLB: k2 m2 | PE: m4@y n2", false);
	/* A at 3 hops on average, B at 3.5. */
	assert_true(routers == 16 * (1 + 3) + 4 * (1 + 3) + 64 * (1 + 0));
}

/* The buffer serves 39 words in place of 77, the box of A.  By hand from tiling.cpp and
 * network-legacy.cpp of Timeloop: 77 x (39 / 77) in doubles is less than 39, and is cut. */
TEST(timeloop_cuts_words_that_are_almost_whole)
{
	struct nest_case *nest =
		nest_line(arena, "GLB (PE:39) MAC", "Z[m] = A[2k], m=1 k=39", "PE: k39");
	struct nest_level *buffer = nest_line_level(nest, "GLB");
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	buffer->network.router_pj = 1;
	buffer->store.reduces = true;
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_TIMELOOP);
	assert_int_equal(nest_evaluate(model, &nest->mapping, counts, score), NEST_FITS);
	assert_true(score->network_pj[buffer - nest->hierarchy.levels] == 38 + 1);
}

/* A and B: 8 words for one each; Z: 4 words that the network makes of 16. */
TEST(sums_meet_on_the_way)
{
	double pj = network_pj(arena, "Z[m,n] = A[m,k] B[k,n], m=2 n=2 k=4",
		"GLB: n2 | PE: k4 | RF: m2", COUNTING_EXACT, 0.5, 0);
	assert_true(pj == 0.5 * (8 + 8 + 4 * 3.5));
}

/* Z comes back once for each of k's two rounds: 8 words up twice, 8 down again; A 8, B 4 for all. */
TEST(returning_sums_are_charged_exactly)
{
	assert_true(network_pj(arena, "Z[m,n] = A[m,k] B[k,n], m=4 n=2 k=2", "GLB: k2 n2 | PE: m4",
			    COUNTING_EXACT, 1, 0) == 8 + 4 * 3.5 + 2 * 8 + 8);
}

TEST(nothing_is_charged_where_nothing_is_given)
{
	assert_true(network_pj(arena, "Z[m,n] = A[m,k] B[k,n], m=4 n=2 k=2",
			    "GLB: n2 | PE: m4 | RF: k2", COUNTING_EXACT, 0, 0) == 0);
}
