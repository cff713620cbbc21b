#include "base/arena.h"
#include "sim/nest/nest.h"
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
static bool is_perfect(const struct nest_case *nest)
{
	for (int d = 0; d < nest->shape.dimension_count; d++) {
		int64_t all = 1;
		for (int r = 0; r < nest->mapping.level_count; r++)
			all *= (int64_t)nest->mapping.rows[r].spatial[d] *
			       nest->mapping.rows[r].temporal[d];
		if (all != nest->shape.dimensions[d].extent)
			return false;
	}
	return true;
}

/* The model may refuse bounds that do not divide where some flags meet. */
static bool may_be_refused(const struct nest_case *nest)
{
	int flags = 0;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		flags |= nest->hierarchy.levels[i].no_temporal_reuse |
			 nest->hierarchy.levels[i].no_coalesce;
	return flags && !is_perfect(nest);
}

static const char *model_differs(const struct nest_case *nest, const struct nest_counts *expected,
	bool expected_apart, bool *refused, struct arena *arena)
{
	struct nest_counts counts;
	enum nest_verdict verdict = nest_model_verdict(nest, &counts);
	*refused = !nest_verdict_counts(verdict);
	if (*refused)
		return may_be_refused(nest) ? NULL : "the model does not count it\n";
	if ((verdict == NEST_SUMS_APART) != expected_apart)
		return "the model says otherwise whether sums end in parts\n";
	return nest_counts_differ(arena, nest, "model", &counts, "interpreter", expected);
}

static const char *simulator_differs(const struct nest_case *nest,
	const struct nest_counts *expected, bool expected_apart, bool data, struct arena *arena)
{
	struct nest_sim_options options = {.data = data, .timing = data, .seed = 7};
	struct nest_sim sim =
		nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
	if (!sim.finished || !sim.right)
		return arena_format(arena, "the simulator%s: %s\n", data ? "" : ", only counting",
			sim.wrong ? sim.wrong : "no reason");
	if ((sim.verdict == NEST_SUMS_APART) != expected_apart)
		return "the simulator says otherwise whether sums end in parts\n";
	return nest_counts_differ(arena, nest, "simulator", &sim.counts, "interpreter", expected);
}

/* NULL if all three agree. */
static const char *disagreement(const struct nest_case *nest, bool *refused, struct arena *arena)
{
	struct nest_counts counts;
	bool apart;
	if (!nest_interpret_without(
		    RULE_NONE, &nest->hierarchy, &nest->shape, &nest->mapping, &counts, &apart))
		return "the interpreter's result is not the einsum's\n";
	const char *why = model_differs(nest, &counts, apart, refused, arena);
	for (int data = 1; data >= 0 && !why; data--)
		why = simulator_differs(nest, &counts, apart, data, arena);
	return why;
}

static bool disagree(const struct nest_case *nest, void *user)
{
	struct arena *arena = arena_open();
	bool refused, fails = disagreement(nest, &refused, arena) != NULL;
	arena_close(arena);
	return fails;
}

/* Every level keeps the written dataspace, and many empty themselves or read first. */
static void flag_sums(struct random *random, struct nest_case *nest)
{
	int t = 0;
	while (!nest->shape.spaces[t].written)
		t++;
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		struct nest_level *level = &nest->hierarchy.levels[i];
		if (!level->storage)
			continue;
		nest->mapping.residency[t] |= 1u << level->row;
		level->no_temporal_reuse |= (uint8_t)(random_below(random, 2) << t);
		level->rmw_first_update |= (uint8_t)(random_below(random, 2) << t);
	}
}

static void compare(const struct nest_case_options *options, bool sums, uint64_t seed, long count)
{
	struct arena *arena = arena_open();
	long refusals = 0;
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		nest_case_draw(&random, options, &nest);
		if (sums)
			flag_sums(&random, &nest);
		assert_true(nest_case_fits(&nest));
		bool refused = false;
		const char *why = disagreement(&nest, &refused, arena);
		refusals += refused;
		if (why) {
			const char *drawn = nest_case_text(arena, &nest);
			nest_case_shrink(&nest, disagree, NULL);
			fail_msg("seed %" PRIu64 " draw %ld:\n%s%s\nsmaller:\n%s%s", seed, i, drawn,
				why, nest_case_text(arena, &nest),
				disagreement(&nest, &refused, arena));
		}
		arena_release(arena, mark);
	}
	assert_true(refusals <= 2 + count / 200);
	arena_close(arena);
}

TEST(random_nests_are_counted_alike)
{
	compare(&nest_case_all, false, draws_seed(4), draws(2000));
}

TEST(plain_nests_are_counted_alike)
{
	struct nest_case_options options = {.spatial = true, .sliding = true, .steps_most = 600};
	compare(&options, false, draws_seed(5), draws(2000) / 4);
}

TEST(longer_nests_are_counted_alike)
{
	struct nest_case_options options = nest_case_all;
	options.steps_most = 5000;
	compare(&options, false, draws_seed(6), draws(2000) / 20);
}

TEST(restless_sums_are_counted_alike)
{
	struct nest_case_options options = nest_case_all;
	options.imperfect = options.bypass = options.flags = false;
	compare(&options, true, draws_seed(8), draws(2000) / 4);
}

/* Too long for the interpreter. */
TEST(grown_nests_are_counted_alike)
{
	struct nest_case_options options = nest_case_all;
	options.steps_most = 2000;
	long count = draws(2000) / 4, simulated = 0;
	uint64_t seed = draws_seed(7);
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_sim_options counting = {.steps_most = 100000};
		struct nest_case nest;
		struct nest_counts counts;
		nest_case_draw(&random, &options, &nest);
		nest_case_grow(&random, 64, &nest);
		struct nest_sim sim = nest_simulate(
			&nest.hierarchy, &nest.shape, &nest.mapping, &counting, arena);
		if (sim.finished && nest_model_counts(&nest, &counts)) {
			const char *why = nest_counts_differ(
				arena, &nest, "model", &counts, "simulator", &sim.counts);
			if (why || !sim.right)
				fail_msg("seed %" PRIu64 " draw %ld:\n%s%s", seed, i,
					nest_case_text(arena, &nest), why ? why : sim.wrong);
			simulated++;
		}
		arena_release(arena, mark);
	}
	if (draws_are_many(count))
		assert_true(simulated > count / 2);
}
