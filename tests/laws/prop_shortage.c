/* The reported sufficient limits, against trying every mapping with them. */
#include "base/arena.h"
#include "search/nest/factors.h"
#include "search/nest/mapspace_check.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_fits.h"

#include <stdio.h>

#include "tests/test.h"

enum { MAPPINGS_MOST = 3000 };

static void lift_others(struct relaxed *relaxed, const struct shortage *limit)
{
	for (int i = 0; i < relaxed->hierarchy.level_count; i++) {
		const struct nest_level *level = &relaxed->hierarchy.levels[i];
		bool own = limit->level == i;
		bool fanout = limit->kind == SHORTAGE_FANOUT_X || limit->kind == SHORTAGE_FANOUT_Y;
		if (level->size && (!own || fanout))
			relaxed_lift_size(relaxed, i);
		if (level->fanout.x * level->fanout.y > 1 && !(own && fanout) &&
			limit->kind != SHORTAGE_PARALLELISM)
			relaxed_lift_fanout(relaxed, i);
	}
	if (limit->kind != SHORTAGE_PARALLELISM)
		relaxed->domain.least_parallelism = 0;
}

static void set_limit(struct relaxed *relaxed, const struct shortage *limit, int64_t value)
{
	struct nest_level *level =
		limit->level >= 0 ? &relaxed->hierarchy.levels[limit->level] : NULL;
	switch (limit->kind) {
	case SHORTAGE_CAPACITY:
		relaxed_set_size(relaxed, limit->level, value);
		break;
	case SHORTAGE_FANOUT_X:
		relaxed_set_fanout(relaxed, limit->level, value, level->fanout.y);
		break;
	case SHORTAGE_FANOUT_Y:
		relaxed_set_fanout(relaxed, limit->level, level->fanout.x, value);
		break;
	case SHORTAGE_UTILIZATION:
		level->store.least_utilization = ((double)value - 0.25) / (double)level->size;
		break;
	default:
		relaxed->domain.least_parallelism =
			((double)value - 0.25) / (double)(relaxed->hierarchy.compute_mesh_x *
							  relaxed->hierarchy.compute_mesh_y);
	}
}

/* 1: some mapping fits, 0: none does, -1: too many to try. */
static int try_all(struct arena *arena, const struct domain *domain, const struct shortage *limit,
	int64_t value, bool lifted)
{
	struct relaxed *relaxed = relaxed_open(arena, domain);
	if (lifted)
		lift_others(relaxed, limit);
	set_limit(relaxed, limit, value);
	const struct space *space = space_make(arena, &relaxed->domain);
	return nest_space_is_small(space, MAPPINGS_MOST) ? nest_any_fits(space) : -1;
}

/* With `value` a mapping fits, with one less (of what can be had, one more) none does. */
static long expect_edge(struct arena *arena, const struct domain *domain,
	const struct shortage *limit, int64_t value, bool lifted)
{
	bool most = limit->kind == SHORTAGE_UTILIZATION || limit->kind == SHORTAGE_PARALLELISM;
	int good = try_all(arena, domain, limit, value, lifted);
	int bad = try_all(arena, domain, limit, most ? value + 1 : value - 1, lifted);
	assert_int_not_equal(good, 0);
	assert_int_not_equal(bad, 1);
	return good == 1 && bad == 0;
}

BARE_TEST(limits_are_the_least_that_do)
{
	uint64_t seed = draws_seed(53);
	long count = draws(1500), by_kind[SHORTAGE_PARALLELISM + 1] = {0}, edges = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct nest_case nest;
		struct nest_case_options options = {
			.spatial = true, .sliding = true, .steps_most = 30};
		nest_case_draw(&random, &options, &nest);
		nest_domain_limit(&random, &nest);
		struct domain *domain = nest_domain_free(arena, &nest);
		if (draw % 4)
			nest_domain_narrow(&random, domain);
		else
			nest_domain_crowd(domain);
		nest_domain_homes(&random, domain);
		bool none = feasible_find(domain, FEASIBLE_WORK_MOST).verdict == VERDICT_NO;
		struct shortages shortages = {0};
		if (none && nest_space_is_small(space_make(arena, domain), MAPPINGS_MOST))
			shortages = shortages_find(domain, FEASIBLE_WORK_MOST, NULL, arena);
		assert_false(shortages.open);
		for (size_t i = 0; i < shortages.count; i++) {
			const struct shortage *limit = &shortages.at[i];
			by_kind[limit->kind]++;
			if (limit->enough >= 0)
				edges += expect_edge(arena, domain, limit, limit->enough, false);
			if (limit->alone >= 0)
				edges += expect_edge(arena, domain, limit, limit->alone, true);
		}
		arena_close(arena);
	}
	long fanouts = by_kind[SHORTAGE_FANOUT_X] + by_kind[SHORTAGE_FANOUT_Y];
	printf("%ld edges; factors %ld, home %ld, capacity %ld, fan-out %ld, utilization %ld, "
	       "parallelism %ld\n",
		edges, by_kind[SHORTAGE_FACTORS], by_kind[SHORTAGE_HOME],
		by_kind[SHORTAGE_CAPACITY], fanouts, by_kind[SHORTAGE_UTILIZATION],
		by_kind[SHORTAGE_PARALLELISM]);
	if (draws_are_many(count)) {
		assert_true(edges > count / 20);
		/* A third of what is usual: fewer by chance happens once in some thousand seeds. */
		assert_true(by_kind[SHORTAGE_CAPACITY] > count / 50);
		assert_true(fanouts > count / 125);
		assert_true(by_kind[SHORTAGE_UTILIZATION] > count / 50);
		assert_true(by_kind[SHORTAGE_PARALLELISM] > count / 100);
	}
}
