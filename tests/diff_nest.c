#include "base/arena.h"
#include "sim/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_compare.h"
#include "tests/support/nest_interpreter.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Three ways to count a nest exactly, which share no code: the closed form, the simulator, and the
 * interpreter that moves element by element.  All integers are equal, and both executions end with
 * the einsum's numbers.
 */
static const char *model_differs(
	const struct nest_case *nest, const struct nest_counts *expected, struct arena *arena)
{
	struct nest_counts counts;
	if (!nest_model_counts(nest, &counts))
		return NULL;
	return nest_counts_differ(arena, nest, "model", &counts, "interpreter", expected);
}

static const char *simulator_differs(const struct nest_case *nest,
	const struct nest_counts *expected, bool data, struct arena *arena)
{
	struct nest_sim_options options = {.data = data, .timing = data, .seed = 7};
	struct nest_sim sim =
		nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
	if (!sim.finished || !sim.right)
		return arena_format(arena, "the simulator%s: %s\n", data ? "" : ", only counting",
			sim.wrong ? sim.wrong : "no reason");
	return nest_counts_differ(arena, nest, "simulator", &sim.counts, "interpreter", expected);
}

/* NULL if all three agree. */
static const char *disagreement(const struct nest_case *nest, struct arena *arena)
{
	struct nest_counts counts;
	if (!nest_interpret(&nest->hierarchy, &nest->shape, &nest->mapping, &counts))
		return "the interpreter's result is not the einsum's\n";
	const char *why = model_differs(nest, &counts, arena);
	for (int data = 1; data >= 0 && !why; data--)
		why = simulator_differs(nest, &counts, data, arena);
	return why;
}

static bool disagree(const struct nest_case *nest, void *user)
{
	struct arena *arena = arena_open();
	bool fails = disagreement(nest, arena) != NULL;
	arena_close(arena);
	return fails;
}

static void compare(const struct nest_case_options *options, uint64_t seed, long count)
{
	struct arena *arena = arena_open();
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		nest_case_draw(&random, options, &nest);
		assert_true(nest_case_fits(&nest));
		const char *why = disagreement(&nest, arena);
		if (why) {
			const char *drawn = nest_case_text(arena, &nest);
			nest_case_shrink(&nest, disagree, NULL);
			fail_msg("seed %" PRIu64 " draw %ld:\n%s%s\nsmaller:\n%s%s", seed, i, drawn,
				why, nest_case_text(arena, &nest), disagreement(&nest, arena));
		}
		arena_release(arena, mark);
	}
	arena_close(arena);
}

static void random_nests_are_counted_alike(void **state)
{
	compare(&nest_case_all, draws_seed(4), draws(600));
}

static void plain_nests_are_counted_alike(void **state)
{
	struct nest_case_options options = {.spatial = true, .sliding = true, .steps_most = 600};
	compare(&options, draws_seed(5), draws(600) / 4);
}

static void longer_nests_are_counted_alike(void **state)
{
	struct nest_case_options options = nest_case_all;
	options.steps_most = 5000;
	compare(&options, draws_seed(6), draws(600) / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_nests_are_counted_alike),
		cmocka_unit_test(plain_nests_are_counted_alike),
		cmocka_unit_test(longer_nests_are_counted_alike),
	};
	return cmocka_run_group_tests_name("exact counting", tests, NULL, NULL);
}
