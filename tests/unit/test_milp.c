#include "base/arena.h"
#include "base/random.h"
#include "search/engine/milp.h"
#include "search/engine/parallel.h"

#include <math.h>

#include "tests/support/draws.h"
#include "tests/test.h"

/* Weights and gains of a knapsack of 15: brute force knows its answer. */
enum { THINGS = 14, ROOM = 61 };
static const int weights[THINGS] = {12, 7, 11, 8, 9, 6, 7, 3, 5, 13, 4, 10, 14, 2};
static const int gains[THINGS] = {24, 13, 23, 15, 16, 11, 12, 5, 9, 27, 6, 19, 29, 2};

static int brute_force(void)
{
	int best = 0;
	for (unsigned set = 0; set < 1u << THINGS; set++) {
		int weight = 0, gain = 0;
		for (int i = 0; i < THINGS; i++)
			if (set >> i & 1) {
				weight += weights[i];
				gain += gains[i];
			}
		if (weight <= ROOM && gain > best)
			best = gain;
	}
	return best;
}

static struct milp *knapsack(struct arena *arena)
{
	struct milp *milp = milp_make(arena);
	for (int i = 0; i < THINGS; i++)
		milp_column(milp, 0, 1, true, -gains[i]);
	milp_row(milp, -INFINITY, ROOM);
	for (int i = 0; i < THINGS; i++) { /* in two parts that add up */
		milp_entry(milp, i, weights[i] - 1);
		milp_entry(milp, i, 1);
	}
	return milp;
}

static void counted(void *user, const double *values)
{
	(*(int *)user)++;
}

TEST(the_optimum_is_brute_forces)
{
	int points = 0;
	struct milp_wishes wishes = {.user = &points, .found = counted};
	struct milp_answer answer = milp_solve(knapsack(arena), &wishes, arena);
	assert_int_equal(answer.status, PROOF_OPTIMAL);
	assert_int_equal(lround(-answer.value), brute_force());
	assert_true(answer.bound <= answer.value && answer.bound >= answer.value - 1e-6);
	assert_true(points > 0 && answer.iterations > 0);
	struct milp_size size = milp_size(knapsack(arena));
	assert_int_equal(size.columns, THINGS);
	assert_int_equal(size.integers, THINGS);
	assert_int_equal(size.rows, 1);
	assert_int_equal(size.entries, THINGS);
}

static bool never(void *user, uint64_t iterations, int rows)
{
	return false;
}

static bool three_times(void *user, uint64_t iterations, int rows)
{
	return (*(int *)user)++ < 3;
}

TEST(work_ends_when_told)
{
	struct milp_answer answer =
		milp_solve(knapsack(arena), &(struct milp_wishes){.go_on = never}, arena);
	assert_int_equal(answer.status, PROOF_BUDGET);
	assert_true(answer.bound <= -brute_force());
	int asked = 0;
	struct milp_wishes wishes = {.user = &asked, .go_on = three_times};
	answer = milp_solve(knapsack(arena), &wishes, arena);
	assert_true(answer.status == PROOF_BUDGET || answer.status == PROOF_BOUND);
	assert_true(answer.bound <= -brute_force() + 1e-6);
}

TEST(what_cannot_be_is_told)
{
	struct milp *milp = milp_make(arena); /* 2x = 1 + 2y: no relaxation says so */
	int x = milp_column(milp, 0, 5, true, 1), y = milp_column(milp, 0, 5, true, 1);
	milp_row(milp, 1, 1);
	milp_entry(milp, x, 2);
	milp_entry(milp, y, -2);
	struct milp_wishes all = {0};
	assert_int_equal(milp_solve(milp, &all, arena).status, PROOF_INFEASIBLE);
	milp_fix(milp, x, 1);
	milp_row(milp, 2, INFINITY); /* nor can x be 2 */
	milp_entry(milp, x, 1);
	assert_int_equal(milp_solve(milp, &all, arena).status, PROOF_INFEASIBLE);
	struct milp *open = milp_make(arena);
	milp_column(open, 0, INFINITY, false, -1);
	assert_int_equal(milp_solve(open, &all, arena).status, PROOF_NONE);
	struct milp *crossed = milp_make(arena); /* GLPK's own checks refuse these bounds */
	milp_column(crossed, 3, 2, true, 1);
	struct milp_answer answer = milp_solve(crossed, &all, arena);
	assert_int_equal(answer.status, PROOF_NONE);
	assert_non_null(answer.fault);
}

/* Out of memory GLPK ends with an error; the process goes on, and the next program is solved. */
TEST(errors_are_answers)
{
	struct milp *huge = milp_make(arena);
	for (int i = 0; i < 20000; i++)
		milp_column(huge, 0, 1, true, -1);
	struct milp_answer answer = milp_solve(huge, &(struct milp_wishes){.megabytes = 1}, arena);
	assert_int_equal(answer.status, PROOF_NONE);
	assert_non_null(answer.fault);
	answer = milp_solve(knapsack(arena), &(struct milp_wishes){0}, arena);
	assert_int_equal(lround(-answer.value), brute_force());
}

enum { TASKS = 12 };

struct shared {
	struct milp_answer answers[TASKS];
	struct arena *arenas[TASKS];
};

static void solve_one(void *context, size_t i, int thread)
{
	struct shared *shared = context;
	shared->arenas[i] = arena_open();
	shared->answers[i] = milp_solve(
		knapsack(shared->arenas[i]), &(struct milp_wishes){0}, shared->arenas[i]);
}

static void solved_once(void *context, size_t i)
{
}

TEST(threads_do_not_meet)
{
	struct shared shared;
	struct parallel work = {&shared, solve_one, solved_once};
	parallel_each(&work, TASKS, 4);
	for (int i = 0; i < TASKS; i++) {
		assert_int_equal(shared.answers[i].status, PROOF_OPTIMAL);
		assert_int_equal(shared.answers[i].iterations, shared.answers[0].iterations);
		assert_memory_equal(shared.answers[i].values, shared.answers[0].values,
			THINGS * sizeof(double));
		arena_close(shared.arenas[i]);
	}
}
