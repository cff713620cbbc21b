/* Orders of chunks against trying all of them. */
#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "search/transfer/broadcast_search.h"
#include "tests/support/draws.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

enum { MOST = 7 };

/* The two queues with this many tiles. */
static int64_t time_of(
	const struct chunk_job *jobs, const int64_t *order, int64_t count, int64_t tiles)
{
	int64_t loaded = 0, stored[MOST] = {0}, last = 0;
	for (int64_t i = 0; i < count; i++) {
		if (i >= tiles)
			loaded = number_max(loaded, stored[i - tiles]);
		loaded += jobs[order[i]].load;
		last = stored[i] = number_max(last, loaded) + jobs[order[i]].store;
	}
	return last;
}

static int64_t least_of(
	const struct chunk_job *jobs, int64_t *order, int64_t fixed, int64_t count, int64_t tiles)
{
	int64_t least = INT64_MAX;
	if (fixed == count)
		return time_of(jobs, order, count, tiles);
	for (int64_t i = fixed; i < count; i++) {
		int64_t kept = order[fixed];
		order[fixed] = order[i];
		order[i] = kept;
		least = number_min(least, least_of(jobs, order, fixed + 1, count, tiles));
		order[i] = order[fixed];
		order[fixed] = kept;
	}
	return least;
}

static void check_all(const int64_t *order, int64_t count)
{
	bool met[MOST] = {false};
	for (int64_t i = 0; i < count; i++) {
		assert_true(order[i] >= 0 && order[i] < count && !met[order[i]]);
		met[order[i]] = true;
	}
}

BARE_TEST(no_order_is_faster)
{
	long count = draws(300);
	uint64_t seed = draws_seed(5);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct chunk_job jobs[MOST];
		int64_t order[MOST], chunks = (int64_t)random_below(&random, MOST);
		uint64_t range = 1 + random_below(&random, 12);
		for (int64_t c = 0; c < chunks; c++) {
			jobs[c].load = (int64_t)random_below(&random, range);
			jobs[c].store = (int64_t)random_below(&random, range);
			order[c] = c;
		}
		const int64_t *two = order_gilmore_gomory(jobs, chunks, arena);
		const int64_t *all = order_johnson(jobs, chunks, arena);
		check_all(two, chunks);
		check_all(all, chunks);
		assert_int_equal(
			time_of(jobs, two, chunks, 2), least_of(jobs, order, 0, chunks, 2));
		assert_int_equal(
			time_of(jobs, all, chunks, MOST), least_of(jobs, order, 0, chunks, MOST));
		arena_close(arena);
	}
}
