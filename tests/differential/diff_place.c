#include "base/arena.h"
#include "search/drive/solver.h"
#include "tests/support/draws.h"
#include "tests/support/naive_place.h"
#include "tests/support/place_instances.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * The exact packer and the integer program against trying every order, and against each other
 * where there are too many: random tight packings with children, alignments, fixed addresses and
 * reserved ranges; does it fit, and what is the least peak.  What the other solvers offer is lawful,
 * and no better than the truth.
 */
enum {
	NODES_MOST = 400000,
	PROGRAM_TICKS = 4000,
	EXACT_TICKS = 50000,
	SOME_TICKS = 3000,
	SPILL_MOST = 7
};

/* Known facts of a packing; UNKNOWN: not decided. */
struct truth {
	enum naive_verdict verdict;
	int64_t peak; /* -1: not known */
};

struct tally {
	long fits, never, unknown, above_load, proven;
};

static struct answer ask(struct arena *arena, const struct packing *packing, const char *solver,
	enum packing_goal goal, uint64_t ticks)
{
	struct packing *question = arena_copy(arena, packing, sizeof *packing);
	question->goal = goal;
	struct problem problem = {.stage = STAGE_PLACE, .packing = question};
	return solve(solver_find(STAGE_PLACE, solver), &problem, ticks, 1, arena);
}

static const struct placement *offered(const struct answer *answer)
{
	return answer->candidate_count ? answer->candidates[answer->candidate_count - 1].placement
				       : NULL;
}

static double value_of(const struct answer *answer)
{
	return answer->values[answer->candidate_count - 1];
}

static int64_t peak_of(const struct packing *packing, const struct placement *placement)
{
	int64_t peak = 0;
	for (size_t i = 0; i < packing->count; i++)
		if (placement->addresses[i] + packing->buffers[i].size > peak)
			peak = placement->addresses[i] + packing->buffers[i].size;
	return peak;
}

/* NULL, or what is wrong with an answer; `must` prove. */
static const char *judge(struct arena *arena, const struct packing *packing, enum packing_goal goal,
	struct truth truth, const struct answer *answer, bool must)
{
	struct packing *question = arena_copy(arena, packing, sizeof *packing);
	question->goal = goal;
	const struct placement *placement = offered(answer);
	bool infeasible = answer->status == PROOF_INFEASIBLE;
	if (placement && naive_wrong(question, placement))
		return naive_wrong(question, placement);
	if (placement && packing_check(question, placement).a >= 0)
		return "the checker refuses it";
	if (placement && infeasible)
		return "an offer, and none exists";
	if (placement && truth.verdict == NAIVE_NEVER)
		return "an offer where none exists";
	if (infeasible && truth.verdict == NAIVE_FITS)
		return "it fits, and is called infeasible";
	if (goal == PACKING_PEAK && placement) {
		double peak = (double)peak_of(packing, placement);
		if (value_of(answer) != peak)
			return "the value is not the peak";
		if (answer->status == PROOF_OPTIMAL && answer->bound != peak)
			return "optimal, with another bound";
		if (truth.peak >= 0 && peak < (double)truth.peak)
			return "better than the least peak";
		if (truth.peak >= 0 && answer->bound > (double)truth.peak)
			return "the bound is above the least peak";
		if (must && truth.peak >= 0 && peak > (double)truth.peak)
			return "not the least peak";
	}
	if (must && (placement ? answer->status != PROOF_OPTIMAL : !infeasible))
		return "undecided";
	return NULL;
}

static struct truth naive_truth(const struct packing *packing)
{
	struct naive_answer naive = naive_place(packing, NULL, false, NODES_MOST);
	return (struct truth){naive.verdict, naive.verdict == NAIVE_FITS ? naive.peak : -1};
}

/* Returns the claim of an answer. */
static struct truth truth_of(const struct answer *answer, enum packing_goal goal)
{
	if (answer->status == PROOF_INFEASIBLE)
		return (struct truth){NAIVE_NEVER, -1};
	if (!answer->candidate_count)
		return (struct truth){NAIVE_UNKNOWN, -1};
	bool optimal = goal == PACKING_PEAK && answer->status == PROOF_OPTIMAL;
	return (struct truth){NAIVE_FITS, optimal ? (int64_t)value_of(answer) : -1};
}

