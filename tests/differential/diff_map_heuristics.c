#include "base/arena.h"
#include "base/number.h"
#include "search/certificate/certificate_check.h"
#include "tests/support/draws.h"
#include "tests/support/nest_problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Proofs of the exact search in spaces too large to try every mapping. A mapping that beats a
 * proven optimum, or a bound, refutes it: annealing and random draws try to, from starts of their
 * own and from the proven ones.  The same problem written otherwise has the same optimum, with less
 * constraints none that is worse; a frontier has the optimum of each of its objectives, threads
 * change no bit, and certificates are found true.
 */
enum { DRAWS = 10, DRAWS_MOST = 500, TICKS = 5000, EVALUATIONS = 200 };

/* A budget does not count the lists that are made ahead, which may have a million residencies or
 * spatial bounds: a search in one thread is stopped after this number of polls. */
enum { ASKS_MOST = 4000 };

/* Sums of doubles; the exact search takes energies for equal that differ by 1e-12. */
#define ROUNDING 4e-12

static const char *const adversaries[] = {"anneal", "random"};
enum { ADVERSARIES = sizeof adversaries / sizeof *adversaries };

static struct {
	long proven, bounded; /* searches that ended so */
} tally;

/* A mapspace, a solver and what it needs. */
struct question {
	const struct nest_problem *problem;
	const char *solver;
	uint64_t budget, seed;
	const struct mapping *start;
	int jobs;
	double epsilon;
};

static bool has_asked_enough(void *listener)
{
	int *asks = listener;
	*asks += *asks < ASKS_MOST;
	return *asks == ASKS_MOST;
}

static struct nest_search search_of(const struct question *question)
{
	struct nest_search search =
		nest_problem_search(question->problem, question->solver, question->budget);
	if (question->jobs <= 1) {
		search.wishes.asker.stopper.stop = has_asked_enough;
		search.wishes.asker.stopper.listener = arena_new(question->problem->arena, int);
	}
	search.wishes.seed = question->seed;
	search.start = question->start;
	search.epsilon = question->epsilon;
	search.wishes.asker.jobs = question->jobs ? question->jobs : 1;
	return search;
}

static struct explored ask(const struct question *question)
{
	struct nest_search search = search_of(question);
	return nest_explore(&search, question->problem->arena);
}

static struct explored prove(const struct nest_problem *problem)
{
	struct explored proof = ask(&(struct question){problem, "exact", .budget = TICKS});
	tally.proven += proof.complete;
	tally.bounded += !proof.complete && proof.bound > 0;
	return proof;
}

static double value_of(const struct frontier *frontier, size_t k, size_t i)
{
	return objective_value(frontier->objectives.at[k], &frontier->points[i].score);
}

/* True if a point of the frontier is nowhere above this one. */
static bool covers(const struct frontier *frontier, const struct frontier *of, size_t point)
{
	for (size_t i = 0; i < frontier->count; i++) {
		bool covered = true;
		for (size_t k = 0; k < frontier->objectives.count; k++)
			covered &=
				value_of(frontier, k, i) <= value_of(of, k, point) * (1 + ROUNDING);
		if (covered)
			return true;
	}
	return false;
}

/* A point that no point of the frontier covers; of->count if there is none. */
static size_t uncovered(const struct frontier *frontier, const struct frontier *of)
{
	size_t i = 0;
	while (i < of->count && covers(frontier, of, i))
		i++;
	return i;
}

struct failure {
	uint64_t seed;
	long draw;
	const struct nest_problem *problem;
};

static void show(const char *name, const struct frontier *frontier)
{
	for (size_t i = 0; i < frontier->count; i++) {
		fprintf(stderr, "%s:", name);
		for (size_t k = 0; k < frontier->objectives.count; k++)
			fprintf(stderr, " %.17g", value_of(frontier, k, i));
		fprintf(stderr, "  %s\n", frontier->points[i].key);
	}
}

static void refuted(const struct failure *failure, const char *what, const struct explored *proof,
	const struct explored *other)
{
	show(proof->complete ? "proven" : "found", &proof->frontier);
	show(what, &other->frontier);
	fail_msg("seed %" PRIu64 " draw %ld: %s (bound %.17g)\n%s", failure->seed, failure->draw,
		what, proof->bound, nest_problem_text(failure->problem));
}

/* --- adversaries */

