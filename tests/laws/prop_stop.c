#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/nest/feasible.h"
#include "search/nest/nest_search.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/map_question.h"
#include "tests/support/nest_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/test.h"

/*
 * Searches of mappings that someone stops: they end soon after at any point, and
 * what they say then is true.  Asking is counted, no clock is read; who never asks again is killed.
 */
enum {
	SECONDS_MOST = 100,
	TICKS_MOST = 5000,
	ASKED_MOST = 200,
	PATIENCE_MOST = 8,
	WHOLE_MOST = 5000
};

/* Says yes from the ask after `patience` on. */
struct person {
	uint64_t patience, asked;
};

static bool stop(void *at)
{
	struct person *person = at;
	return person->asked++ >= person->patience;
}

/* --- large problems */

/* 16 dimensions of 2: 65536 sets of loops, 16! orders. */
static const char *wide_problem(struct arena *arena)
{
	(void)arena;
	return "problem:\n"
	       "  shape:\n"
	       "    name: wide\n"
	       "    dimensions: [A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P]\n"
	       "    data_spaces:\n"
	       "    - {name: X, projection: [[[A]], [[B]], [[C]], [[D]], [[E]], [[F]], [[G]], [[H]]]}\n"
	       "    - {name: Y, projection: [[[I]], [[J]], [[K]], [[L]], [[M]], [[N]], [[O]], [[P]]]}\n"
	       "    - {name: Z, projection: [[[A]], [[C]], [[I]], [[K]]], read_write: true}\n"
	       "  instance: {A: 2, B: 2, C: 2, D: 2, E: 2, F: 2, G: 2, H: 2, I: 2, J: 2, K: 2,\n"
	       "    L: 2, M: 2, N: 2, O: 2, P: 2}\n";
}

/* A convolution whose extents have many divisors. */
static const char *deep_problem(struct arena *arena)
{
	(void)arena;
	return "problem:\n"
	       "  shape:\n"
	       "    name: deep\n"
	       "    dimensions: [C, M, R, S, N, P, Q]\n"
	       "    data_spaces:\n"
	       "    - {name: W, projection: [[[C]], [[M]], [[R]], [[S]]]}\n"
	       "    - {name: I, projection: [[[N]], [[C]], [[R], [P]], [[S], [Q]]]}\n"
	       "    - {name: O, projection: [[[N]], [[M]], [[P]], [[Q]]], read_write: true}\n"
	       "  instance: {C: 5040, M: 5040, R: 15, S: 15, N: 16, P: 240, Q: 240}\n";
}

static struct nest_search large_search(struct arena *arena, const char *text, bool imperfect)
{
	static const char *const paths[] = {"specs/arch/eyeriss.yaml"};
	struct diag *diag = diag_open(arena);
	struct nest_search search = {.wishes.objectives = {1, {OBJECTIVE_EDP}},
		.wishes.seed = 1,
		.wishes.asker.jobs = 1};
	if (!nest_request_read(arena, diag, paths, 1, text, &search))
		fail_msg("%s", complaints_text(arena, diag));
	struct domain *domain = arena_copy(arena, search.domain, sizeof *domain);
	domain->imperfect = imperfect ? UINT32_MAX : 0;
	search.domain = domain;
	search.space = space_make(arena, domain);
	return search;
}

static void expect_soon(const struct nest_search *search, const char *name, uint64_t patience)
{
	struct arena *arena = arena_open();
	struct person person = {.patience = patience};
	struct asker asker = {.jobs = 1, .stopper = {&person, stop}};
	struct problem problem = {.stage = STAGE_MAP, .nest = search, .first = 0, .end = 1};
	if (solver_find(STAGE_MAP, name)->sharing == SHARING_ENUMERATION ||
		solver_find(STAGE_MAP, name)->sharing == SHARING_DRAWS)
		problem.end = UINT64_MAX;
	struct answer answer =
		solve_for(&asker, solver_find(STAGE_MAP, name), &problem, 0, 1, arena);
	bool heard = answer.stopped || person.asked <= patience;
	if (!heard || answer.ticks > TICKS_MOST + 200 * patience ||
		person.asked > patience + ASKED_MOST)
		fail_msg("%s, %s, %" PRIu64 " asks: %s, %" PRIu64 " ticks, asked %" PRIu64 " times",
			search->shape->name, name, patience, answer.stopped ? "stopped" : "ended",
			answer.ticks, person.asked);
	if (answer.status == PROOF_OPTIMAL && answer.stopped)
		fail_msg("%s, %s: proven", search->shape->name, name);
	arena_close(arena);
}

