#include "search/engine/kept.h"
#include "search/engine/parallel.h"

#include <string.h>

#include "tests/test.h"

enum { KEYS = 97, ASKS = 4000, THREADS = 4 };

/* Key k has the value k * k, whichever thread answers first. */
static void ask(void *context, size_t i, int thread)
{
	struct kept *kept = context;
	size_t key = i * 31 % KEYS, square = key * key;
	const size_t *value = kept_find(kept, &key, sizeof key);
	if (!value)
		value = kept_add(kept, &key, sizeof key, &square, sizeof square, 3);
	assert_int_equal(*value, square);
}

static void nothing(void *context, size_t i)
{
}

TEST(threads_change_neither_answers_nor_the_tally)
{
	for (int jobs = 1; jobs <= THREADS; jobs++) {
		struct kept *kept = kept_open();
		struct parallel work = {kept, ask, nothing};
		parallel_each(&work, ASKS, jobs);
		struct kept_tally tally = kept_tally(kept);
		assert_int_equal(tally.asked, ASKS);
		assert_int_equal(tally.distinct, KEYS);
		assert_int_equal(tally.work, 3 * KEYS);
		kept_close(kept);
	}
}

TEST(keys_are_all_their_bytes)
{
	struct kept *kept = kept_open();
	const char *first = kept_add(kept, "ab", 2, "x", 2, 0);
	assert_null(kept_find(kept, "abc", 3));
	assert_null(kept_find(kept, "b", 1));
	assert_ptr_equal(kept_find(kept, "ab", 2), first);
	assert_ptr_equal(kept_add(kept, "ab", 2, "y", 2, 0), first);
	kept_leave(kept, arena);
	assert_string_equal(first, "x");
	kept_close(NULL);
}
