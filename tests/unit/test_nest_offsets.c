#include "base/random.h"
#include "cost/nest/nest_count.h"
#include "tests/support/draws.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* Different offsets, found by listing all of them. */
enum { LISTED_MOST = 1 << 12 };

struct offset {
	int64_t by[SHAPE_RANKS_MOST];
};

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct offset));
}

static int64_t count_listed(const struct nest_offsets *offsets, int64_t all)
{
	static struct offset listed[LISTED_MOST];
	for (int64_t n = 0; n < all; n++) {
		int64_t left = n;
		listed[n] = (struct offset){0};
		for (int i = 0; i < offsets->loop_count; i++) {
			const struct nest_loop *loop = offsets->loops[i];
			int64_t index = left % loop->bound * loop->stride;
			left /= loop->bound;
			for (int r = 0; r < offsets->space->rank_count; r++)
				listed[n].by[r] +=
					index *
					offsets->space->ranks[r].coefficient[loop->dimension];
		}
	}
	qsort(listed, (size_t)all, sizeof *listed, by_bytes);
	int64_t count = 0;
	for (int64_t n = 0; n < all; n++)
		count += n == 0 || by_bytes(&listed[n - 1], &listed[n]) != 0;
	return count;
}

static int64_t below(struct random *random, int64_t bound)
{
	return (int64_t)random_below(random, (uint64_t)bound);
}

TEST(random_loops_make_as_many_offsets_as_listed)
{
	struct random random = random_open(draws_seed(8), 0);
	long count = draws(4000);
	for (long n = 0; n < count; n++) {
		struct dataspace space = {.rank_count = 1 + (int)below(&random, 3)};
		struct nest_offsets offsets = {.space = &space};
		for (int r = 0; r < space.rank_count; r++)
			for (int d = 0; d < 4; d++)
				if (below(&random, 2)) {
					space.ranks[r].coefficient[d] = 1 + below(&random, 4);
					space.relevant |= 1u << d;
				}
		struct nest_loop loops[6];
		int64_t all = 1, inside[4] = {1, 1, 1, 1};
		for (int i = 0; i < 6; i++) {
			int d = (int)below(&random, 4);
			int64_t bound = 2 + below(&random, below(&random, 4) ? 4 : 20);
			if (all * bound > LISTED_MOST)
				break;
			inside[d] *= 1 + below(&random, 3); /* temporal loops in between */
			loops[i] = (struct nest_loop){
				.bound = bound, .stride = inside[d], .dimension = (uint8_t)d};
			offsets.loops[offsets.loop_count++] = &loops[i];
			inside[d] *= bound;
			all *= bound;
		}
		bool fits = true;
		int64_t counted = 0;
		assert_true(nest_offsets_count(&offsets, &fits, &counted));
		assert_true(fits);
		int64_t listed = count_listed(&offsets, all);
		if (counted != listed)
			fail_msg("draw %ld: %" PRId64 " counted, %" PRId64 " listed", n, counted,
				listed);
	}
}
