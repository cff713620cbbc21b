#include "base/arena.h"
#include "search/drive/solver.h"
#include "solvers/joint/cut_dp/cut_dp.h"
#include "tests/support/draws.h"
#include "tests/support/joint_all.h"
#include "tests/support/joint_draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Checks that the comparison of diff_joint notices bounds or dominance of cut_dp that are broken: all differential
 * tests are linked with these, and only here anything is broken.
 */
enum { DRAWS = 600, STATES_MOST = 400000, BOUNDS_MOST = 4096 };

enum fault { SOUND, BOUNDS_TOO_HIGH, EACH_LABEL_DOMINATES, FAULTS };
static enum fault fault;
static const char *const fault_names[] = {"nothing is broken", "bounds are higher by one",
	"each label dominates those that come later"};

const int64_t *__real_relax_bounds(struct relaxation *relaxation, int cut, const uint16_t *codes);
const int64_t *__wrap_relax_bounds(struct relaxation *relaxation, int cut, const uint16_t *codes);
const int64_t *__wrap_relax_bounds(struct relaxation *relaxation, int cut, const uint16_t *codes)
{
	static int64_t higher[BOUNDS_MOST];
	const int64_t *bounds = __real_relax_bounds(relaxation, cut, codes);
	size_t count = bounds ? relax_condition_count(relaxation) : 0;
	if (fault != BOUNDS_TOO_HIGH || !bounds || count > BOUNDS_MOST)
		return bounds;
	for (size_t i = 0; i < count; i++)
		higher[i] = bounds[i] + 1;
	return higher;
}

uint32_t __real_layer_add(struct cut_layer *layer, const struct label *label);
uint32_t __wrap_layer_add(struct cut_layer *layer, const struct label *label);
uint32_t __wrap_layer_add(struct cut_layer *layer, const struct label *label)
{
	if (fault == EACH_LABEL_DOMINATES && layer_first(layer, label->state) != LABEL_NONE)
		return LABEL_NONE;
	return __real_layer_add(layer, label);
}

/* Does it say what all states do? */
static bool is_right(
	const struct joint_space *space, const struct joint_all *all, struct arena *arena)
{
	struct problem problem = {.stage = STAGE_JOINT, .joint = space};
	struct answer answer = solve(solver_find(STAGE_JOINT, "cut_dp"), &problem, 0, 1, arena);
	size_t count = answer.candidate_count;
	if (!all->found)
		return answer.status == PROOF_INFEASIBLE;
	double best = (double)all->answer.value;
	return count && answer.values[count - 1] == best && answer.status == PROOF_OPTIMAL &&
	       answer.bound == best;
}

/* False if an assertion of cut_dp stops the search before its answer can be compared. */
static bool has_answer(int broken)
{
#ifdef NDEBUG
	return true;
#else
	return broken != BOUNDS_TOO_HIGH;
#endif
}

BARE_TEST(faults_are_noticed)
{
	uint64_t seed = draws_seed(31);
	long count = draws(DRAWS), noticed[FAULTS] = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct joint_draw draw = {.ops = 4, .blocks = 1, .views = 3, .options = 8};
		const struct joint_space *space = joint_draw(&random, &draw, arena);
		struct joint_all all = joint_all(space, STATES_MOST, arena);
		for (int f = 0; f < FAULTS && all.known; f++) {
			if (!has_answer(f))
				continue;
			fault = (enum fault)f;
			noticed[f] += !is_right(space, &all, arena);
		}
		fault = SOUND;
		arena_close(arena);
	}
	for (int f = 0; f < FAULTS; f++)
		print_message("%s: %ld of %ld\n", fault_names[f], noticed[f], count);
	assert_int_equal(noticed[SOUND], 0);
	for (int f = SOUND + 1; f < FAULTS && draws_are_many(count); f++)
		assert_true(noticed[f] > 0 || !has_answer(f));
}
