/* Mapspaces against everything that there is, tried one by one. */
#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "search/nest/space.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

enum { REST_MOST = 3000, DIMENSIONS_MOST = 4 };

struct keys {
	struct arena *arena;
	struct array(const char *) list;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Counts the different ones. */
static size_t distinct(struct keys *keys)
{
	if (!keys->list.count)
		return 0;
	qsort(keys->list.at, keys->list.count, sizeof *keys->list.at, by_text);
	size_t count = 1;
	for (size_t i = 1; i < keys->list.count; i++)
		count += !text_equal(keys->list.at[i - 1], keys->list.at[i]);
	return count;
}

static bool one_form(const struct domain *domain, const struct tiling_level *level)
{
	const struct hierarchy *hierarchy = domain->hierarchy;
	const struct nest_level *at = &hierarchy->levels[level->level];
	const struct row_domain *row = &domain->rows[level->row];
	if (level->spatial)
		return (at->fanout.x == 1 || at->fanout.y == 1) && row->spatial_inner == 0 &&
		       row->spatial_outer == 0;
	int innermost = 0;
	while (!hierarchy->levels[innermost].storage)
		innermost++;
	return level->level == innermost;
}

/* Tiles overlap, or come again: an order along one axis says who are neighbours. */
static bool may_hand_on(const struct domain *domain, const struct tiling_level *level)
{
	bool may = false;
	for (int t = 0; t < domain->shape->space_count; t++)
		for (int r = 0; r < domain->shape->spaces[t].rank_count; r++) {
			const int64_t *all = domain->shape->spaces[t].ranks[r].coefficient;
			int terms = 0;
			for (int d = 0; d < domain->shape->dimension_count; d++)
				terms += all[d] > 0;
			may |= terms >= 2;
		}
	for (int i = 0; i < domain->hierarchy->level_count; i++)
		may |= domain->hierarchy->levels[i].no_temporal_reuse > 0;
	const struct nest_level *around = &domain->hierarchy->levels[0];
	if (!level->spatial) /* of multipliers beside each other */
		return around->fanout.x * around->fanout.y > 1;
	return may || level->level == 0;
}

/* Returns the key of an order and split: equal for those that differ only in loops of bound 1. */
static const char *key_of(struct arena *arena, const struct domain *domain,
	const struct tiling_level *level, const uint32_t *bounds, const uint8_t *order, uint32_t y)
{
	struct text text = text_open(arena);
	int count = domain->shape->dimension_count;
	for (int i = 0; i < count; i++)
		if (bounds[order[i]] > 1 &&
			(!one_form(domain, level) || may_hand_on(domain, level)))
			text_add(&text, "%d", order[i]);
	for (int d = 0; d < count; d++)
		if (bounds[d] > 1 && y >> d & 1 && !one_form(domain, level))
			text_add(&text, "y%d", d);
	return text_read(&text);
}

static bool order_is_legal(
	const struct domain *domain, const struct tiling_level *level, const uint8_t *order)
{
	const struct row_domain *row = &domain->rows[level->row];
	int inner = level->spatial ? row->spatial_inner : row->temporal_inner;
	int outer = level->spatial ? row->spatial_outer : row->temporal_outer;
	const uint8_t *first = level->spatial ? row->spatial_order : row->temporal_order;
	const uint8_t *last = level->spatial ? row->spatial_last : row->temporal_last;
	return memcmp(order, first, (size_t)inner) == 0 &&
	       memcmp(order + domain->shape->dimension_count - outer, last, (size_t)outer) == 0;
}

/* True if Y may begin there. */
static bool split_is_legal(
	const struct domain *domain, const struct tiling_level *level, int along_x)
{
	const struct nest_level *at = &domain->hierarchy->levels[level->level];
	int split = domain->rows[level->row].split;
	if (split >= 0)
		return along_x == split;
	if (at->fanout.y == 1)
		return along_x == domain->shape->dimension_count;
	return at->fanout.x > 1 || along_x == 0;
}

struct brute {
	const struct domain *domain;
	const struct tiling_level *level;
	const uint32_t *bounds;
	bool splits; /* splits count as different */
	struct keys keys;
	int astray; /* loops along an axis that is not there: the fewest met, as the keys have */
};

static int count_astray(const struct brute *brute, uint32_t y)
{
	const struct nest_level *at = &brute->domain->hierarchy->levels[brute->level->level];
	int count = 0;
	for (int d = 0; d < brute->domain->shape->dimension_count; d++)
		count += brute->bounds[d] > 1 && (y >> d & 1 ? at->fanout.y : at->fanout.x) == 1;
	return count;
}

/* All permutations of order[from ...]. */
static void permute(struct brute *brute, uint8_t *order, int from)
{
	int count = brute->domain->shape->dimension_count;
	for (int i = from; i < count; i++) {
		uint8_t kept = order[from];
		order[from] = order[i];
		order[i] = kept;
		permute(brute, order, from + 1);
		order[i] = order[from];
		order[from] = kept;
	}
	if (from < count || !order_is_legal(brute->domain, brute->level, order))
		return;
	for (int split = 0; split <= count; split++) {
		uint32_t y = 0;
		for (int i = split; i < count && brute->splits; i++)
			y |= 1u << order[i];
		if (brute->splits && !split_is_legal(brute->domain, brute->level, split))
			continue;
		int astray = brute->splits ? count_astray(brute, y) : 0;
		if (astray < brute->astray)
			brute->keys.list.count = 0;
		brute->astray = astray < brute->astray ? astray : brute->astray;
		if (astray == brute->astray)
			*array_add(brute->keys.arena, &brute->keys.list) = key_of(brute->keys.arena,
				brute->domain, brute->level, brute->bounds, order, y);
	}
}

/* All orders of one level, with or without their splits. */
static size_t brute_count(struct arena *arena, const struct space *space,
	const struct tiling_level *level, const uint32_t *bounds, bool splits)
{
	struct brute brute = {space->domain, level, bounds, splits, {.arena = arena}, 99};
	uint8_t order[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		order[d] = (uint8_t)d;
	permute(&brute, order, 0);
	return distinct(&brute.keys);
}

static const uint32_t *bounds_at(const struct mapping *mapping, const struct tiling_level *level)
{
	const struct mapping_row *row = &mapping->rows[level->row];
	return level->spatial ? row->spatial : row->temporal;
}

/* The mapping obeys the domain; its key. */
static const char *expect_legal(
	struct arena *arena, const struct space *space, const struct mapping *mapping)
{
	const struct domain *domain = space->domain;
	struct text text = text_open(arena);
	for (int i = 0; i < space->level_count; i++) {
		const struct tiling_level *level = &space->levels[i];
		const struct mapping_row *row = &mapping->rows[level->row];
		const uint8_t *order = level->spatial ? row->spatial_order : row->temporal_order;
		assert_true(order_is_legal(domain, level, order));
		int along_x = 0, count = domain->shape->dimension_count;
		while (along_x < count && !(row->spatial_y >> order[along_x] & 1))
			along_x++;
		for (int k = along_x; level->spatial && k < count; k++)
			assert_true(row->spatial_y >> order[k] & 1);
		bool axis = level->spatial && domain->rows[level->row].split >= 0;
		assert_true(!axis || split_is_legal(domain, level, along_x));
		text_add(&text, "%s|",
			key_of(arena, domain, level, bounds_at(mapping, level), order,
				level->spatial ? row->spatial_y : 0));
	}
	for (int t = 0; t < domain->shape->space_count; t++) {
		for (int r = 0; r < mapping->level_count; r++) {
			bool kept = mapping->residency[t] >> r & 1;
			assert_false(kept && domain->rows[r].bypass >> t & 1);
			assert_true(kept || !(domain->rows[r].keep >> t & 1));
		}
		text_add(&text, "%x,", mapping->residency[t]);
	}
	return text_read(&text);
}

static void expect_bounds(const struct space *space, const struct mapping *mapping)
{
	for (int d = 0; d < space->domain->shape->dimension_count; d++) {
		int64_t left = space->domain->shape->dimensions[d].extent;
		for (int i = 0; i < space->level_count; i++) {
			const struct row_domain *row = &space->domain->rows[space->levels[i].row];
			const struct factor_domain *factor =
				space->levels[i].spatial ? &row->spatial[d] : &row->temporal[d];
			int64_t bound = bounds_at(mapping, &space->levels[i])[d];
			assert_in_range(bound, factor->least, number_min(factor->most, left));
			assert_true(space->domain->imperfect >> d & 1 || left % bound == 0);
			left = number_ceil_div(left, bound);
		}
		assert_int_equal(left, 1);
	}
}

/* All of the rest for given factors: distinct, legal, as many as there are. */
static bool expect_rest(
	struct arena *arena, const struct space *space, const struct mapping *factors)
{
	uint64_t count = UINT64_C(1) << space->free_count;
	for (int i = 0; i < space->level_count; i++)
		count *= brute_count(arena, space, &space->levels[i],
			bounds_at(factors, &space->levels[i]), space->levels[i].spatial);
	assert_int_equal(space_rest_count(space, factors), count);
	if (count > REST_MOST)
		return false;
	struct keys keys = {.arena = arena};
	for (uint64_t r = 0; r < count; r++) {
		struct mapping mapping = *factors;
		space_rest(space, r, &mapping);
		*array_add(arena, &keys.list) = expect_legal(arena, space, &mapping);
	}
	assert_int_equal(distinct(&keys), count);
	return true;
}

static const struct space *draw_space(
	struct random *random, struct arena *arena, struct nest_case *nest)
{
	struct nest_case_options options = {.spatial = true, .steps_most = 60};
	do
		nest_case_draw(random, &options, nest);
	while (nest->shape.dimension_count > DIMENSIONS_MOST);
	struct domain *domain = nest_domain_free(arena, nest);
	if (random_below(random, 4))
		nest_domain_narrow(random, domain);
	return space_make(arena, domain);
}

BARE_TEST(every_mapping_is_met_once)
{
	uint64_t seed = draws_seed(41);
	long count = draws(1500), full = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct nest_case nest;
		const struct space *space = draw_space(&random, arena, &nest);
		uint64_t factors = space_factors_count(space);
		for (int i = 0; i < 3 && factors; i++) {
			struct mapping mapping;
			space_factors(space, random_below(&random, factors), &mapping);
			expect_bounds(space, &mapping);
			full += expect_rest(arena, space, &mapping);
			space_draw(space, &random, &mapping);
			expect_bounds(space, &mapping);
			expect_legal(arena, space, &mapping);
		}
		arena_close(arena);
	}
	if (draws_are_many(count))
		assert_true(full > count / 2);
}

/* Permutations of order[from ...] that the domain allows. */
static uint64_t count_legal(
	const struct domain *domain, const struct tiling_level *level, uint8_t *order, int from)
{
	uint64_t legal = 0;
	int count = domain->shape->dimension_count;
	for (int i = from; i < count; i++) {
		uint8_t kept = order[from];
		order[from] = order[i];
		order[i] = kept;
		legal += count_legal(domain, level, order, from + 1);
		order[i] = order[from];
		order[from] = kept;
	}
	return from < count ? legal : order_is_legal(domain, level, order);
}

/* Timeloop's count of orders at tiling level i: all that are allowed, of loops of bound 1 too, but
 * one for the innermost temporal level and for a line of instances without a permutation. */
static uint64_t orders_of(const struct space *space, int i)
{
	const struct tiling_level *level = &space->levels[i];
	const struct nest_level *block = &space->domain->hierarchy->levels[level->level];
	const struct row_domain *row = &space->domain->rows[level->row];
	uint8_t order[SHAPE_DIMENSIONS_MOST];
	bool line = block->fanout.x == 1 || block->fanout.y == 1;
	bool given = row->spatial_inner > 0 || row->spatial_outer > 0;
	if (level->spatial ? line && !given : i == 0)
		return 1;
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		order[d] = (uint8_t)d;
	return count_legal(space->domain, level, order, 0);
}

BARE_TEST(sizes_are_those_of_the_choices)
{
	uint64_t seed = draws_seed(43);
	for (long draw = 0; draw < draws(500); draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct nest_case nest;
		const struct space *space = draw_space(&random, arena, &nest);
		struct space_sizes sizes = space_sizes(space, arena);
		uint64_t expected[CHOICE_COUNT] = {1, 1, 1, UINT64_C(1) << space->free_count};
		for (int d = 0; d < nest.shape.dimension_count; d++) {
			uint64_t one = (uint64_t)factors_count(space->factors[d]);
			assert_int_equal(strtoull(sizes.dimensions[d], NULL, 10), one);
			expected[CHOICE_FACTORS] *= one;
		}
		for (int i = 0; i < space->level_count; i++) {
			const struct tiling_level *level = &space->levels[i];
			expected[CHOICE_ORDERS] *= orders_of(space, i);
			if (level->spatial && space->domain->rows[level->row].split < 0)
				expected[CHOICE_SPLITS] *= (uint64_t)nest.shape.dimension_count + 1;
		}
		uint64_t all = 1;
		for (int c = 0; c < CHOICE_COUNT; c++) {
			assert_int_equal(strtoull(sizes.choices[c], NULL, 10), expected[c]);
			all *= expected[c];
		}
		assert_int_equal(strtoull(sizes.all, NULL, 10), all);
		arena_close(arena);
	}
}

/* 6 dimensions of 2^31 on 4 levels: C(34, 31)^6 factors, 6!^3 orders, 2^9 residencies. */
TEST(sizes_beyond_64_bits_are_exact)
{
	struct nest_case nest = {
		.shape = {.dimension_count = 6, .space_count = 3},
		.hierarchy = {.level_count = 4},
	};
	for (int d = 0; d < 6; d++)
		nest.shape.dimensions[d].extent = FACTORS_EXTENT_MOST;
	for (int i = 0; i < 4; i++)
		nest.hierarchy.levels[i] = (struct nest_level){.row = 3 - i,
			.block_row = 4 - i,
			.storage = true,
			.fanout = {.x = 1, .y = 1}};
	const struct space *space = space_make(arena, nest_domain_free(arena, &nest));
	struct space_sizes sizes = space_sizes(space, arena);
	assert_string_equal(sizes.dimensions[5], "5984");
	assert_string_equal(sizes.choices[CHOICE_FACTORS], "45914462980631708041216");
	assert_string_equal(sizes.choices[CHOICE_ORDERS], "373248000");
	assert_string_equal(sizes.choices[CHOICE_SPLITS], "1");
	assert_string_equal(sizes.choices[CHOICE_RESIDENCY], "512");
	assert_string_equal(sizes.all, "8774390517040549766639508258816000");
	assert_true(space_factors_count(space) == UINT64_MAX);
}
