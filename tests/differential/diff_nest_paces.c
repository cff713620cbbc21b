#include "base/arena.h"
#include "sim/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_compare.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * Rounds and rows of random nests: the model has closed forms for them, the simulator counts each as it
 * happens.  They are equal, and the cycles of the model are a lower bound.
 */
static struct nest_sim simulate(const struct nest_case *nest, struct arena *arena)
{
	struct nest_sim_options options = {.timing = true};
	return nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
}

static bool is_countable(const struct nest_case *nest)
{
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		if (nest->hierarchy.levels[i].store.row_cycles.num)
			return false;
	return true;
}

/* NULL if model and simulator agree; the model counts in *counted. */
static const char *disagreement(const struct nest_case *nest, struct nest_counts *counts,
	bool *counted, struct arena *arena)
{
	enum nest_verdict verdict = nest_model_verdict(nest, counts);
	*counted = nest_verdict_counts(verdict);
	if (!*counted)
		return is_countable(nest) ? "the model does not count it\n" : NULL;
	struct nest_sim sim = simulate(nest, arena);
	if (!sim.finished || !sim.right)
		return sim.wrong;
	if (memcmp(sim.counts.rounds, counts->rounds, sizeof counts->rounds) != 0)
		return "rounds differ\n";
	if (memcmp(sim.counts.rows, counts->rows, sizeof counts->rows) != 0)
		return "rows differ\n";
	return nest_counts_differ(arena, nest, "model", counts, "simulator", &sim.counts);
}

static bool disagree(const struct nest_case *nest, void *user)
{
	struct arena *arena = arena_open();
	struct nest_counts counts;
	bool counted, fails = nest_case_fits(nest) && disagreement(nest, &counts, &counted, arena);
	arena_close(arena);
	return fails;
}

static void draw_nest(struct random *random, long i, struct nest_case *nest)
{
	struct nest_case_options options = nest_case_all;
	options.imperfect = i % 3 == 0;
	options.flags = i % 2 && !options.imperfect; /* not all that meet are counted */
	nest_case_draw(random, &options, nest);
	nest_case_paces(random, false, nest);
	for (int k = 0; k < nest->hierarchy.level_count && i % 4; k++)
		nest->hierarchy.levels[k].store.row_cycles.num *= !options.imperfect;
}

BARE_TEST(model_and_simulator_count_the_same)
{
	uint64_t seed = draws_seed(91);
	long count = draws(600), met = 0, rows = 0, rounds = 0;
	for (long i = 0; i < count; i++) {
		struct random random = random_open(seed, (uint64_t)i);
		struct arena *arena = arena_open();
		struct nest_case nest;
		struct nest_counts counts;
		bool counted;
		draw_nest(&random, i, &nest);
		const char *why = disagreement(&nest, &counts, &counted, arena);
		if (why) {
			nest_case_shrink(&nest, disagree, NULL);
			fail_msg("draw %ld: %s%s", i, why, nest_case_text(arena, &nest));
		}
		for (int k = 0; counted && k < nest.hierarchy.level_count; k++) {
			met++;
			rows += counts.rows[k] > 1;
			rounds += counts.rounds[k] > 1;
		}
		arena_close(arena);
	}
	if (draws_are_many(count)) {
		assert_true(rows > met / 10);
		assert_true(rounds > met / 10);
	}
}

/* A machine that differs in one thing has other counts. */
BARE_TEST(other_rows_and_rounds_are_noticed)
{
	uint64_t seed = draws_seed(92);
	long count = draws(300), of_rows = 0, of_rounds = 0;
	for (long i = 0; i < count; i++) {
		struct random random = random_open(seed, (uint64_t)i);
		struct arena *arena = arena_open();
		struct nest_case nest;
		struct nest_counts counts;
		draw_nest(&random, 2, &nest);
		if (nest_verdict_counts(nest_model_verdict(&nest, &counts))) {
			struct nest_case other = nest;
			for (int k = 0; k < other.hierarchy.level_count; k++)
				for (int t = 0; t < other.shape.space_count; t++)
					other.hierarchy.levels[k].row_rank[t] = 0;
			struct nest_sim sim = simulate(&other, arena);
			of_rows += memcmp(sim.counts.rows, counts.rows, sizeof counts.rows) != 0;
			int outermost = other.hierarchy.level_count - 1;
			other = nest;
			for (int k = 0; k < outermost; k++)
				other.hierarchy.levels[k].store.round_cycles =
					nest.hierarchy.levels[k + 1].store.round_cycles;
			sim = simulate(&other, arena);
			of_rounds +=
				memcmp(sim.counts.rounds, counts.rounds, sizeof counts.rounds) != 0;
		}
		arena_close(arena);
	}
	if (draws_are_many(count)) {
		assert_true(of_rows > count / 20);
		assert_true(of_rounds > count / 5);
	}
}
