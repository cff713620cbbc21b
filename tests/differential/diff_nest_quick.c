#include "base/arena.h"
#include "cost/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_compare.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * The quick count against the long way, in both countings: verdicts and where they apply, all
 * counts, time and energy to the last bit.  Small nests, where windows meet in every way, and the
 * same grown, too long for an interpreter.
 */
static const char *differs(
	const struct nest_case *nest, enum counting counting, bool *counted, struct arena *arena)
{
	struct nest_model *model = arena_new(arena, struct nest_model);
	*model = *nest_model_make(arena, &nest->hierarchy, &nest->shape, counting);
	struct nest_counts quick, slow;
	struct nest_score quick_score = {0}, slow_score = {0};
	enum nest_verdict verdict = nest_evaluate(model, &nest->mapping, &quick, &quick_score);
	model->quick = false;
	enum nest_verdict expected = nest_evaluate(model, &nest->mapping, &slow, &slow_score);
	*counted = nest_verdict_counts(verdict);
	/* Groups of more children than the long way compares may have a closed form. */
	if (expected == NEST_UNCOUNTABLE)
		return NULL;
	if (verdict != expected)
		return arena_format(arena, "%s: verdict %d, not %d\n", counting_names[counting],
			verdict, expected);
	if (!*counted)
		return NULL;
	const char *why = nest_counts_differ(arena, nest, "quick", &quick, "long", &slow);
	if (why)
		return arena_format(arena, "%s:\n%s", counting_names[counting], why);
	if (quick_score.level != slow_score.level || quick_score.asked != slow_score.asked ||
		quick_score.given != slow_score.given || quick_score.cycles != slow_score.cycles ||
		quick_score.energy_pj != slow_score.energy_pj)
		return arena_format(arena, "%s: another score\n", counting_names[counting]);
	return NULL;
}

static bool differ(const struct nest_case *nest, void *user)
{
	struct arena *arena = arena_open();
	bool counted, fails = differs(nest, *(enum counting *)user, &counted, arena) != NULL;
	arena_close(arena);
	return fails;
}

/* Draws prices that distinguish accesses, ports that wait, neighbours that hand nothing on. */
static void draw_levels(struct random *random, struct nest_case *nest)
{
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		struct nest_level *level = &nest->hierarchy.levels[i];
		level->store.block_words = 1 + (int64_t)random_below(random, 8);
		if (level->storage && random_below(random, 16) == 0) {
			level->size = level->store.entries = 0;
			level->store.no_room = true;
		}
		if (random_below(random, 3) == 0)
			ratio_make(1 + (int64_t)random_below(random, 8),
				1 + (int64_t)random_below(random, 3), &level->store.read_rate);
		if (random_below(random, 8) == 0)
			level->no_link_transfer = (uint8_t)random_below(random, 256);
	}
}

/* Ranks of a dataspace that add dimensions, where it has most of them. */
static int sums_of(const struct shape *shape)
{
	int most = 0;
	for (int t = 0; t < shape->space_count; t++) {
		int sums = 0;
		for (int r = 0; r < shape->spaces[t].rank_count; r++) {
			int terms = 0;
			for (int d = 0; d < shape->dimension_count; d++)
				terms += shape->spaces[t].ranks[r].coefficient[d] != 0;
			sums += terms > 1;
		}
		most = sums > most ? sums : most;
	}
	return most;
}

static void compare(int sums, int64_t steps_most, int64_t extent_most, uint64_t seed, long count)
{
	struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .steps_most = steps_most};
	struct arena *arena = arena_open();
	long counted = 0;
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		do
			nest_case_draw(&random, &options, &nest);
		while (sums_of(&nest.shape) < sums);
		if (extent_most)
			nest_case_grow(&random, extent_most, &nest);
		draw_levels(&random, &nest);
		for (int c = 0; c < 2; c++) {
			enum counting counting = c ? COUNTING_TIMELOOP : COUNTING_EXACT;
			bool one;
			const char *why = differs(&nest, counting, &one, arena);
			counted += one;
			if (why) {
				const char *drawn = nest_case_text(arena, &nest);
				nest_case_shrink(&nest, differ, &counting);
				const char *less = differs(&nest, counting, &one, arena);
				fail_msg("seed %" PRIu64 " draw %ld:\n%s%s\nsmaller:\n%s%s", seed,
					i, drawn, why, nest_case_text(arena, &nest),
					less ? less : "");
			}
		}
		arena_release(arena, mark);
	}
	if (draws_are_many(count))
		assert_true(counted > count);
	arena_close(arena);
}

TEST(small_nests_are_counted_alike)
{
	compare(0, 5000, 0, draws_seed(11), 10 * draws(2000));
}

TEST(windows_are_counted_alike)
{
	compare(1, 50000, 0, draws_seed(14), 5 * draws(2000));
}

TEST(windows_in_two_ranks_are_counted_alike)
{
	compare(2, 50000, 0, draws_seed(15), 5 * draws(2000));
}

TEST(grown_nests_are_counted_alike)
{
	compare(0, 5000, 64, draws_seed(12), 5 * draws(2000));
}

TEST(long_nests_are_counted_alike)
{
	compare(0, 5000, INT64_C(1) << 20, draws_seed(13), 5 * draws(2000));
}
