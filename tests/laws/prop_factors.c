/* Index factorizations against a count one by one. */
#include "base/arena.h"
#include "base/number.h"
#include "search/nest/factors.h"
#include "tests/support/draws.h"

#include <string.h>

#include "tests/test.h"

enum { LOOPS = 4, LISTED_MOST = 20000 };

struct list {
	int loop_count, count;
	bool imperfect;
	const struct factor_bounds *bounds;
	int64_t at[LISTED_MOST][LOOPS];
};

/* By the definition, every bound tried. */
static void add_all(struct list *list, int loop, int64_t left, int64_t *bounds)
{
	if (loop == list->loop_count) {
		if (left == 1) {
			assert_true(list->count < LISTED_MOST);
			memcpy(list->at[list->count++], bounds, LOOPS * sizeof *bounds);
		}
		return;
	}
	for (int64_t b = list->bounds[loop].least; b <= list->bounds[loop].most && b <= left; b++) {
		if (!list->imperfect && left % b != 0)
			continue;
		bounds[loop] = b;
		add_all(list, loop + 1, number_ceil_div(left, b), bounds);
	}
}

static void expect_at(const struct list *list, int i, const int64_t *bounds)
{
	for (int loop = 0; loop < list->loop_count; loop++)
		assert_int_equal(bounds[loop], list->at[i][loop]);
}

/* Least and most by looking at all of them. */
static void expect_ranges(const struct list *list, const struct factor_range *ranges)
{
	struct factor_range met[LOOPS];
	for (int i = 0; i < list->count; i++)
		for (int64_t loop = 0, inside = 1; loop < list->loop_count; loop++) {
			int64_t bound = list->at[i][loop];
			struct factor_range *range = &met[loop];
			inside *= bound;
			if (i == 0)
				*range = (struct factor_range){bound, bound, inside, inside};
			range->least = number_min(range->least, bound);
			range->most = number_max(range->most, bound);
			range->least_inside = number_min(range->least_inside, inside);
			range->most_inside = number_max(range->most_inside, inside);
		}
	assert_memory_equal(met, ranges, (size_t)list->loop_count * sizeof *met);
}

BARE_TEST(counted_numbered_and_followed_as_listed)
{
	static struct list list;
	uint64_t seed = draws_seed(31);
	for (long draw = 0; draw < draws(2000); draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct factor_bounds limits[LOOPS];
		int64_t extent = 1 + (int64_t)random_below(&random, 36), bounds[LOOPS] = {0};
		list.loop_count = 1 + (int)random_below(&random, LOOPS);
		list.imperfect = random_below(&random, 2);
		list.bounds = limits;
		list.count = 0;
		for (int i = 0; i < list.loop_count; i++) {
			limits[i] = (struct factor_bounds){1, extent};
			if (random_below(&random, 3) == 0)
				limits[i].least += (int64_t)random_below(&random, 4);
			if (random_below(&random, 3) == 0)
				limits[i].most =
					limits[i].least + (int64_t)random_below(&random, 6);
		}
		add_all(&list, 0, extent, bounds);
		const struct factors *factors =
			factors_make(arena, extent, list.imperfect, list.loop_count, limits, NULL);
		assert_int_equal(factors_count(factors), list.count);
		const struct factors *listed = factors_listed(arena, factors);
		bool there = factors_first(factors, bounds);
		for (int i = 0; i < list.count; i++) {
			assert_true(there);
			expect_at(&list, i, bounds);
			there = factors_next(factors, bounds);
			int64_t numbered[LOOPS];
			factors_at(factors, i, numbered);
			expect_at(&list, i, numbered);
			factors_at(listed, i, numbered);
			expect_at(&list, i, numbered);
		}
		assert_false(there);
		if (list.count) {
			expect_ranges(&list, factors_ranges(factors));
		}
		arena_close(arena);
	}
}

/* Bounds that were drawn obey the definition, and each is drawn about as often. */
TEST(draws_are_even)
{
	static const struct factor_bounds limits[] = {{1, 24}, {2, 6}, {1, 24}};
	const struct factors *factors = factors_make(arena, 24, true, 3, limits, NULL);
	int count = (int)factors_count(factors), rounds = 400;
	int *met = arena_array(arena, int, count);
	struct random random = random_open(draws_seed(5), 0);
	for (int i = 0; i < count * rounds; i++) {
		int64_t drawn[3], at[3];
		factors_draw(factors, &random, drawn);
		int k = -1;
		do
			factors_at(factors, ++k, at);
		while (memcmp(drawn, at, sizeof at) != 0);
		met[k]++;
	}
	for (int k = 0; k < count; k++)
		assert_in_range(met[k], rounds / 2, rounds * 3 / 2);
}

/* For extent = product of p^a: product of C(a + loops - 1, a). */
TEST(large_extents_have_the_known_number)
{
	struct factor_bounds limits[12];
	for (int i = 0; i < 12; i++)
		limits[i] = (struct factor_bounds){1, FACTORS_EXTENT_MOST};
	/* C(42, 11) */
	assert_true(factors_count(factors_make(arena, FACTORS_EXTENT_MOST, false, 12, limits,
			    NULL)) == INT64_C(4280561376));
	/* 2^31 - 1 is prime */
	assert_int_equal(
		factors_count(factors_make(arena, 2147483647, false, 12, limits, NULL)), 12);
	/* 10^6 = 2^6 5^6: C(17, 6)^2 */
	assert_int_equal(factors_count(factors_make(arena, 1000000, false, 12, limits, NULL)),
		12376 * 12376);
	/* two loops, imperfect: the inner one has any bound */
	assert_int_equal(
		factors_count(factors_make(arena, 2147483647, true, 2, limits, NULL)), 2147483647);
}
