#include "base/arena.h"
#include "sim/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_compare.h"
#include "tests/support/nest_interpreter.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * The comparison of diff_nest would notice: an interpreter that breaks one rule counts differently
 * from the model on some of as many draws, and a simulator with one fault ends wrong.
 */
enum { ENOUGH = 10000 }; /* the rarest rule makes a difference once in a thousand draws */

static void draw(uint64_t seed, long i, struct nest_case *nest)
{
	struct random random = random_open(seed, (uint64_t)i);
	nest_case_draw(&random, &nest_case_all, nest);
}

static bool is_noticed(const struct nest_case *nest, enum nest_rule rule,
	const struct nest_counts *expected, bool expected_apart)
{
	struct nest_counts counts;
	bool apart, right = nest_interpret_without(
			    rule, &nest->hierarchy, &nest->shape, &nest->mapping, &counts, &apart);
	return !right || apart != expected_apart ||
	       !nest_counts_equal(&nest->hierarchy, &nest->shape, &counts, expected);
}

TEST(every_broken_rule_is_noticed)
{
	long count = draws(ENOUGH), noticed[NEST_RULES] = {0};
	uint64_t seed = draws_seed(4);
	for (long i = 0; i < count; i++) {
		struct nest_case nest;
		struct nest_counts expected;
		draw(seed, i, &nest);
		enum nest_verdict verdict = nest_model_verdict(&nest, &expected);
		bool apart = verdict == NEST_SUMS_APART;
		if (!nest_verdict_counts(verdict))
			continue;
		for (int rule = RULE_NONE + 1; rule < NEST_RULES; rule++)
			if (!noticed[rule] && is_noticed(&nest, rule, &expected, apart))
				noticed[rule] = i + 1;
	}
	for (int rule = RULE_NONE + 1; rule < NEST_RULES; rule++) {
		printf("%s: noticed at draw %ld\n", nest_rule_names[rule], noticed[rule]);
		if (count >= ENOUGH && !noticed[rule])
			fail_msg("%s: not noticed in %ld draws", nest_rule_names[rule], count);
	}
}

TEST(every_fault_is_noticed)
{
	static const struct {
		const char *name;
		enum nest_sim_fault fault;
	} faults[] = {
		{"a fill is lost", NEST_SIM_FILL_LOST},
		{"a drain is lost", NEST_SIM_DRAIN_LOST},
		{"a drain reads nothing", NEST_SIM_DRAIN_UNREAD},
		{"the group before's", NEST_SIM_GROUP_WRONG},
		{"a sum is copied", NEST_SIM_SUM_COPIED},
		{"a sum is not read", NEST_SIM_SUM_UNREAD},
	};
	long count = draws(300);
	uint64_t seed = draws_seed(4);
	for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
		long noticed = 0;
		for (long i = 0; i < count && !noticed; i++) {
			struct arena_mark mark = arena_mark(arena);
			struct nest_case nest;
			struct nest_counts counts;
			draw(seed, i, &nest);
			nest_interpret(&nest.hierarchy, &nest.shape, &nest.mapping, &counts);
			struct nest_sim_options options = {.data = true,
				.seed = 7,
				.fault = faults[f].fault,
				.fault_at = (uint64_t)i % 10};
			struct nest_sim sim = nest_simulate(
				&nest.hierarchy, &nest.shape, &nest.mapping, &options, arena);
			if (!sim.right || !nest_counts_equal(&nest.hierarchy, &nest.shape,
						  &sim.counts, &counts))
				noticed = i + 1;
			arena_release(arena, mark);
		}
		printf("%s: noticed at draw %ld\n", faults[f].name, noticed);
		if (draws_are_many(count) && !noticed)
			fail_msg("%s: not noticed in %ld draws", faults[f].name, count);
	}
}