static void a_stop_is_heard_soon(void **state)
{
	static const char *const names[] = {"ilp", "exact", "linear", "random", "anneal"};
	const char *(*problems[])(struct arena *) = {wide_problem, deep_problem};
	for (int p = 0; p < 2; p++)
		for (int imperfect = 0; imperfect < 2; imperfect++) {
			struct arena *arena = arena_open();
			struct nest_search search =
				large_search(arena, problems[p](arena), imperfect);
			for (size_t s = 0; s < sizeof names / sizeof *names; s++)
				/* Integer programs take their time from one ask to the next. */
				for (uint64_t patience = 0; patience <= (s ? PATIENCE_MOST : 0);
					patience = 3 * patience + 2)
					expect_soon(&search, names[s], patience);
			arena_close(arena);
		}
}

static void tables_of_factors_need_not_be_finished(void **state)
{
	struct arena *arena = arena_open();
	struct factor_bounds bounds[12];
	struct person person = {.patience = 1000};
	struct stopper stopper = {&person, stop};
	for (int i = 0; i < 12; i++)
		bounds[i] = (struct factor_bounds){1, FACTORS_EXTENT_MOST};
	assert_null(factors_make(arena, FACTORS_EXTENT_MOST - 1, true, 12, bounds, &stopper));
	assert_int_equal(person.asked, person.patience + 1);
	person.asked = 0;
	struct factors_store store = {.arena = arena, .stopper = stopper};
	struct nest_search search = large_search(arena, deep_problem(arena), false);
	struct feasible feasible = feasible_find_from(&store, search.domain, 0, UINT64_MAX);
	assert_true(feasible.verdict == VERDICT_YES || person.asked <= person.patience + 20);
	arena_close(arena);
}

/* --- what is said */

struct met {
	long bounds, each, optima, nothing;
};

/* The bound of the first objective. */
static double best(const struct explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	return objective_value(frontier->objectives.at[0], &frontier->points[0].score);
}

/* With several objectives, no point of the frontier is below the bound of each alone. */
static void expect_bounds(
	const struct explored *part, const struct frontier *whole, struct met *met)
{
	for (size_t k = 0; k < whole->objectives.count; k++)
		for (size_t i = 0; i < whole->count; i++) {
			double value =
				objective_value(whole->objectives.at[k], &whole->points[i].score);
			if (part->bounds[k] > value * (1 + 1e-11))
				fail_msg("objective %zu: bound %.17g, a point has %.17g", k,
					part->bounds[k], value);
			met->each += part->bounds[k] > 0;
		}
}

/* Compares the claims of a stopped search with the results of the whole one. */
static void expect_truth(struct map_question *question, struct random *random, struct met *met)
{
	struct person person = {.patience = UINT64_MAX};
	struct nest_search search = map_question_search(question);
	search.solver = solver_find(STAGE_MAP, "exact");
	search.wishes.budget = WHOLE_MOST; /* ticks */
	search.wishes.asker.stopper = (struct stopper){&person, stop};
	struct explored whole = nest_explore(&search, question->arena);
	if (!whole.complete || !whole.frontier.count)
		return;
	person.patience = random_below(random, person.asked + 1);
	person.asked = 0;
	struct explored part = nest_explore(&search, question->arena);
	double optimum = best(&whole);
	if (question->objectives.count > 1) {
		expect_bounds(&part, &whole.frontier, met);
		return;
	}
	if (part.complete && (!part.frontier.count || best(&part) != optimum))
		fail_msg("%.17g is not proven, the optimum is %.17g",
			part.frontier.count ? best(&part) : 0, optimum);
	if (!part.complete && part.bound > optimum * (1 + 1e-11)) /* sums of doubles differ */
		fail_msg("bound %.17g, the optimum is %.17g", part.bound, optimum);
	if (part.frontier.count && best(&part) < optimum)
		fail_msg("%.17g is better than the optimum %.17g", best(&part), optimum);
	met->optima += part.complete;
	met->bounds += !part.complete && part.bound > 0;
	met->nothing += !part.complete && part.bound <= 0;
}

static void what_is_said_after_a_stop_is_true(void **state)
{
	uint64_t seed = draws_seed(83);
	long count = draws(200);
	struct met met = {0};
	for (long draw = 0; draw < count; draw++) {
		struct map_questions class = {
			.options = {.sliding = true, .bypass = true, .spatial = true},
			.imperfect = draw % 3 == 0};
		struct random random = random_open(seed, (uint64_t)draw);
		struct map_question question = {.arena = arena_open()};
		class.options.steps_most =
			40 + (int64_t)random_below(&random, class.imperfect ? 60 : 400);
		if (map_question_draw(&class, &random, draw, &question)) {
			if (draw % 2)
				question.objectives.count = 1;
			expect_truth(&question, &random, &met);
		}
		arena_close(question.arena);
	}
	printf("%ld bounds, %ld of points, %ld optima, %ld times nothing was known\n", met.bounds,
		met.each, met.optima, met.nothing);
	assert_true(!draws_are_many(count) || (met.bounds && met.each && met.optima));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_is_heard_soon),
		cmocka_unit_test(tables_of_factors_need_not_be_finished),
		cmocka_unit_test(what_is_said_after_a_stop_is_true),
	};
	alarm(SECONDS_MOST);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
