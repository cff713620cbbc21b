#include "base/arena.h"
#include "tests/support/nest_by_hand.h"
#include "tests/support/nest_case.h"
#include "tests/support/nest_interpreter.h"

#include <string.h>

#include "tests/test.h"

/* The interpreter against counts by hand, and what random nests are like. */
static void interpreter_counts_as_the_hand(void **state)
{
	const struct nest_by_hand *row = *state;
	struct arena *arena = arena_open();
	const struct nest_case *nest = nest_by_hand_make(arena, row);
	struct nest_counts counts;
	assert_true(nest_interpret(&nest->hierarchy, &nest->shape, &nest->mapping, &counts));
	assert_string_equal(nest_line_counts(arena, nest, &counts), row->counts);
	assert_int_equal(counts.computes, row->computes);
	assert_int_equal(counts.compute_cycles, row->cycles);
	arena_close(arena);
}

static int64_t instances(const struct nest_case *nest, int level)
{
	const struct mapping_row *row =
		&nest->mapping.rows[nest->hierarchy.levels[level].block_row];
	int64_t all = 1;
	for (int d = 0; d < nest->shape.dimension_count; d++)
		all *= row->spatial[d];
	return all;
}

static uint32_t kept_somewhere(const struct nest_case *nest, int level)
{
	uint32_t kept = 0;
	for (int t = 0; t < nest->shape.space_count; t++)
		kept |= (nest->mapping.residency[t] >> nest->hierarchy.levels[level].row & 1) << t;
	return kept;
}

enum feature {
	IMPERFECT,
	BLOCKS, /* none, one, two, three */
	STORAGES = BLOCKS + 4,
	FANS_OUT = STORAGES + 4,
	FANS_OUT_OUTSIDE,
	PART_OF_A_MESH,
	ALONG_Y,
	BYPASS,
	OUTERMOST_BYPASSED,
	FLAGS,
	EXTENT_OF_1 = FLAGS + 5,
	PRIME,
	WRITTEN_FIRST,
	SIZED,
	FOUR_READS,
	FEATURES
};

static void see_level(const struct nest_case *nest, int i, long seen[])
{
	const struct nest_level *level = &nest->hierarchy.levels[i];
	const struct mapping_row *row = &nest->mapping.rows[level->block_row];
	int outermost = nest->hierarchy.level_count - 1;
	uint32_t all = (1u << nest->shape.space_count) - 1;
	seen[FANS_OUT] += !level->storage;
	seen[FANS_OUT_OUTSIDE] += !level->storage && i == outermost;
	seen[PART_OF_A_MESH] +=
		instances(nest, i) > 1 && instances(nest, i) < level->fanout.x * level->fanout.y;
	for (int d = 0; d < nest->shape.dimension_count; d++)
		seen[ALONG_Y] += row->spatial[d] > 1 && row->spatial_y >> d & 1;
	seen[BYPASS] += level->storage && kept_somewhere(nest, i) != all;
	seen[OUTERMOST_BYPASSED] +=
		level->storage && i == outermost && kept_somewhere(nest, i) != all;
	seen[FLAGS] += level->no_temporal_reuse > 0;
	seen[FLAGS + 1] += level->rmw_first_update > 0;
	seen[FLAGS + 2] += level->no_coalesce > 0;
	seen[FLAGS + 3] += level->no_spatial_reuse > 0;
	seen[FLAGS + 4] += level->no_link_transfer > 0;
	seen[SIZED] += level->size > 0;
}

static void see(const struct nest_case *nest, long seen[])
{
	int blocks = 0, storages = 0;
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		see_level(nest, i, seen);
		blocks += instances(nest, i) > 1;
		storages += nest->hierarchy.levels[i].storage;
	}
	seen[BLOCKS + blocks]++;
	seen[STORAGES + storages - 1]++;
	for (int d = 0; d < nest->shape.dimension_count; d++) {
		int64_t extent = nest->shape.dimensions[d].extent, all = 1;
		for (int r = 0; r < nest->mapping.level_count; r++)
			all *= (int64_t)nest->mapping.rows[r].spatial[d] *
			       nest->mapping.rows[r].temporal[d];
		seen[IMPERFECT] += all != extent;
		seen[EXTENT_OF_1] += extent == 1;
		seen[PRIME] += extent == 5 || extent == 7;
	}
	seen[WRITTEN_FIRST] += nest->shape.spaces[0].written;
	seen[FOUR_READS] += nest->shape.space_count == 5;
}

