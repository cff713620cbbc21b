#include "base/arena.h"
#include "cost/nest/nest.h"
#include "sim/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/map_question.h"
#include "tests/support/nest_compare.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_fits.h"
#include "tests/support/nest_line.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * Nests on machines with a systolic array: the closed form of its cycles against PEs that hand
 * words on one by one, each with a clock of its own.
 */
enum { MAPPINGS_MOST = 60000 };

static struct nest_sim simulate(
	const struct nest_case *nest, struct nest_sim_options options, struct arena *arena)
{
	options.seed = 11;
	return nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
}

/* NULL if the model counts what the array does. */
static const char *disagreement(const struct nest_case *nest, struct arena *arena, bool *skewed)
{
	struct nest_counts counts;
	struct nest_score score;
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_EXACT);
	enum nest_verdict verdict = nest_evaluate(model, &nest->mapping, &counts, &score);
	if (verdict != NEST_FITS)
		return NULL;
	struct nest_sim sim =
		simulate(nest, (struct nest_sim_options){.data = true, .timing = true}, arena);
	*skewed |= counts.array_cycles > 0;
	if (!sim.finished || !sim.right)
		return arena_format(arena, "the array: %s\n", sim.wrong);
	if (sim.cycles < score.cycles)
		return arena_format(arena,
			"the array takes %" PRId64 " cycles, and at least %" PRId64 " are needed\n",
			sim.cycles, score.cycles);
	return nest_counts_differ(arena, nest, "model", &counts, "simulator", &sim.counts);
}

static bool disagree(const struct nest_case *nest, void *user)
{
	struct arena *arena = arena_open();
	bool skewed, fails = disagreement(nest, arena, &skewed) != NULL;
	arena_close(arena);
	return fails;
}

BARE_TEST(random_arrays_take_the_cycles_of_the_closed_form)
{
	struct nest_case_options options = nest_case_all;
	uint64_t seed = draws_seed(91);
	long count = draws(1500), some = 0;
	options.systolic = true;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		bool skewed = false;
		options.flags = i % 3 == 0;
		nest_case_draw(&random, &options, &nest);
		const char *why = disagreement(&nest, arena, &skewed);
		some += skewed;
		if (why) {
			const char *drawn = nest_case_text(arena, &nest);
			nest_case_shrink(&nest, disagree, NULL);
			fail_msg("seed %" PRIu64 " draw %ld:\n%s%s\nsmaller:\n%s%s", seed, i, drawn,
				why, nest_case_text(arena, &nest),
				disagreement(&nest, arena, &skewed));
		}
		arena_close(arena);
	}
	printf("%ld of %ld take longer than their steps\n", some, count);
	assert_true(!draws_are_many(count) || some > count / 3);
}

/* A small product on an array of PEs with registers: what the best mapping costs, by all of them. */
static void ask(struct random *random, struct arena *arena, struct map_question *out)
{
	static const char *const machines[] = {"DRAM (PE:2x4) RF MAC", "DRAM (PE:4x2) RF MAC",
		"DRAM (PE:3x3) RF MAC", "DRAM (ROW:1x4) (PE:3x1) RF MAC",
		"DRAM GLB (PE:2x2) RF MAC", "DRAM (PE:2x3) MAC"};
	static const int extents[] = {1, 2, 3, 4, 6, 8};
	static const struct objectives wishes[] = {{1, {OBJECTIVE_LATENCY}}, {1, {OBJECTIVE_EDP}},
		{2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}}};
	int m = extents[random_below(random, 6)], n = extents[random_below(random, 6)];
	int k = extents[random_below(random, 6)];
	const char *machine = machines[random_below(random, 6)];
	*out = (struct map_question){.arena = arena,
		.counting = random_below(random, 2) ? COUNTING_EXACT : COUNTING_TIMELOOP,
		.objectives = wishes[random_below(random, 3)]};
	out->nest = *nest_line(arena, machine,
		arena_format(arena, "Z[m,n] = A[m,k] B[k,n], m=%d n=%d k=%d", m, n, k),
		arena_format(arena, "DRAM: m%d n%d k%d", m, n, k));
	struct hierarchy *hierarchy = &out->nest.hierarchy;
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		bool fans = level->fanout.x * level->fanout.y > 1;
		level->fanout.systolic = fans;
		if (fans)
			hierarchy->array_end = i + 1;
		if (fans && hierarchy->array_inner == 0)
			hierarchy->array_inner = i;
		level->size = level->storage && i < hierarchy->level_count - 1
				      ? 1 + (int64_t)random_below(random, 8)
				      : 0;
		for (int a = 0; a < NEST_ACTIONS; a++)
			level->energies.pj[a] = (double)random_below(random, 1 + 4 * (unsigned)i);
	}
	hierarchy->array_overlaps = hierarchy->array_inner > 0 && random_below(random, 2);
	out->constraints = "[]";
	out->domain = nest_domain_read(arena, &out->nest, out->constraints);
}

BARE_TEST(small_arrays_have_the_enumerated_optimum)
{
	uint64_t seed = draws_seed(93);
	long count = draws(120), compared = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct map_question question;
		ask(&random, arena, &question);
		if (nest_space_is_small(space_make(arena, question.domain), MAPPINGS_MOST)) {
			struct explored all = map_question_explore(&question, "linear");
			struct explored best = map_question_explore(&question, "exact");
			if (!best.complete || !all.complete ||
				!map_frontiers_equal(&all.frontier, &best.frontier))
				fail_msg("seed %" PRIu64 " draw %ld: linear %s, exact %s\n%s", seed,
					i, all.frontier.points[0].key,
					best.frontier.count ? best.frontier.points[0].key : "none",
					nest_case_text(arena, &question.nest));
			compared++;
		}
		arena_close(arena);
	}
	printf("%ld mapspaces compared\n", compared);
	assert_true(!draws_are_many(count) || compared > count / 2);
}
