#include "base/arena.h"
#include "cost/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_case.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/* Returns the explanation of a random nest. */
static const char *explain(struct arena *arena, const struct nest_case *nest)
{
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_EXACT);
	return nest_explain(model, &nest->mapping, arena);
}

/* Tiles without windows, and factors that divide: every count is the explained product. */
BARE_TEST(plain_nests_are_told_by_products)
{
	static const struct nest_case_options plain = {
		.bypass = true, .spatial = true, .steps_most = 4000};
	uint64_t seed = draws_seed(1);
	long count = draws(300), told = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case *nest = arena_new(arena, struct nest_case);
		nest_case_draw(&random, &plain, nest);
		const char *text = explain(arena, nest);
		if (strstr(text, "counted are"))
			fail_msg("draw %ld of seed %" PRIu64 "\n%s\n%s", i, seed,
				nest_case_text(arena, nest), text);
		told += strstr(text, "groups of") != NULL;
		arena_close(arena);
	}
	assert_true(told > 0 || !draws_are_many(count));
}

/* Every drawn nest is explained, with a reason if the product is not the count. */
BARE_TEST(every_nest_is_told)
{
	static const struct nest_case_options any = {.imperfect = true,
		.sliding = true,
		.bypass = true,
		.spatial = true,
		.flags = true,
		.steps_most = 2000};
	static const char *const reasons[] = {"last rounds are shorter",
		"tiles overlap, and what is there stays", "neighbours hand on the others",
		" of its words: ", "those with the same tile share"};
	enum { REASONS = sizeof reasons / sizeof *reasons };
	uint64_t seed = draws_seed(2);
	long count = draws(300), told[REASONS] = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case *nest = arena_new(arena, struct nest_case);
		nest_case_draw(&random, &any, nest);
		const char *text = explain(arena, nest);
		assert_non_null(text);
		for (int r = 0; r < REASONS; r++)
			told[r] += strstr(text, reasons[r]) != NULL;
		arena_close(arena);
	}
	for (int r = 0; r < REASONS; r++)
		assert_true(told[r] > 0 || !draws_are_many(count));
}
