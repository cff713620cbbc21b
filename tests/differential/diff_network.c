#include "base/arena.h"
#include "base/random.h"
#include "search/nest/network_search.h"
#include "tests/support/draws.h"

#include <string.h>

#include "tests/test.h"

/*
 * The frontier of a sum against a list of all choices: every occurrence of every part takes each
 * of its points in turn.
 */
enum { PARTS = 4, POINTS = 4, MOST = 1 << 20 };

struct random_parts {
	size_t count;
	struct sums_part parts[PARTS];
	struct sums_point points[PARTS][POINTS];
};

static void draw_parts(struct random *random, int64_t count_most, struct random_parts *out)
{
	/* now and then far beyond 64 bits, and often with equal values */
	wide unit = random_below(random, 4) ? 1 : (wide)1 << 80;
	uint64_t range = random_below(random, 2) ? 6 : 1000;
	out->count = 1 + random_below(random, PARTS);
	for (size_t p = 0; p < out->count; p++) {
		struct sums_part *part = &out->parts[p];
		part->count = 1 + (int64_t)random_below(random, (uint64_t)count_most);
		part->point_count = 1 + random_below(random, POINTS);
		part->points = out->points[p];
		for (size_t i = 0; i < part->point_count; i++)
			out->points[p][i] =
				(struct sums_point){unit * (wide)random_below(random, range),
					unit * (wide)random_below(random, range)};
	}
}

/* All sums of all choices; the choices of one part are taken with repetition, in any order. */
struct all {
	size_t count;
	struct sums_point *at;
};

static void list_part(const struct sums_part *part, size_t first, int64_t left,
	struct sums_point so_far, struct all *all)
{
	if (!left) {
		assert_true(all->count < MOST);
		all->at[all->count++] = so_far;
		return;
	}
	for (size_t i = first; i < part->point_count; i++)
		list_part(part, i, left - 1,
			(struct sums_point){
				so_far.x + part->points[i].x, so_far.y + part->points[i].y},
			all);
}

static struct all list_all(const struct random_parts *parts, struct arena *arena)
{
	struct all all = {1, arena_array(arena, struct sums_point, 1)};
	for (size_t p = 0; p < parts->count; p++) {
		struct all next = {0, arena_array(arena, struct sums_point, MOST)};
		for (size_t i = 0; i < all.count; i++)
			list_part(&parts->parts[p], 0, parts->parts[p].count, all.at[i], &next);
		all = next;
	}
	return all;
}

static bool beats(struct sums_point a, struct sums_point b)
{
	return a.x <= b.x && a.y <= b.y && (a.x < b.x || a.y < b.y);
}

static bool same(struct sums_point a, struct sums_point b)
{
	return a.x == b.x && a.y == b.y;
}

/* Every choice is on the frontier or beaten by a point of it, and every point of it is a choice. */
static void compare(const struct sums *sums, const struct all *all, const char *what)
{
	for (size_t i = 1; i < sums->count; i++)
		assert_true(sums->at[i - 1].x < sums->at[i].x && sums->at[i - 1].y > sums->at[i].y);
	for (size_t k = 0; k < all->count; k++) {
		bool met = false;
		for (size_t i = 0; i < sums->count && !met; i++) {
			met = same(sums->at[i], all->at[k]) || beats(sums->at[i], all->at[k]);
			if (beats(all->at[k], sums->at[i]))
				fail_msg("%s: a choice beats a point", what);
		}
		if (!met)
			fail_msg("%s: a choice is missing", what);
	}
}

/* The points that make a sum are as many as there are occurrences, and add up to it. */
static void check_choices(const struct sums *sums, struct arena *arena)
{
	for (size_t i = 0; i < sums->count; i++) {
		int64_t *taken[PARTS];
		struct sums_point total = {0, 0};
		for (size_t p = 0; p < sums->part_count; p++)
			taken[p] = arena_array(arena, int64_t, sums->parts[p].point_count);
		sums_choice(sums, i, taken, arena);
		for (size_t p = 0; p < sums->part_count; p++) {
			int64_t count = 0;
			for (size_t k = 0; k < sums->parts[p].point_count; k++) {
				assert_true(taken[p][k] >= 0);
				count += taken[p][k];
				total.x += taken[p][k] * sums->parts[p].points[k].x;
				total.y += taken[p][k] * sums->parts[p].points[k].y;
			}
			assert_int_equal(count, sums->parts[p].count);
		}
		assert_true(same(total, sums->at[i]));
	}
}

static wide draw_limit(struct random *random, const struct all *all, bool y)
{
	struct sums_point near = all->at[random_below(random, all->count)];
	return (y ? near.y : near.x) - (wide)random_below(random, 2);
}

