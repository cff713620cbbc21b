#include "base/arena.h"
#include "search/claim/plan_claim.h"
#include "search/drive/solver.h"
#include "search/graph/plans.h"
#include "search/joint/joint_plan.h"
#include "tests/support/arch_text.h"
#include "tests/support/draws.h"
#include "tests/support/joint_judged.h"
#include "tests/support/workload_text.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * The claims of proven plans of random small graphs hold, as a second program verifies. A claim is
 * rejected once the bound is raised, the value lowered, the price a cheaper one, the space another,
 * or the plan the best of a space that lacks an option.
 */
enum { DRAWS = 24, TICKS = 20000 };

/* A claim that takes more states is checked once, unless the draws are many. */
enum { STATES_AGAIN = 50000 };

static const int cores[] = {1, 2, 4, 8};

struct tally {
	long held, raised, lowered, cheaper, dropped, looser, undecided;
};

static struct plan *build(const struct joint_space *space, const struct joint_answer *answer,
	const struct joint_question *question, struct arena *arena)
{
	struct joint_packing packing = joint_pack(space, answer, NULL, 100000, arena);
	if (packing.status != VERDICT_YES)
		return NULL;
	struct plan *plan = joint_build(space, answer, &packing, arena);
	double value = (double)answer->value / plans_unit(&question->aim);
	plan->proof = (struct proof){.status = PROOF_OPTIMAL,
		.method = "joint/cut_dp",
		.space = joint_claim_text(
			arena, &((const struct joint_graph *)space->graph)->question),
		.value = value,
		.bound = value};
	return plan;
}

static struct plan_claim_question ask(
	const struct joint_question *question, const struct plan *plan, uint64_t budget)
{
	return (struct plan_claim_question){.plan = plan,
		.arch = question->arch,
		.workload = question->workload,
		.planning = question->planning,
		.budget = budget};
}

static struct plan_claim check(const struct joint_question *question, const struct plan *plan,
	uint64_t budget, struct arena *arena)
{
	struct plan_claim_question asked = ask(question, plan, budget);
	return plan_claim_check(&asked, arena);
}

static bool stop_at_once(void *listener)
{
	return true;
}

/* A check that ends before its space is made decides nothing. */
static void stop_check(
	const struct joint_question *question, const struct plan *plan, struct arena *arena)
{
	struct plan_claim_question asked = ask(question, plan, 0);
	asked.stopper.stop = stop_at_once;
	assert_int_equal(plan_claim_check(&asked, arena).answer, VERDICT_OPEN);
}

static const struct joint_answer *best_of(const struct joint_space *space, struct arena *arena)
{
	struct problem problem = {.stage = STAGE_JOINT, .joint = space};
	struct answer answer = solve(solver_for(STAGE_JOINT, FOR_PLANS), &problem, TICKS, 1, arena);
	if (!answer.candidate_count || answer.status != PROOF_OPTIMAL)
		return NULL;
	return answer.candidates[answer.candidate_count - 1].joint;
}

/* The space without an option. */
static const struct joint_space *without(
	const struct joint_space *space, size_t option, struct arena *arena)
{
	struct joint_space *other = arena_copy(arena, space, sizeof *space);
	struct joint_option *options = arena_array(arena, struct joint_option, space->option_count);
	size_t *first = arena_array(arena, size_t, space->op_count + 1);
	other->option_count = 0;
	for (size_t o = 0; o < space->option_count; o++)
		if (o != option)
			options[other->option_count++] = space->options[o];
	for (int op = 0; op <= space->op_count; op++)
		first[op] = space->first_option[op] - (space->first_option[op] > option);
	other->options = options;
	other->first_option = first;
	return other;
}

/* A plan that is the best without one of its options, and says that it is the best of all. */
static void drop_option(const struct joint_question *question, const struct joint_space *space,
	const struct joint_answer *best, struct arena *arena, struct tally *tally)
{
	for (size_t i = 0; i < best->count; i++) {
		if (best->steps[i].kind != JOINT_OPTION)
			continue;
		const struct joint_space *other = without(space, best->steps[i].option, arena);
		const struct joint_answer *worse = best_of(other, arena);
		struct plan *plan = worse ? build(other, worse, question, arena) : NULL;
		if (!plan || worse->value == best->value)
			continue;
		struct plan_claim claim = check(question, plan, 0, arena);
		if (claim.answer != VERDICT_NO)
			fail_msg("a plan of %lld is believed, the best is %lld: %s",
				(long long)worse->value, (long long)best->value,
				claim.why ? claim.why : "");
		tally->dropped++;
		return;
	}
}