static void expect_unbeaten(const struct failure *failure, const struct explored *proof,
	const struct explored *found, const char *solver)
{
	if (proof->complete &&
		uncovered(&proof->frontier, &found->frontier) < found->frontier.count)
		refuted(failure, solver, proof, found);
	if (!proof->complete && found->frontier.count &&
		value_of(&found->frontier, 0, 0) * (1 + ROUNDING) < proof->bound)
		refuted(failure, solver, proof, found);
}

static void attack(const struct failure *failure, struct random *random)
{
	const struct nest_problem *problem = failure->problem;
	struct explored proof = prove(problem);
	const struct mapping *start = NULL;
	struct nest_found *first = proof.frontier.count ? proof.frontier.points[0].payload : NULL;
	for (int n = 0; n < 2 * ADVERSARIES; n++) {
		struct question question = {problem, adversaries[n % ADVERSARIES],
			.budget = EVALUATIONS, .seed = random_next(random)};
		if (n >= ADVERSARIES && first)
			question.start = &first->mapping;
		struct explored found = ask(&question);
		expect_unbeaten(failure, &proof, &found, question.solver);
		if (found.frontier.count)
			start = &((struct nest_found *)found.frontier.points[0].payload)->mapping;
	}
	struct question warm = {problem, "exact", .budget = TICKS, .start = start};
	struct explored again = ask(&warm);
	if (proof.complete && again.complete)
		expect_unbeaten(failure, &again, &proof, "a cold search");
	if (proof.complete)
		expect_unbeaten(failure, &proof, &again, "a warm search");
}

static void each_draw(void (*try)(const struct failure *failure, struct random *random),
	uint64_t seed, const struct nest_problems *class)
{
	long count = number_min(draws(DRAWS), DRAWS_MOST), tried = 0;
	memset(&tally, 0, sizeof tally);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct failure failure = {seed, draw, nest_problem_draw(arena, &random, class)};
		if (failure.problem) {
			try(&failure, &random);
			tried++;
		}
		arena_close(arena);
	}
	printf("%ld mapspaces, %ld proofs, %ld bounds\n", tried, tally.proven, tally.bounded);
	assert_true(!draws_are_many(count) || tally.proven + tally.bounded > count / 2);
}

static const struct nest_problems plain = {.flags = false};

TEST(no_mutant_beats_a_proof)
{
	each_draw(attack, draws_seed(81), &plain);
}

TEST(nor_under_flags)
{
	each_draw(attack, draws_seed(82), &(struct nest_problems){.flags = true});
}

TEST(nor_where_factors_need_not_divide)
{
	each_draw(attack, draws_seed(86), &(struct nest_problems){.imperfect = true});
}

/* --- the same problem, and others that have all of its mappings */

static void expect_no_worse(const struct failure *failure, const struct explored *proof,
	const struct nest_problem *other, bool equal, const char *what)
{
	if (!other)
		fail_msg("seed %" PRIu64 " draw %ld: %s clashes\n%s", failure->seed, failure->draw,
			what, nest_problem_text(failure->problem));
	struct explored again = prove(other);
	struct frontier *renamed = &again.frontier;
	if (!again.complete)
		return;
	for (size_t i = 0; i < proof->frontier.count; i++)
		if (!covers(renamed, &proof->frontier, i))
			refuted(failure, what, proof, &again);
	if (equal && uncovered(&proof->frontier, renamed) < renamed->count)
		refuted(failure, what, proof, &again);
}

static void rewrite(const struct failure *failure, struct random *random)
{
	const struct nest_problem *problem = failure->problem;
	struct explored proof = prove(problem);
	bool greedy = strstr(problem->constraints, "maximize");
	if (!proof.complete)
		return;
	expect_no_worse(
		failure, &proof, nest_problem_reorder(problem, random), true, "another order");
	if (greedy)
		return;
	expect_no_worse(failure, &proof, nest_problem_reverse(problem), true, "backwards");
	expect_no_worse(
		failure, &proof, nest_problem_relax(problem, random), false, "less constraints");
	int outermost = domain_outermost(problem->domain->arch);
	int inside = problem->nest.hierarchy.level_count - 1 - outermost;
	if (problem->counting == COUNTING_EXACT && inside > 0)
		expect_no_worse(failure, &proof,
			nest_problem_pad(problem, (int)random_below(random, (uint64_t)inside)),
			true, "an idle level");
}

TEST(other_words_change_nothing)
{
	each_draw(rewrite, draws_seed(83), &plain);
}

/* --- the same search otherwise */

