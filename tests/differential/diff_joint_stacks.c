#include "base/arena.h"
#include "search/drive/solver.h"
#include "solvers/joint/cut_dp/cut_dp.h"
#include "tests/support/draws.h"
#include "tests/support/joint_all.h"
#include "tests/support/joint_draw.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Random stacks of equal blocks: the bound that comes from one block at a time against all states, one by one, and what
 * cut_dp proves with it.
 */
enum { DRAWS = 150, STATES_MOST = 400000, POTENTIAL_STATES = 1000 };

struct tally {
	long known, found, bounded, exact, repeated, further;
};

/* The bound alone, as a solver. */
static int64_t bound;
static struct stack stack;
static size_t width;

static void find_bound(struct run *run, const struct problem *problem)
{
	struct arena *arena = run_arena(run);
	const char *why = NULL;
	const struct frame *frame = frame_make(problem->joint, arena, &why);
	assert_non_null(frame);
	struct relaxations relaxations = relaxations_open(frame, NULL, arena);
	stack = stack_find(frame, POTENTIAL_STATES, arena);
	bound = 0;
	stack_bound(run, frame, &relaxations, width, &bound);
	relaxations_close(&relaxations);
}

static const struct solver bound_alone = {
	.stage = STAGE_JOINT, .name = "bound_alone", .run = find_bound};

static void note(struct tally *tally, const struct joint_all *all)
{
	int repeats = 0;
	for (int b = 0; b < stack.count; b++)
		repeats += stack.repeats[b];
	tally->known++;
	tally->found += all->found;
	tally->bounded += bound > 0;
	tally->exact += all->found && bound == all->answer.value;
	tally->repeated += repeats > 0;
	tally->further += repeats > 2;
}

static void check_proof(
	const struct joint_space *space, const struct joint_all *all, struct arena *arena)
{
	struct problem problem = {.stage = STAGE_JOINT, .joint = space};
	struct answer answer = solve(solver_find(STAGE_JOINT, "cut_dp"), &problem, 0, 1, arena);
	if (!all->found)
		assert_int_equal(answer.status, PROOF_INFEASIBLE);
	else if (answer.status != PROOF_OPTIMAL || answer.bound != (double)all->answer.value)
		fail_msg("the best is %" PRId64 "; cut_dp proves %.17g", all->answer.value,
			answer.bound);
}

BARE_TEST(test_stacks)
{
	uint64_t seed = draws_seed(41);
	long count = draws(DRAWS);
	struct tally tally = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		int ops = 1 + (int)draw_below(&random, 3);
		struct joint_draw draw = {.ops = ops,
			.blocks = 2 + (int)draw_below(&random, 8 / ops),
			.views = 1 + (int)draw_below(&random, 3),
			.options = 2 + (int)draw_below(&random, 5),
			.without_relays = !draw_chance(&random, 5)};
		const struct joint_space *space = joint_draw(&random, &draw, arena);
		struct joint_all all = joint_all(space, STATES_MOST, arena);
		struct problem problem = {.stage = STAGE_JOINT, .joint = space};
		if (all.known) {
			width = draw_chance(&random, 3) ? 30 : 4000;
			solve(&bound_alone, &problem, 0, 1, arena);
			note(&tally, &all);
			if (all.found && bound > all.answer.value)
				fail_msg("draw %ld: the best is %" PRId64 ", the bound %" PRId64, i,
					all.answer.value, bound);
			check_proof(space, &all, arena);
		}
		arena_close(arena);
	}
	print_message(
		"%ld of %ld known, %ld with an answer; %ld with a bound, %ld of them exact; %ld with equal "
		"blocks, %ld with some that are not looked at\n",
		tally.known, count, tally.found, tally.bounded, tally.exact, tally.repeated,
		tally.further);
	assert_true(!draws_are_many(count) || (tally.exact && tally.further));
}
