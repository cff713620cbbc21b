#include "base/arena.h"
#include "solvers/map/uneven/uneven.h"
#include "tests/support/gemm_request.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * Awkward sizes: energy x latency of the mapping that exact finds if factors need not divide, with
 * its bound. It is compared with the best mapping of a padded problem, each dimension padded to any
 * of the next extents without a prime factor above 7.  Time of one thread.
 *
 * BUDGET= ticks of the one, PADDED= of each padded problem.
 */
enum { EXTENTS = 3 };

static const struct {
	const char *name, *arch;
} machines[] = {
	{"Eyeriss", "specs/arch/eyeriss.yaml"},
	{"Gemmini", "specs/arch/gemmini.yaml"},
};

static const int64_t sizes[][3] = {{149, 768, 3072}, {4037, 6011, 12071}};

static uint64_t setting(const char *name, uint64_t by_default)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 10) : by_default;
}

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static struct explored search_for(struct arena *arena, const char *arch, const int64_t *extents,
	bool imperfect, uint64_t budget)
{
	struct nest_search search = gemm_request(arena, &arch, 1, NULL, extents, imperfect);
	search.wishes.budget = budget;
	return nest_explore(&search, arena);
}

/* The best of all paddings, and which it is. */
static double pad(const char *arch, const int64_t *extents, int64_t *best_extents)
{
	int64_t padded[3][EXTENTS], tried[3];
	double best = INFINITY;
	for (int d = 0; d < 3; d++)
		for (int k = 0; k < EXTENTS; k++)
			padded[d][k] = uneven_padded_extent(k ? padded[d][k - 1] + 1 : extents[d]);
	for (int code = 0; code < EXTENTS * EXTENTS * EXTENTS; code++) {
		struct arena *arena = arena_open();
		for (int d = 0, left = code; d < 3; d++, left /= EXTENTS)
			tried[d] = padded[d][left % EXTENTS];
		struct explored one =
			search_for(arena, arch, tried, false, setting("PADDED", 300000));
		if (gemm_value(&one) < best) {
			best = gemm_value(&one);
			for (int d = 0; d < 3; d++)
				best_extents[d] = tried[d];
		}
		arena_close(arena);
	}
	return best;
}

int main(void)
{
	printf("%-8s %-17s %12s %8s %6s %12s %-17s %6s %6s\n", "machine", "size", "pJ x cycles",
		"gap", "s", "padded", "to", "ratio", "s");
	for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			struct arena *arena = arena_open();
			int64_t to[3] = {0};
			double start = seconds();
			struct explored found = search_for(arena, machines[m].arch, sizes[i], true,
				setting("BUDGET", 1000000));
			double value = gemm_value(&found), middle = seconds();
			double padded = pad(machines[m].arch, sizes[i], to);
			double gap = found.complete ? 0 : 100 * (1 - found.bound / value);
			printf("%-8s %-17s %12.6g %7.1f%% %6.2f %12.6g %-17s %6.3f %6.2f\n",
				machines[m].name,
				arena_format(arena, "%" PRId64 "x%" PRId64 "x%" PRId64, sizes[i][0],
					sizes[i][1], sizes[i][2]),
				value, gap, middle - start, padded,
				arena_format(arena, "%" PRId64 "x%" PRId64 "x%" PRId64, to[0],
					to[1], to[2]),
				padded / value, seconds() - middle);
			arena_close(arena);
		}
	return 0;
}