static void expect_same(
	const struct failure *failure, const struct explored *proof, const struct explored *other)
{
	const struct frontier *a = &proof->frontier, *b = &other->frontier;
	bool same = a->count == b->count && proof->effort.evaluated == other->effort.evaluated &&
		    proof->effort.ticks == other->effort.ticks &&
		    proof->complete == other->complete &&
		    memcmp(&proof->bound, &other->bound, sizeof proof->bound) == 0;
	for (size_t i = 0; same && i < a->count; i++) {
		same = strcmp(a->points[i].key, b->points[i].key) == 0;
		for (size_t k = 0; k < a->objectives.count; k++)
			same &= value_of(a, k, i) == value_of(b, k, i);
	}
	if (!same)
		refuted(failure, "other threads", proof, other);
}

/* Each objective alone has the optimum that is at an end of the frontier. */
static void expect_ends(const struct failure *failure, const struct explored *proof)
{
	const struct objectives *objectives = &proof->frontier.objectives;
	for (size_t k = 0; objectives->count > 1 && k < objectives->count; k++) {
		struct nest_problem alone = *failure->problem;
		alone.objectives = (struct objectives){1, {objectives->at[k]}};
		struct explored best = prove(&alone);
		double end = INFINITY;
		for (size_t i = 0; i < proof->frontier.count; i++)
			end = fmin(end, value_of(&proof->frontier, k, i));
		if (best.complete && (best.frontier.count > 0) != (proof->frontier.count > 0))
			refuted(failure, "an objective alone", proof, &best);
		if (best.complete && best.frontier.count &&
			fabs(value_of(&best.frontier, 0, 0) - end) > ROUNDING * end)
			refuted(failure, "an objective alone", proof, &best);
	}
}

/* Nothing that ended early promises more than there is. */
static void expect_bound(const struct failure *failure, const struct explored *proof,
	const struct question *question, const char *what)
{
	struct explored less = ask(question);
	const struct frontier *best = &proof->frontier, *found = &less.frontier;
	tally.bounded += !less.complete && less.bound > 0;
	if (best->objectives.count > 1 || best->count == 0) {
		if (found->count > 0 && best->count == 0)
			refuted(failure, what, proof, &less);
		return;
	}
	double value = value_of(best, 0, 0);
	if (less.complete && (!found->count || value_of(found, 0, 0) > value * (1 + ROUNDING)))
		refuted(failure, what, proof, &less);
	if (less.bound > value * (1 + ROUNDING))
		refuted(failure, what, proof, &less);
	if (question->epsilon > 0 && !less.complete && less.effort.ticks < TICKS &&
		value_of(found, 0, 0) > value * (1 + question->epsilon) * (1 + ROUNDING))
		refuted(failure, what, proof, &less);
}

static void repeat(const struct failure *failure, struct random *random)
{
	static const double parts[] = {0.001, 0.05, 0.5};
	const struct nest_problem *problem = failure->problem;
	struct explored proof = prove(problem);
	if (proof.stopped)
		return;
	for (int jobs = 2; jobs <= 7; jobs += 5) {
		struct explored shared =
			ask(&(struct question){problem, "exact", .budget = TICKS, .jobs = jobs});
		expect_same(failure, &proof, &shared);
	}
	if (!proof.complete)
		return;
	expect_ends(failure, &proof);
	struct question less = {problem, "exact",
		.budget = 1 + random_below(random, UINT64_C(1) << random_below(random, 14))};
	expect_bound(failure, &proof, &less, "a small budget");
	less = (struct question){
		problem, "exact", .budget = TICKS, .epsilon = parts[random_below(random, 3)]};
	expect_bound(failure, &proof, &less, "an epsilon");
}

TEST(bounds_and_ends_agree)
{
	each_draw(repeat, draws_seed(84), &plain);
}

static void certify(const struct failure *failure, struct random *random)
{
	struct question question = {failure->problem, "exact", .budget = TICKS};
	struct nest_search search = search_of(&question);
	struct arena *arena = failure->problem->arena;
	struct explored proof = nest_explore(&search, arena);
	struct certificate *certificate = certificate_make(arena, &search, &proof);
	if (!certificate)
		return;
	struct certificate_checking checking = {
		.certificate = certificate, .search = &search, .budget = TICKS};
	struct certificate_result result = certificate_check(&checking, arena);
	tally.proven += result.answer == VERDICT_YES;
	if (result.answer == VERDICT_NO)
		refuted(failure, result.why, &proof, &proof);
}

TEST(certificates_are_found_true)
{
	each_draw(certify, draws_seed(85), &plain);
}