static void must(const struct joint_question *question, const struct plan *plan,
	enum verdict expected, struct arena *arena)
{
	struct plan_claim claim = check(question, plan, 0, arena);
	if (claim.answer != expected)
		fail_msg(
			"%s: %s, not as expected", claim.claim, claim.why ? claim.why : "it holds");
}

static void corrupt(const struct joint_question *question, const struct plan *plan,
	struct arena *arena, struct tally *tally)
{
	static const char *const methods[] = {
		"joint/dimflip", "place/exact", "joint/cut", "joint/cut_dp2", "", NULL};
	double step = 1 / plans_unit(&question->aim);
	struct plan other = *plan;
	struct joint_question cheap = *question;
	struct planning planning = *question->planning;
	other.proof.bound += step;
	must(question, &other, VERDICT_NO, arena); /* above the value */
	other.proof.value = other.proof.bound;
	if (!question->aim.energy) {
		must(question, &other, VERDICT_NO, arena); /* a value that is not the plan's */
		tally->raised++;
		other.proof.value = other.proof.bound = plan->proof.value - step;
		must(question, &other, VERDICT_NO, arena);
		tally->lowered++;
	}
	other = *plan;
	other.proof.bound -= step;
	must(question, &other, VERDICT_NO, arena); /* optimal, with a gap */
	other.proof.status = PROOF_BOUND;
	must(question, &other, VERDICT_YES, arena);
	tally->looser++;
	planning.price = planning.price == PRICE_BOUND ? PRICE_ESTIMATE : PRICE_BOUND;
	cheap.planning = &planning;
	cheap.aim.fixed |= KIND_NEVER_FREE;
	other = *plan;
	other.proof.space = joint_claim_text(arena, &cheap);
	struct plan_claim claim = check(question, &other, 0, arena);
	tally->cheaper += claim.answer == VERDICT_NO;
	planning = *question->planning;
	planning.cores++;
	other.proof.space = joint_claim_text(arena, &cheap);
	must(question, &other, VERDICT_NO, arena); /* of another limit of cores */
	planning.cores = question->planning->cores;
	planning.lx_capacity += 128;
	other.proof.space = joint_claim_text(arena, &cheap);
	must(question, &other, VERDICT_NO, arena);
	other = *plan;
	for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
		other.proof.method = methods[m];
		must(question, &other, VERDICT_NO, arena);
	}
	other = *plan;
	other.proof.space =
		"cycles by guess, tiles by price, at most 2 cores, 10 bytes of LX, fixed: nothing";
	must(question, &other, VERDICT_NO, arena);
	other.proof.space = NULL;
	must(question, &other, VERDICT_NO, arena);
}

static void limit(const struct joint_question *question, const struct plan *plan,
	const struct plan_claim *held, struct random *random, struct arena *arena,
	struct tally *tally)
{
	if (held->states < 2)
		return;
	uint64_t budget = 1 + random_below(random, held->states - 1);
	struct plan_claim claim = check(question, plan, budget, arena);
	/* The last states may be reached in the step that leaves nothing to do. */
	assert_true(claim.answer == VERDICT_OPEN ||
		    (claim.answer == VERDICT_YES && claim.states > budget));
	assert_true(claim.bound <= plan->proof.value);
	tally->undecided += claim.answer == VERDICT_OPEN;
}

