#include "base/arena.h"
#include "base/number.h"
#include "tests/support/broken_exact.h"
#include "tests/support/draws.h"
#include "tests/support/map_question.h"
#include "tests/support/nest_fits.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * Checks that the comparison of diff_map notices an exact search that is broken: the
 * search itself, calling something that is wrong, on the same kind of mapspaces.  It
 * must be right when nothing is broken.
 */
enum { MAPPINGS_MOST = 6000, DRAWS_MOST = 2000 };

/* All that the machine allows: there faults have most to spoil. */
static bool draw_free(
	const struct map_questions *class, struct random *random, struct map_question *out)
{
	static const struct objectives wishes[] = {{1, {OBJECTIVE_ENERGY}}, {1, {OBJECTIVE_EDP}},
		{2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}}};
	if (!map_question_draw(class, random, 0, out))
		return false;
	out->objectives = wishes[random_below(random, 3)];
	return true;
}

static struct frontier find(
	const struct map_question *question, enum exact_fault fault, bool *complete)
{
	struct nest_search search = map_question_search(question);
	struct problem problem = {.stage = STAGE_MAP, .nest = &search, .end = 1};
	struct frontier frontier = frontier_open(search.wishes.objectives);
	exact_fault = fault;
	struct answer answer = solve(&broken_exact_solver, &problem, search.wishes.budget,
		search.wishes.seed, question->arena);
	*complete = answer.status == PROOF_OPTIMAL;
	for (size_t i = 0; i < answer.candidate_count; i++) {
		struct nest_counts counts;
		struct nest_score score;
		nest_evaluate(search.model, answer.candidates[i].mappings, &counts, &score);
		frontier_add(&frontier, question->arena,
			(struct point){.score = nest_summary(&search, &counts, &score), .key = ""});
	}
	return frontier;
}

/* Counts the mapspaces that reveal each fault. */
static void count_noticed(bool imperfect, uint64_t seed, long count, long *noticed)
{
	long compared = 0;
	for (long draw = 0; draw < count; draw++) {
		struct map_questions class = {.options = {.sliding = true,
						      .imperfect = imperfect,
						      .bypass = true,
						      .spatial = true,
						      .steps_most = imperfect ? 30 : 100},
			.imperfect = imperfect};
		struct map_question question = {.arena = arena_open()};
		struct random random = random_open(seed, (uint64_t)draw);
		if (draw_free(&class, &random, &question) &&
			nest_space_is_small(
				space_make(question.arena, question.domain), MAPPINGS_MOST)) {
			struct explored all = map_question_explore(&question, "linear");
			compared += all.frontier.count > 0;
			for (int fault = 0; fault < EXACT_FAULTS; fault++) {
				bool complete;
				struct frontier found =
					find(&question, (enum exact_fault)fault, &complete);
				noticed[fault] +=
					!complete || !map_frontiers_equal(&all.frontier, &found);
			}
		}
		arena_close(question.arena);
	}
	printf("%ld mapspaces with mappings%s\n", compared,
		imperfect ? ", factors need not divide" : "");
}

TEST(faults_of_the_search_are_noticed)
{
	uint64_t seed = draws_seed(70);
	long count = number_min(draws(200), DRAWS_MOST), noticed[EXACT_FAULTS] = {0};
	count_noticed(false, seed, count, noticed);
	count_noticed(true, seed + 1, count, noticed);
	for (int fault = 0; fault < EXACT_FAULTS; fault++)
		printf("%6ld tell: %s\n", noticed[fault], exact_fault_names[fault]);
	assert_int_equal(noticed[EXACT_RIGHT], 0);
	for (int fault = 1; fault < EXACT_FAULTS; fault++)
		assert_true(!draws_are_many(count) || noticed[fault] > 0);
}
