#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"

#include "tests/test.h"

TEST(arena_gives_zeroed_memory_again_after_release)
{
	struct arena_mark mark = arena_mark(arena);
	char *first = arena_alloc(arena, 100);
	memset(first, 0xff, 100);
	arena_release(arena, mark);
	char *again = arena_alloc(arena, 100);
	for (int i = 0; i < 100; i++)
		assert_int_equal(again[i], 0);
}

TEST(arena_holds_what_is_larger_than_a_block)
{
	char *small = arena_text(arena, "kept");
	char *large = arena_alloc(arena, 50 << 20);
	large[(50 << 20) - 1] = 1;
	assert_string_equal(small, "kept");
	assert_true(arena_used(arena) >= (50 << 20));
}

TEST(arena_adopts_and_releases_what_it_adopted)
{
	struct arena *parent = arena_open(), *child = arena_open();
	char *mine = arena_text(parent, "mine");
	struct arena_mark mark = arena_mark(parent);
	size_t before = arena_used(parent);
	char *yours = arena_text(child, "yours");
	arena_adopt(parent, child);
	assert_string_equal(yours, "yours");
	assert_true(arena_used(parent) > before);
	arena_text(parent, "more");
	arena_release(parent, mark);
	assert_string_equal(mine, "mine");
	assert_int_equal(arena_used(parent), before);
	arena_adopt(parent, arena_open());
	arena_close(parent);
}

TEST(array_grows)
{
	struct array(int) numbers = {0};
	for (int i = 0; i < 1000; i++)
		*array_add(arena, &numbers) = i;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(numbers.at[i], i);
}

TEST(text_grows)
{
	struct text text = text_open(arena);
	assert_string_equal(text_read(&text), "");
	for (int i = 0; i < 100; i++)
		text_add(&text, "%d,", i % 10);
	assert_int_equal(text.length, 200);
	assert_string_equal(text_read(&text) + 190, "5,6,7,8,9,");
}

TEST(divisors_are_all_and_ascending)
{
	for (int64_t n = 1; n <= 400; n++) {
		struct divisors divisors = number_divisors(arena, n);
		size_t i = 0;
		for (int64_t d = 1; d <= n; d++)
			if (n % d == 0)
				assert_int_equal(divisors.at[i++], d);
		assert_int_equal(divisors.count, i);
	}
}

TEST(least_common_multiples_have_a_limit)
{
	assert_int_equal(number_lcm(12, 18, 36), 36);
	assert_int_equal(number_lcm(12, 18, 35), 36); /* the limit and one */
	assert_int_equal(number_lcm(12, 18, 20), 21);
	assert_int_equal(number_lcm(INT64_MAX, INT64_MAX - 1, 1000), 1001);
	assert_int_equal(number_lcm(7, 1, 7), 7);
}

TEST(overflow_is_seen)
{
	int64_t out = 7;
	assert_false(number_mul(INT64_MAX, 2, &out));
	assert_false(number_add(INT64_MAX, 1, &out));
	assert_int_equal(out, 7);
	struct ratio ratio;
	assert_true(ratio_make(INT64_MAX, INT64_MAX, &ratio));
	assert_int_equal(ratio.num, 1);
	assert_false(ratio_mul((struct ratio){INT64_MAX, 1}, (struct ratio){2, 1}, &ratio));
	assert_false(ratio_time(INT64_MAX, (struct ratio){1, 2}, &out));
}

TEST(time_is_the_ceiling_of_work_by_rate)
{
	int64_t cycles;
	struct ratio hbm = {2048, 15}; /* 204.8 GB/s at 1.5 GHz */
	assert_true(ratio_time(1048576, hbm, &cycles));
	assert_int_equal(cycles, 7680);
	assert_true(ratio_time(1, hbm, &cycles));
	assert_int_equal(cycles, 1);
	assert_true(ratio_time(0, hbm, &cycles));
	assert_int_equal(cycles, 0);
}

TEST(random_streams_repeat_and_differ)
{
	struct random a = random_open(1, 0), b = random_open(1, 0), c = random_open(1, 1);
	int same = 0;
	for (int i = 0; i < 100; i++) {
		uint64_t x = random_next(&a);
		assert_true(x == random_next(&b));
		same += x == random_next(&c);
	}
	assert_int_equal(same, 0);
	int seen[7] = {0};
	for (int i = 0; i < 7000; i++)
		seen[random_below(&a, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_in_range(seen[i], 850, 1150);
}
