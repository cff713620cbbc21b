#include "base/arena.h"
#include "search/claim/plan_complete.h"
#include "tests/support/adversary_case.h"
#include "tests/support/draws.h"
#include "tests/support/joint_judged.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/test.h"

/*
 * Joint spaces of random graphs lack no step of the language of plans, which is enumerated by itself
 * (search/language/language.h); spaces that lack an option, have it dearer, or lose a view's evict do.
 * STEPS= the steps of each op that are looked at.
 */
enum { GRAPHS = 14, STEPS = 400, HARMS = 2 };

static const int cores[] = {1, 2, 4, 8};

struct tally {
	long graphs, all, harmed, caught;
	uint64_t steps, prices;
};

static struct joint_question draw_question(
	struct random *random, long number, struct adversary_case *of, struct arena *arena)
{
	if (number % 2)
		return joint_question_draw(random, cores, 4, arena);
	while (!adversary_draw(random, of, arena))
		;
	return (struct joint_question){.arch = of->arch,
		.workload = of->workload,
		.planning = &of->planning,
		.aim = of->aim};
}

static struct plan_complete complete(const struct joint_space *space, struct arena *arena)
{
	const char *given = getenv("STEPS");
	struct plan_complete_question asked = {
		.space = space, .steps = given ? (uint64_t)atoll(given) : STEPS};
	return plan_complete_check(&asked, arena);
}

/* The space with one option less, or with a dearer one. */
static const struct joint_space *harm(
	struct random *random, const struct joint_space *space, struct arena *arena)
{
	struct joint_space *other = arena_copy(arena, space, sizeof *space);
	struct joint_option *options =
		arena_copy(arena, space->options, space->option_count * sizeof *options);
	size_t *first = arena_copy(
		arena, space->first_option, ((size_t)space->op_count + 1) * sizeof *first);
	size_t harmed = (size_t)draw_below(random, (int64_t)space->option_count);
	other->options = options;
	other->first_option = first;
	if (draw_chance(random, 2)) {
		options[harmed].value += 1 + options[harmed].value / 2;
		return other;
	}
	other->option_count--;
	for (size_t o = harmed; o < other->option_count; o++)
		options[o] = options[o + 1];
	for (int op = 0; op <= space->op_count; op++)
		first[op] -= first[op] > harmed;
	return other;
}

static void compare(uint64_t seed, long number, struct tally *tally)
{
	struct arena *arena = arena_open();
	struct random random = random_open(seed, (uint64_t)number);
	struct adversary_case of = {0};
	struct joint_question question = draw_question(&random, number, &of, arena);
	const char *why = NULL;
	const struct joint_space *space = joint_graph_make(&question, arena, &why);
	if (space) {
		struct plan_complete found = complete(space, arena);
		if (found.why)
			fail_msg("SEED=%" PRIu64 ", graph %ld: %s\n%s%s", seed, number, found.why,
				of.arch_yaml ? of.arch_yaml : "",
				of.workload_yaml ? of.workload_yaml : "");
		tally->graphs++;
		tally->all += found.all;
		tally->steps += found.steps;
		tally->prices += found.prices;
		for (int i = 0; i < HARMS; i++, tally->harmed++)
			tally->caught += complete(harm(&random, space, arena), arena).why != NULL;
	}
	arena_close(arena);
}

static void spaces_are_complete(void **state)
{
	uint64_t seed = draws_seed(35);
	long count = draws(GRAPHS);
	struct tally tally = {0};
	for (long i = 0; i < count; i++)
		compare(seed, i, &tally);
	print_message("%ld graphs, all steps of %ld; %" PRIu64 " steps, %" PRIu64
		      " prices; %ld of %ld harmed spaces are caught\n",
		tally.graphs, tally.all, tally.steps, tally.prices, tally.caught, tally.harmed);
	assert_true(!draws_are_many(count) || tally.caught > tally.harmed / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(spaces_are_complete)};
	return cmocka_run_group_tests_name("language", tests, NULL, NULL);
}
