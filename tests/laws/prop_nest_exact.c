#include "base/arena.h"
#include "cost/nest/nest_count.h"
#include "tests/support/draws.h"
#include "tests/support/nest_case.h"
#include "tests/support/nest_compare.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Perfect factors are imperfect ones whose last round is full: counted by the way of imperfect
 * factors, which adds up digits instead of multiplying bounds, and by their own way, long nests
 * count alike.
 */
static const struct nest_case_options options = {
	.sliding = true,
	.bypass = true,
	.spatial = true,
	.flags = true,
	.steps_most = 200,
};

/* Temporal loops become longer, at times by much. */
static void lengthen(struct random *random, struct nest_case *nest)
{
	for (int d = 0; d < nest->shape.dimension_count; d++) {
		int level = (int)random_below(random, (uint64_t)nest->hierarchy.level_count);
		if (!nest->hierarchy.levels[level].storage)
			continue;
		uint32_t times = 1 + (uint32_t)random_below(random, 4);
		if (random_below(random, 4) == 0)
			times = 1 + (uint32_t)random_below(random, 100000);
		nest_case_temporal(nest, level)->temporal[d] *= times;
		nest->shape.dimensions[d].extent *= times;
	}
}

static enum nest_verdict count_as(
	const struct nest_case *nest, bool perfect, struct arena *arena, struct nest_counts *counts)
{
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_EXACT);
	struct nest_loops loops;
	struct nest_score score;
	*counts = (struct nest_counts){0};
	if (!model->fits)
		return NEST_OVERFLOW;
	assert_int_equal(nest_loops_make(model, &nest->mapping, &loops, &score), NEST_FITS);
	assert_true(loops.perfect);
	loops.perfect = perfect;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		for (int t = 0; t < nest->shape.space_count; t++)
			if (loops.kept[i] >> t & 1 &&
				!nest_words(&nest->shape.spaces[t], nest->shape.dimension_count,
					loops.tile[i], &counts->at[i][t].capacity))
				return NEST_OVERFLOW;
	return nest_exact_counts(model, &loops, UINT32_MAX, counts, &score);
}

TEST(both_ways_count_alike)
{
	uint64_t seed = draws_seed(6);
	long count = draws(3000), compared = 0;
	for (long n = 0; n < count; n++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)n);
		struct nest_case nest;
		nest_case_draw(&random, &options, &nest);
		lengthen(&random, &nest);
		struct nest_counts perfect, imperfect;
		if (count_as(&nest, true, arena, &perfect) == NEST_FITS &&
			count_as(&nest, false, arena, &imperfect) == NEST_FITS) {
			const char *why = nest_counts_differ(
				arena, &nest, "perfect", &perfect, "imperfect", &imperfect);
			if (why)
				fail_msg("seed %" PRIu64 " draw %ld:\n%s%s", seed, n,
					nest_case_text(arena, &nest), why);
			compared++;
		}
		arena_release(arena, mark);
	}
	assert_true(!draws_are_many(count) || compared > count * 9 / 10);
}
