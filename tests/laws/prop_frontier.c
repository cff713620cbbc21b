#include "base/arena.h"
#include "base/random.h"
#include "search/drive/frontier.h"
#include "tests/support/draws.h"

#include <string.h>

#include "tests/test.h"

enum { POINTS = 60 };

static struct objectives three(void)
{
	return (struct objectives){3, {OBJECTIVE_LATENCY, OBJECTIVE_HBM_BYTES, OBJECTIVE_CORES}};
}

static struct point drawn(struct random *random, struct arena *arena)
{
	struct point point = {.score = {.feasible = true}};
	point.score.cycles = (int64_t)random_below(random, 8);
	point.score.hbm_bytes = (int64_t)random_below(random, 8);
	point.score.cores = (int64_t)random_below(random, 4);
	point.score.energy_pj = (double)random_below(random, 4);
	point.key = arena_format(arena, "%d", (int)random_below(random, 1000));
	return point;
}

static bool no_worse(const struct point *a, const struct point *b)
{
	return a->score.cycles <= b->score.cycles && a->score.hbm_bytes <= b->score.hbm_bytes &&
	       a->score.cores <= b->score.cores;
}

static bool equal(const struct point *a, const struct point *b)
{
	return no_worse(a, b) && no_worse(b, a);
}

/* The first of two equal ones stays. */
static bool stays(const struct point *a, const struct point *b, bool thrifty)
{
	double x = objective_value(OBJECTIVE_EDP, &a->score);
	double y = objective_value(OBJECTIVE_EDP, &b->score);
	if (thrifty && x != y)
		return x < y;
	return strcmp(a->key, b->key) <= 0;
}

/* By the definition: nothing beats it, and no equal stays in its place. */
static bool belongs(const struct point *points, int i, bool thrifty)
{
	for (int j = 0; j < POINTS; j++) {
		if (no_worse(&points[j], &points[i]) && !equal(&points[j], &points[i]))
			return false;
		if (equal(&points[j], &points[i]) && !stays(&points[i], &points[j], thrifty))
			return false;
	}
	return true;
}

BARE_TEST(frontier_is_what_the_definition_says_in_any_order)
{
	uint64_t seed = draws_seed(11);
	for (long draw = 0; draw < draws(300); draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct point points[POINTS];
		for (int i = 0; i < POINTS; i++)
			points[i] = drawn(&random, arena);
		struct frontier forward = frontier_open(three()), backward;
		forward.thrifty = draw % 2;
		backward = forward;
		for (int i = 0; i < POINTS; i++) {
			frontier_add(&forward, arena, points[i]);
			frontier_add(&backward, arena, points[POINTS - 1 - i]);
		}
		assert_int_equal(forward.count, backward.count);
		for (size_t i = 0; i < forward.count; i++) {
			assert_true(equal(&forward.points[i], &backward.points[i]));
			assert_string_equal(forward.points[i].key, backward.points[i].key);
		}
		for (int i = 0; i < POINTS; i++) {
			bool in = false;
			for (size_t j = 0; j < forward.count; j++)
				in |= equal(&forward.points[j], &points[i]) &&
				      stays(&points[i], &forward.points[j], forward.thrifty);
			assert_int_equal(in, belongs(points, i, forward.thrifty));
		}
		arena_close(arena);
	}
}