static void refuse(
	const struct packing *packing, const char *solver, const char *where, const char *wrong)
{
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *b = &packing->buffers[i];
		printf("%s: %" PRId64 " bytes in [%" PRId64 ", %" PRId64 "), alignment %" PRId64,
			b->name, b->size, b->start, b->end, b->alignment);
		for (size_t k = 0; k < b->parent_count; k++)
			printf(", %s b%d", b->must_take_over ? "must take" : "may take",
				b->parents[k]);
		if (b->is_fixed)
			printf(", at %" PRId64, b->address);
		printf("\n");
	}
	for (size_t k = 0; k < packing->reserved_count; k++)
		printf("reserved [%" PRId64 ", %" PRId64 ")\n", packing->reserved[k].from,
			packing->reserved[k].to);
	fail_msg("%s, capacity %" PRId64 ", alignment %" PRId64 ", %s: %s", where,
		packing->capacity, packing->alignment, solver, wrong);
}

static void compare(struct arena *arena, const struct packing *packing, const char *where,
	struct truth truth, const char *solver, uint64_t ticks, bool must)
{
	for (int goal = PACKING_FIT; goal <= PACKING_PEAK; goal++) {
		struct answer answer = ask(arena, packing, solver, (enum packing_goal)goal, ticks);
		const char *wrong =
			judge(arena, packing, (enum packing_goal)goal, truth, &answer, must);
		if (wrong)
			refuse(packing, solver, where, wrong);
	}
}

static void count_truth(struct tally *tally, struct truth truth)
{
	tally->fits += truth.verdict == NAIVE_FITS;
	tally->never += truth.verdict == NAIVE_NEVER;
	tally->unknown += truth.verdict == NAIVE_UNKNOWN;
}

static const struct tight_options small = {
	.least = 2, .most = 9, .in_place = true, .alignment = true, .fixed = true};
static const struct tight_options larger = {
	.least = 10, .most = 30, .in_place = true, .alignment = true, .fixed = true};

BARE_TEST(answers_are_those_of_every_order)
{
	long count = draws(100);
	uint64_t seed = draws_seed(101);
	struct tally tally = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct packing packing = tight_draw(arena, &random, &small);
		struct truth truth = naive_truth(&packing);
		const char *where = arena_format(arena, "seed %" PRIu64 " draw %ld", seed, draw);
		count_truth(&tally, truth);
		compare(arena, &packing, where, truth, "exact", 0, true);
		compare(arena, &packing, where, truth, "ilp", 0, true);
		arena_close(arena);
	}
	printf("%ld fit, %ld do not, %ld are not known\n", tally.fits, tally.never, tally.unknown);
	assert_true(!draws_are_many(count) ||
		    (tally.fits > count / 4 && tally.never > count / 4 && !tally.unknown));
}

/* One judged by the other, both ways. */
static void compare_two(struct arena *arena, const struct packing *packing, const char *where,
	enum packing_goal goal, struct tally *tally)
{
	struct truth nothing = {NAIVE_UNKNOWN, -1};
	struct answer exact = ask(arena, packing, "exact", goal, EXACT_TICKS);
	struct answer ilp = ask(arena, packing, "ilp", goal, PROGRAM_TICKS);
	const char *wrong = judge(arena, packing, goal, nothing, &exact, false);
	if (!wrong)
		wrong = judge(arena, packing, goal, truth_of(&ilp, goal), &exact, false);
	if (wrong)
		refuse(packing, "exact", where, wrong);
	wrong = judge(arena, packing, goal, truth_of(&exact, goal), &ilp, false);
	if (wrong)
		refuse(packing, "ilp", where, wrong);
	count_truth(tally, truth_of(&exact, goal));
	tally->proven += ilp.status == PROOF_OPTIMAL || ilp.status == PROOF_INFEASIBLE;
}

BARE_TEST(answers_are_those_of_the_integer_program)
{
	long count = draws(50);
	uint64_t seed = draws_seed(102);
	struct tally tally = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct packing packing = tight_draw(arena, &random, &larger);
		const char *where = arena_format(arena, "seed %" PRIu64 " draw %ld", seed, draw);
		compare_two(arena, &packing, where, PACKING_FIT, &tally);
		compare_two(arena, &packing, where, PACKING_PEAK, &tally);
		arena_close(arena);
	}
	printf("%ld questions: exact finds %ld, refutes %ld, leaves %ld; the program proves %ld\n",
		2 * count, tally.fits, tally.never, tally.unknown, tally.proven);
	assert_true(!draws_are_many(count) ||
		    (tally.fits > count / 2 && tally.never > count / 4 && tally.proven > count &&
			    tally.unknown < count / 5));
}