static bool keeps(struct sums_point at, wide x_most, wide y_most)
{
	return (x_most == SUMS_NO_LIMIT || at.x <= x_most) &&
	       (y_most == SUMS_NO_LIMIT || at.y <= y_most);
}

/* No choice that keeps to the limits is better, and if there is one it is found. */
static int compare_limits(const struct sums *sums, const struct all *all, struct random *random)
{
	int misses = 0;
	for (int kind = 0; kind < 4; kind++) {
		wide x = kind & 1 ? draw_limit(random, all, false) : SUMS_NO_LIMIT;
		wide y = kind & 2 ? draw_limit(random, all, true) : SUMS_NO_LIMIT;
		if (((kind & 1) && x < 0) || ((kind & 2) && y < 0))
			continue;
		size_t best = sums_within(sums, x, y);
		if (best != SIZE_MAX)
			assert_true(keeps(sums->at[best], x, y));
		misses += best == SIZE_MAX;
		for (size_t k = 0; k < all->count; k++) {
			struct sums_point at = all->at[k];
			if (!keeps(at, x, y))
				continue;
			assert_true(best != SIZE_MAX);
			struct sums_point found = sums->at[best];
			if (kind == 1)
				assert_true(found.y <= at.y);
			else if (kind == 2)
				assert_true(found.x <= at.x);
			else
				assert_true((double)found.x * (double)found.y <=
					    (double)at.x * (double)at.y);
		}
	}
	return misses;
}

BARE_TEST(frontiers_and_limits_are_those_of_all_choices)
{
	uint64_t seed = draws_seed(1);
	long count = draws(300);
	int misses = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct random_parts parts;
		draw_parts(&random, 3, &parts);
		struct all all = list_all(&parts, arena);
		struct sums sums = sums_make(arena, parts.parts, parts.count, MOST);
		assert_true(sums.counted);
		assert_true(sums.excess == 0);
		compare(&sums, &all, "exact");
		check_choices(&sums, arena);
		misses += compare_limits(&sums, &all, &random);
		arena_close(arena);
	}
	assert_true(misses || !draws_are_many(count));
}

/* One part so often that it is doubled up; with two points the choices can still be listed. */
BARE_TEST(many_occurrences_add_up_as_few_do)
{
	uint64_t seed = draws_seed(2);
	for (long draw = 0; draw < draws(20); draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct random_parts parts;
		draw_parts(&random, 1, &parts);
		parts.count = 1;
		parts.parts[0].count = 257 + (int64_t)random_below(&random, 600);
		if (parts.parts[0].point_count > 2)
			parts.parts[0].point_count = 2;
		struct all all = list_all(&parts, arena);
		struct sums sums = sums_make(arena, parts.parts, parts.count, MOST);
		assert_true(sums.excess == 0);
		compare(&sums, &all, "doubled");
		check_choices(&sums, arena);
		arena_close(arena);
	}
}

/* A removed point has a substitute, no slower and not much dearer; both ends stay. */
BARE_TEST(thinned_frontiers_keep_their_promise)
{
	uint64_t seed = draws_seed(3);
	long count = draws(100), thinned = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct random_parts parts;
		draw_parts(&random, 4, &parts);
		struct all all = list_all(&parts, arena);
		struct sums exact = sums_make(arena, parts.parts, parts.count, MOST);
		struct sums sums = sums_make(arena, parts.parts, parts.count, 8);
		thinned += sums.excess > 0;
		assert_true(sums.count <= exact.count);
		assert_true(same(sums.at[0], exact.at[0]));
		assert_true(same(sums.at[sums.count - 1], exact.at[exact.count - 1]));
		for (size_t k = 0; k < all.count; k++) {
			bool met = false;
			for (size_t i = 0; i < sums.count && !met; i++)
				met = sums.at[i].x <= all.at[k].x &&
				      (double)sums.at[i].y <=
					      (1 + sums.excess) * (double)all.at[k].y;
			assert_true(met);
		}
		check_choices(&sums, arena);
		arena_close(arena);
	}
	assert_true(thinned || !draws_are_many(count));
}

TEST(what_cannot_be_counted_is_told)
{
	struct sums_point large = {(wide)1 << 100, 1}, fits = {(wide)1 << 95, 1};
	struct sums_part parts[] = {{(int64_t)1 << 31, 1, &large}};
	assert_false(sums_make(arena, parts, 1, MOST).counted);
	parts[0].points = &fits;
	struct sums sums = sums_make(arena, parts, 1, MOST);
	assert_true(sums.counted);
	assert_int_equal(sums.count, 1);
	assert_true(sums.at[0].x == (wide)1 << 126);
}
