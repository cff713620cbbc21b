#include "base/arena.h"
#include "cost/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/naive_timeloop.h"
#include "tests/support/nest_case.h"

#include <inttypes.h>
#include <math.h>

#include "tests/test.h"

static bool is_priced(const struct hierarchy *hierarchy)
{
	return hierarchy->levels[0].network.hop_pj > 0;
}

static void say_counts(const struct nest_case *nest, const struct nest_counts *closed,
	const struct nest_counts *naive)
{
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		for (int t = 0; t < nest->shape.space_count; t++) {
			const struct nest_count *a = &closed->at[i][t], *b = &naive->at[i][t];
			if (a->capacity == b->capacity && a->reads == b->reads &&
				a->fills == b->fills && a->updates == b->updates &&
				a->links == b->links)
				continue;
			print_message("level %d, space %d: capacity %" PRId64 " %" PRId64
				      ", reads %" PRId64 " %" PRId64 ", fills %" PRId64 " %" PRId64
				      ", updates %" PRId64 " %" PRId64 ", links %" PRId64
				      " %" PRId64 "\n",
				i, t, a->capacity, b->capacity, a->reads, b->reads, a->fills,
				b->fills, a->updates, b->updates, a->links, b->links);
		}
	for (int i = 0; i < nest->hierarchy.level_count && is_priced(&nest->hierarchy); i++)
		print_message("level %d: hops %.9g %.9g, routers %.9g %.9g\n", i, closed->hops[i],
			naive->hops[i], closed->routers[i], naive->routers[i]);
}

static bool near(double a, double b, double rounded)
{
	return fabs(a - b) <= 1e-9 * b + rounded;
}

/* Routers are cut to whole numbers by instance, dataspace and group. */
static bool passes_alike(
	const struct nest_case *nest, const struct nest_counts *a, const struct nest_counts *b)
{
	bool alike = true;
	for (int i = 0; i < nest->hierarchy.level_count && is_priced(&nest->hierarchy); i++)
		alike &= near(a->hops[i], b->hops[i], 1e-9) &&
			 near(a->routers[i], b->routers[i], 1e-9);
	return alike;
}

static enum nest_verdict count_closed(const struct nest_case *nest, struct nest_counts *out)
{
	struct arena *arena = arena_open();
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_TIMELOOP);
	struct nest_score score;
	enum nest_verdict verdict = nest_evaluate(model, &nest->mapping, out, &score);
	arena_close(arena);
	return verdict;
}

/* `user`: not NULL to say how. */
static bool differ(const struct nest_case *nest, void *user)
{
	struct nest_counts closed, naive;
	enum nest_verdict verdict = count_closed(nest, &closed);
	bool whole = naive_timeloop(&nest->hierarchy, &nest->shape, &nest->mapping, &naive);
	bool alike = whole ? (verdict == NEST_FITS || verdict == NEST_CAPACITY) &&
				     nest_counts_equal(
					     &nest->hierarchy, &nest->shape, &closed, &naive) &&
				     passes_alike(nest, &closed, &naive)
			   : verdict == NEST_MEANINGLESS;
	if (!alike && user) {
		print_message("verdict %d\n", (int)verdict);
		say_counts(nest, &closed, &naive);
	}
	return !alike;
}

static void expect_alike(const struct nest_case *nest, long draw, uint64_t seed)
{
	if (!differ(nest, NULL))
		return;
	struct nest_case small = *nest;
	nest_case_shrink(&small, differ, NULL);
	differ(&small, &small);
	struct arena *arena = arena_open();
	print_message("%s\n", nest_case_text(arena, &small));
	arena_close(arena);
	fail_msg("draw %ld of seed %" PRIu64, draw, seed);
}

/* Networks that cost something are counted too, and more slowly. */
static void price(struct random *random, struct hierarchy *hierarchy)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		hierarchy->levels[i].network.hop_pj = 1;
		hierarchy->levels[i].store.reduces = draw_chance(random, 2);
	}
}

static void compare(const struct nest_case_options *options, uint64_t stream)
{
	uint64_t seed = draws_seed(stream);
	long count = draws(300);
	for (long n = 0; n < count; n++) {
		struct random random = random_open(seed, (uint64_t)n);
		struct nest_case nest;
		nest_case_draw(&random, options, &nest);
		if (n % 2)
			price(&random, &nest.hierarchy);
		expect_alike(&nest, n, seed);
	}
}

TEST(plain_nests_count_alike)
{
	static const struct nest_case_options options = {
		.bypass = true, .spatial = true, .steps_most = 500};
	compare(&options, 1);
}

TEST(sliding_nests_count_alike)
{
	static const struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .steps_most = 500};
	compare(&options, 2);
}

TEST(flagged_nests_count_alike)
{
	static const struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .flags = true, .steps_most = 500};
	compare(&options, 3);
}

static bool hands_on(const struct nest_case *nest)
{
	struct nest_counts counts;
	if (count_closed(nest, &counts) != NEST_FITS)
		return false;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		for (int t = 0; t < nest->shape.space_count; t++)
			if (counts.at[i][t].links)
				return true;
	return false;
}

/* Neighbours hand words on in one nest of a hundred: draws until enough do. */
TEST(linked_nests_count_alike)
{
	static const struct nest_case_options options = {
		.sliding = true, .spatial = true, .steps_most = 300};
	uint64_t seed = draws_seed(4);
	long count = draws(100), found = 0;
	for (long n = 0; found < count && n < 1000 * count; n++) {
		struct random random = random_open(seed, (uint64_t)n);
		struct nest_case nest;
		nest_case_draw(&random, &options, &nest);
		if (!hands_on(&nest))
			continue;
		if (++found % 2)
			price(&random, &nest.hierarchy);
		expect_alike(&nest, n, seed);
	}
	assert_int_equal(found, count);
}
