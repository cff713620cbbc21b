#include "base/arena.h"
#include "base/array.h"
#include "base/random.h"
#include "tests/support/draws.h"

#include "tests/test.h"

/* Sets of numbers beside the same sets as arrays of truth values. */
static size_t next(const bool *members, size_t limit, size_t from)
{
	while (from < limit && !members[from])
		from++;
	return from < limit ? from : SIZE_MAX;
}

static size_t last(const bool *members, size_t limit, size_t from)
{
	from = from < limit ? from : limit - 1;
	while (from > 0 && !members[from])
		from--;
	return members[from] ? from : SIZE_MAX;
}

BARE_TEST(neighbours_are_those_of_the_array)
{
	static const size_t limits[] = {1, 2, 63, 64, 65, 4095, 4096, 4097, 9000};
	struct random random = random_open(draws_seed(1), 0);
	long steps = draws(3000);
	for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
		struct arena *arena = arena_open();
		size_t limit = limits[l];
		struct ranks ranks = ranks_open(arena, limit);
		bool *members = arena_array(arena, bool, limit);
		assert_true(ranks_from(&ranks, 0) == SIZE_MAX);
		for (long i = 0; i < steps; i++) {
			size_t rank = random_below(&random, limit);
			size_t asked = random_below(&random, limit + 2);
			members[rank] = random_below(&random, 3) == 0;
			if (members[rank])
				ranks_add(&ranks, rank);
			else
				ranks_remove(&ranks, rank);
			assert_true(ranks_from(&ranks, asked) == next(members, limit, asked));
			assert_true(ranks_up_to(&ranks, asked) == last(members, limit, asked));
		}
		arena_close(arena);
	}
}

TEST(a_set_of_nothing_has_no_members)
{
	struct ranks ranks = ranks_open(arena, 0);
	assert_true(ranks_from(&ranks, 0) == SIZE_MAX);
	assert_true(ranks_up_to(&ranks, 0) == SIZE_MAX);
}
