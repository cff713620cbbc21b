#include "base/arena.h"
#include "sim/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_compare.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * Nests whose periods are executed once, against the same nests step by step: every field of the result is the
 * same, in one of which the ends of all sums show (NEST_SUMS_APART).
 */
static struct nest_sim simulate(
	const struct nest_case *nest, bool timing, bool every_step, struct arena *arena)
{
	struct nest_sim_options options = {.timing = timing, .every_step = every_step};
	return nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
}

static bool times_equal(const struct nest_sim *a, const struct nest_sim *b)
{
	return a->cycles == b->cycles && a->fill_cycles == b->fill_cycles &&
	       a->drain_cycles == b->drain_cycles && a->stall_cycles == b->stall_cycles &&
	       memcmp(a->stall_by_level, b->stall_by_level, sizeof a->stall_by_level) == 0;
}

/* NULL if the two are the same; adds the work of each. */
static const char *disagreement(
	const struct nest_case *nest, uint64_t *once, uint64_t *all, struct arena *arena)
{
	for (int timing = 0; timing < 2; timing++) {
		struct nest_sim steps = simulate(nest, timing, true, arena);
		struct nest_sim periods = simulate(nest, timing, false, arena);
		*once += periods.work;
		*all += steps.work;
		if (!steps.finished || !steps.right || !periods.finished || !periods.right)
			return arena_format(arena, "step by step: %s, periods: %s\n",
				steps.wrong ? steps.wrong : "right",
				periods.wrong ? periods.wrong : "right");
		if (steps.verdict != periods.verdict || steps.events != periods.events)
			return arena_format(arena,
				"verdict %d, in periods %d; events %" PRIu64 ", in periods %" PRIu64
				"\n",
				(int)steps.verdict, (int)periods.verdict, steps.events,
				periods.events);
		if (!times_equal(&steps, &periods))
			return arena_format(arena, "%" PRId64 " cycles, in periods %" PRId64 "\n",
				steps.cycles, periods.cycles);
		const char *why = nest_counts_differ(
			arena, nest, "steps", &steps.counts, "periods", &periods.counts);
		if (why)
			return why;
	}
	return NULL;
}

static bool disagree(const struct nest_case *nest, void *user)
{
	struct arena *arena = arena_open();
	uint64_t once = 0, all = 0;
	bool fails = disagreement(nest, &once, &all, arena) != NULL;
	arena_close(arena);
	return fails;
}

/* Buffers, networks and sums to begin with that the cases have none of. */
static void vary_machine(struct random *random, struct nest_case *nest)
{
	nest->hierarchy.resumes = draw_chance(random, 8);
	if (draw_chance(random, 3))
		nest_case_paces(random, false, nest);
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		struct nest_level *level = &nest->hierarchy.levels[i];
		level->store.multiple_buffering = 1 + (double)random_below(random, 2);
		level->store.fill_cycles = (int64_t)random_below(random, 3);
		level->store.drain_cycles = (int64_t)random_below(random, 3);
	}
}

/* Compares random nests; the share of their work that periods leave. */
static double compare(const struct nest_case_options *options, uint64_t seed, long count)
{
	uint64_t once = 0, all = 0;
	struct arena *arena = arena_open();
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		nest_case_draw(&random, options, &nest);
		nest_case_grow(&random, 2 + draw_below(&random, 40), &nest);
		vary_machine(&random, &nest);
		struct nest_sim_options least = {.steps_most = 100000, .every_step = true};
		struct nest_sim short_enough =
			nest_simulate(&nest.hierarchy, &nest.shape, &nest.mapping, &least, arena);
		const char *why =
			short_enough.finished ? disagreement(&nest, &once, &all, arena) : NULL;
		if (why) {
			const char *drawn = nest_case_text(arena, &nest);
			nest_case_shrink(&nest, disagree, NULL);
			fail_msg("seed %" PRIu64 " draw %ld:\n%s%s\nsmaller:\n%s%s", seed, i, drawn,
				why, nest_case_text(arena, &nest),
				disagreement(&nest, &once, &all, arena));
		}
		arena_release(arena, mark);
	}
	arena_close(arena);
	return (double)once / (double)all;
}

TEST(periods_of_random_nests_are_steps)
{
	struct nest_case_options options = nest_case_all;
	options.steps_most = 2000;
	compare(&options, draws_seed(41), draws(1000));
}

TEST(periods_of_perfect_nests_save_work)
{
	struct nest_case_options options = {
		.spatial = true, .bypass = true, .flags = true, .steps_most = 4000};
	long count = draws(600);
	double share = compare(&options, draws_seed(42), count);
	if (draws_are_many(count) && share > 0.4)
		fail_msg("%.0f %% of the work is left", 100 * share);
}

TEST(periods_of_arrays_are_steps)
{
	struct nest_case_options options = nest_case_all;
	options.systolic = true;
	compare(&options, draws_seed(43), draws(600));
}