BARE_TEST(claims_are_checked)
{
	uint64_t seed = draws_seed(5);
	long count = draws(DRAWS);
	struct tally tally = {0};
	count = count < 2000 ? count : 2000;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct joint_question question = joint_question_draw(&random, cores, 3, arena);
		const char *why = NULL;
		const struct joint_space *space = joint_graph_make(&question, arena, &why);
		const struct joint_answer *best = space ? best_of(space, arena) : NULL;
		const struct plan *plan = best ? build(space, best, &question, arena) : NULL;
		if (plan) {
			struct plan_claim claim = check(&question, plan, 0, arena);
			if (claim.answer != VERDICT_YES)
				fail_msg("draw %ld: %s: %s", i, claim.claim, claim.why);
			tally.held++;
			stop_check(&question, plan, arena);
			if (claim.states > STATES_AGAIN && !draws_are_many(count)) {
				arena_close(arena);
				continue;
			}
			corrupt(&question, plan, arena, &tally);
			limit(&question, plan, &claim, &random, arena, &tally);
			drop_option(&question, space, best, arena, &tally);
		}
		arena_close(arena);
	}
	print_message(
		"%ld hold, %ld with a looser bound; rejected: %ld raised, %ld lowered, %ld of a "
		"cheaper price, %ld without an option; %ld undecided within a budget\n",
		tally.held, tally.looser, tally.raised, tally.lowered, tally.cheaper, tally.dropped,
		tally.undecided);
	assert_true(count < DRAWS || (tally.held > count / 2 && tally.cheaper &&
					     tally.dropped > count / 10 && tally.undecided));
}

/* A block of GPT over views, rooms and bundles: what cut_dp proves to be best is so, and one more is refuted, by few
 * states. */
TEST(a_block_is_decided)
{
	enum { BEST = 32395, STATES = 100000 };
	if (draws(DRAWS) < DRAWS)
		skip();
	const struct arch *arch =
		arch_of_file(arena, "specs/arch/spyre32_published.yaml", diag_open(arena));
	struct planning planning = planning_default(arch);
	planning.published_tiles = true;
	planning.price = PRICE_BOUND;
	struct joint_question question = {.arch = planning_arch(arena, arch, &planning),
		.workload = workload_of_file(arena, "specs/workloads/gpt_block.yaml", NULL),
		.planning = &planning,
		.aim = {.cycles = 1,
			.fixed = KIND_FUSION | KIND_FUSED_LOOPS | KIND_RELAY | KIND_OWNERS}};
	const char *why = NULL;
	const struct joint_space *space = joint_graph_make(&question, arena, &why);
	assert_non_null(space);
	for (int more = 0; more <= 1; more++) {
		struct plan_bound_question asked = {
			.space = space, .claim = BEST + more, .budget = STATES};
		struct plan_bound bound = plan_bound_find(&asked, arena);
		assert_int_equal(bound.answer, more ? VERDICT_NO : VERDICT_YES);
		assert_true(!more || bound.witness.value == BEST);
	}
}

/* The text of a space, and back. */
TEST(spaces_have_a_text)
{
	static const char *const wrong[] = {"", "cycles", "cycles by bound",
		"cycles by bound, tiles by price, 5 bytes of LX, fixed: nothing",
		"cycles by bound, tiles by price, at most 0 cores, 5",
		"cycles by bound, tiles by price, at most 2 cores, 5",
		"5 by bound, tiles by price, at most 2 cores, 5 bytes of LX, fixed: nothing",
		"cycles by bound, tiles by price, at most 2 cores, 5 bytes of LX, fixed:",
		"cycles by bound, tiles by price, at most 2 cores, 5 bytes of LX, fixed: love",
		"cycles by bound, tiles by price, at most 2 cores, 5 bytes of LX, fixed: nothing more"};
	static const char *const right[] = {
		"cycles by bound, tiles by price, at most 2 cores, 5 bytes of LX, fixed: nothing",
		"2 cycles + 3 energy + hbm_bytes by estimate, tiles by published, at most 32 cores, 5 bytes of LX, fixed: evict "
		"reload clone few_cores reduction many_loops orders fusion fused_loops relay"};
	struct planning planning = {0};
	struct joint_aim aim;
	const char *why;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_false(joint_claim_read(arena, wrong[i], &aim, &planning, &why));
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		assert_true(joint_claim_read(arena, right[i], &aim, &planning, &why));
		struct joint_question question = {.aim = aim, .planning = &planning};
		assert_string_equal(joint_claim_text(arena, &question), right[i]);
	}
}