BARE_TEST(what_the_program_spills_is_least)
{
	long count = draws(50);
	uint64_t seed = draws_seed(103);
	struct tight_options options = small;
	options.most = SPILL_MOST;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct packing packing = tight_draw(arena, &random, &options);
		struct buffer *buffers =
			arena_copy(arena, packing.buffers, packing.count * sizeof *packing.buffers);
		for (size_t i = 0; i < packing.count && draw % 2; i++)
			buffers[i].weight = (int64_t)random_below(&random, 20);
		packing.buffers = buffers;
		packing.capacity = 1 + packing.capacity * (2 + draw % 3) / 4;
		packing.goal = PACKING_SPILL;
		struct answer ilp = ask(arena, &packing, "ilp", PACKING_SPILL, 0);
		const char *where = arena_format(arena, "seed %" PRIu64 " draw %ld", seed, draw);
		int64_t least = naive_spill(&packing, NODES_MOST);
		if (ilp.status != PROOF_OPTIMAL || naive_wrong(&packing, offered(&ilp)) ||
			value_of(&ilp) != (double)least || ilp.bound != (double)least)
			refuse(&packing, "ilp", where,
				arena_format(arena, "loses %g, bound %g, of at least %" PRId64,
					value_of(&ilp), ilp.bound, least));
		arena_close(arena);
	}
}

BARE_TEST(what_heuristics_offer_is_lawful_and_no_better)
{
	static const char *const names[] = {"greedy", "firstfit", "bestfit", "boxes"};
	long count = draws(100), fits = 0, best[4] = {0};
	uint64_t seed = draws_seed(105);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct packing packing = tight_draw(arena, &random, &small);
		struct truth truth = naive_truth(&packing);
		const char *where = arena_format(arena, "seed %" PRIu64 " draw %ld", seed, draw);
		fits += truth.verdict == NAIVE_FITS;
		for (int s = 0; s < 4; s++) {
			compare(arena, &packing, where, truth, names[s], SOME_TICKS, false);
			struct answer peak =
				ask(arena, &packing, names[s], PACKING_PEAK, SOME_TICKS);
			best[s] += peak.candidate_count && value_of(&peak) == (double)truth.peak;
			struct answer spill =
				ask(arena, &packing, names[s], PACKING_SPILL, SOME_TICKS);
			const char *wrong = judge(arena, &packing, PACKING_SPILL,
				(struct truth){NAIVE_UNKNOWN, -1}, &spill, false);
			if (wrong)
				refuse(&packing, names[s], where, wrong);
		}
		arena_close(arena);
	}
	printf("%ld fit; at the least peak:", fits);
	for (int s = 0; s < 4; s++)
		printf(" %s %ld", names[s], best[s]);
	printf("\n");
	assert_true(!draws_are_many(count) || best[3] > fits * 7 / 10);
}

/* A packer that forgets one thing that was asked: its answers must not pass. */
static void forget(struct arena *arena, struct packing *packing, struct random *random, int what)
{
	struct buffer *buffers =
		arena_copy(arena, packing->buffers, packing->count * sizeof *packing->buffers);
	packing->buffers = buffers;
	for (size_t i = 0; i < packing->count; i++) {
		if (what == 0 && buffers[i].end > buffers[i].start + 1 && !random_below(random, 3))
			buffers[i].end--;
		else if (what == 1)
			buffers[i].alignment = 0;
		else if (what == 2)
			buffers[i].must_take_over = false;
		else if (what == 3)
			buffers[i].is_fixed = false;
		else if (what == 4)
			buffers[i].parent_count = 0;
		else if (what == 5)
			packing->reserved_count = 0;
	}
}

BARE_TEST(a_packer_that_forgets_is_noticed)
{
	static const char *const words[] = {"last steps", "alignments", "forced take-overs",
		"fixed addresses", "parents", "reserved ranges"};
	long count = draws(100);
	uint64_t seed = draws_seed(104);
	for (int what = 0; what < 6; what++) {
		long noticed = 0;
		for (long draw = 0; draw < count; draw++) {
			struct arena *arena = arena_open();
			struct random random = random_open(seed, (uint64_t)draw);
			struct packing packing = tight_draw(arena, &random, &small);
			struct truth truth = naive_truth(&packing);
			struct packing other = packing;
			forget(arena, &other, &random, what);
			struct answer answer = ask(arena, &other, "exact", PACKING_FIT, 0);
			noticed +=
				judge(arena, &packing, PACKING_FIT, truth, &answer, true) != NULL;
			arena_close(arena);
		}
		printf("%s forgotten: noticed in %ld of %ld\n", words[what], noticed, count);
		assert_true(!draws_are_many(count) || noticed > 0);
	}
}