static void random_nests_meet_everything(void **state)
{
	long seen[FEATURES] = {0};
	for (long i = 0; i < 2000; i++) {
		struct random random = random_open(1, (uint64_t)i);
		struct nest_case nest;
		nest_case_draw(&random, &nest_case_all, &nest);
		assert_true(nest_case_fits(&nest));
		see(&nest, seen);
	}
	for (int f = 0; f < FEATURES; f++)
		if (seen[f] < 20)
			fail_msg("feature %d: %ld times", f, seen[f]);
}

static void options_leave_things_out(void **state)
{
	const struct nest_case_options none = {.steps_most = 100};
	long seen[FEATURES] = {0};
	for (long i = 0; i < 500; i++) {
		struct random random = random_open(2, (uint64_t)i);
		struct nest_case nest;
		nest_case_draw(&random, &none, &nest);
		see(&nest, seen);
		for (int t = 0; t < nest.shape.space_count; t++)
			for (int r = 0; r < nest.shape.spaces[t].rank_count; r++) {
				int dimensions = 0;
				for (int d = 0; d < nest.shape.dimension_count; d++)
					dimensions +=
						nest.shape.spaces[t].ranks[r].coefficient[d] > 0;
				assert_int_equal(dimensions, 1);
			}
	}
	assert_int_equal(seen[BLOCKS], 500);
	assert_int_equal(seen[IMPERFECT] + seen[FANS_OUT] + seen[BYPASS], 0);
	for (int f = 0; f < 5; f++)
		assert_int_equal(seen[FLAGS + f], 0);
}

/* Something that needs two levels, a block and a flag. */
static bool has_a_flagged_block(const struct nest_case *nest, void *user)
{
	(*(long *)user)++;
	for (int i = 1; i < nest->hierarchy.level_count; i++)
		if (nest->hierarchy.levels[i].no_spatial_reuse && instances(nest, i) > 2)
			return true;
	return false;
}

static void failing_nests_get_small(void **state)
{
	long shrunk = 0, asked = 0;
	for (long i = 0; i < 500; i++) {
		struct random random = random_open(3, (uint64_t)i);
		struct nest_case nest;
		nest_case_draw(&random, &nest_case_all, &nest);
		if (!has_a_flagged_block(&nest, &asked))
			continue;
		nest_case_shrink(&nest, has_a_flagged_block, &asked);
		assert_true(nest_case_fits(&nest));
		assert_true(has_a_flagged_block(&nest, &asked));
		assert_in_range(nest.hierarchy.level_count, 2, 3); /* storage, and two blocks */
		assert_in_range(nest.shape.dimension_count, 1, 2);
		assert_in_range(instances(&nest, 1), 3, 4);
		assert_int_equal(nest.shape.space_count, 2);
		int flags = nest.hierarchy.levels[1].no_spatial_reuse;
		assert_int_equal(flags & (flags - 1), 0);
		struct nest_counts counts;
		bool apart; /* what is left of the nest may sum in several homes */
		assert_true(nest_interpret_without(
			RULE_NONE, &nest.hierarchy, &nest.shape, &nest.mapping, &counts, &apart));
		shrunk++;
	}
	assert_true(shrunk > 20);
}

int main(void)
{
	struct CMUnitTest tests[NESTS_BY_HAND + 3] = {
		cmocka_unit_test(random_nests_meet_everything),
		cmocka_unit_test(options_leave_things_out),
		cmocka_unit_test(failing_nests_get_small),
	};
	for (int i = 0; i < NESTS_BY_HAND; i++)
		tests[3 + i] = (struct CMUnitTest){.name = nests_by_hand[i].name,
			.test_func = interpreter_counts_as_the_hand,
			.initial_state = (void *)&nests_by_hand[i]};
	return run_table("random nests and their interpreter", tests, NESTS_BY_HAND + 3);
}
