#include "base/arena.h"
#include "solvers/map/uneven/uneven.h"
#include "tests/support/gemm_request.h"

#include <math.h>
#include <stdio.h>

#include "tests/test.h"

/* Factors that need not divide, on awkward sizes. */
static const char machine[] =
	"architecture:\n"
	"  version: 0.4\n"
	"  nodes:\n"
	"  - !Container {name: chip, attributes: {datawidth: 16, global_cycle_seconds: 1e-9}}\n"
	"  - !Component {name: DRAM, class: DRAM, attributes: {width: 64}}\n"
	"  - !Component {name: GLB, class: SRAM, attributes: {depth: 1024, width: 64}}\n"
	"  - !Container {name: PE, spatial: {meshX: 4, meshY: 3}}\n"
	"  - !Component {name: RF, class: regfile, attributes: {depth: 48}}\n"
	"  - !Component {name: MAC, class: intmac}\n"
	"constraints:\n"
	"  targets:\n"
	"  - {target: GLB, type: dataspace, keep: [Weights, Inputs, Outputs]}\n"
	"  - {target: RF, type: dataspace, keep: [Weights, Inputs, Outputs]}\n";

enum { PADDED = 3, BUDGET = 100000, PADDED_BUDGET = 1000000 };

static struct explored search_for(
	struct arena *arena, const int64_t *extents, bool imperfect, uint64_t budget)
{
	struct nest_search search = gemm_request(arena, NULL, 0, machine, extents, imperfect);
	search.wishes.budget = budget;
	return nest_explore(&search, arena);
}

TEST(no_padding_does_better)
{
	static const int64_t extents[] = {149, 61, 127};
	struct explored found = search_for(arena, extents, true, BUDGET);
	double value = gemm_value(&found), best = INFINITY;
	int64_t padded[3][PADDED], tried[3];
	int proven = 0;
	for (int d = 0; d < 3; d++)
		for (int k = 0; k < PADDED; k++)
			padded[d][k] = uneven_padded_extent(k ? padded[d][k - 1] + 1 : extents[d]);
	for (int code = 0; code < PADDED * PADDED * PADDED; code++) {
		struct arena *scratch = arena_open();
		for (int d = 0, left = code; d < 3; d++, left /= PADDED)
			tried[d] = padded[d][left % PADDED];
		struct explored one = search_for(scratch, tried, false, PADDED_BUDGET);
		best = fmin(best, gemm_value(&one));
		proven += one.complete;
		arena_close(scratch);
	}
	printf("%.6g, no mapping below %.6g; the best of %d paddings, %d of them proven: %.6g\n",
		value, found.complete ? value : found.bound, PADDED * PADDED * PADDED, proven,
		best);
	assert_true(value <= best);
	assert_true(found.complete || (found.bound > 0 && found.bound <= value));
}

/* Little enough to be proven: primes on an array that none of them divides. */
TEST(a_small_one_is_proven)
{
	static const int64_t extents[] = {7, 5, 11};
	struct explored uneven = search_for(arena, extents, true, PADDED_BUDGET);
	struct explored even = search_for(arena, extents, false, PADDED_BUDGET);
	assert_true(uneven.complete && even.complete);
	assert_true(gemm_value(&uneven) < gemm_value(&even));
}

TEST(a_budget_leaves_a_bound)
{
	static const int64_t extents[] = {149, 61, 127};
	double bound = 0, value = INFINITY;
	for (uint64_t budget = 100; budget <= 40000; budget *= 20) {
		struct explored found = search_for(arena, extents, true, budget);
		assert_true(found.complete || found.bound >= bound);
		assert_true(gemm_value(&found) <= value);
		bound = found.complete ? bound : found.bound;
		value = gemm_value(&found);
	}
	assert_true(bound > 0 && value < INFINITY);
}

struct heard {
	int count;
	double value, bound; /* the last ones */
};

static void hear(void *at, const struct progress *progress)
{
	struct heard *heard = at;
	double value = progress->best, bound = progress->bound;
	if (progress->round)
		return;
	assert_true(bound <= value && value <= heard->value && bound >= heard->bound);
	*heard = (struct heard){heard->count + 1, value, bound};
}

/* The reported progress advances: the best gets better, and the bound rises. */
TEST(the_gap_is_reported_while_it_runs)
{
	static const int64_t extents[] = {149, 61, 127};
	struct heard heard = {.value = INFINITY};
	struct nest_search search = gemm_request(arena, NULL, 0, machine, extents, true);
	search.wishes.budget = 40000;
	search.wishes.asker.stopper.listener = &heard;
	search.wishes.asker.progress = hear;
	struct explored found = nest_explore(&search, arena);
	assert_true(heard.count > 20);
	assert_true(heard.value >= gemm_value(&found) && heard.bound > 0);
}

TEST(extents_are_padded_to_smooth_ones)
{
	static const struct {
		int64_t extent, padded[4];
	} cases[] = {
		{1, {1, 2, 3, 4}},
		{11, {12, 14, 15, 16}},
		{149, {150, 160, 162, 168}},
		{4037, {4050, 4096, 4116, 4200}},
		{12071, {12096, 12150, 12250, 12288}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int k = 0; k < 4; k++)
			assert_int_equal(uneven_padded_extent(
						 k ? cases[i].padded[k - 1] + 1 : cases[i].extent),
				cases[i].padded[k]);
}
