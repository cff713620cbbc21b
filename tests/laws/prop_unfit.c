#include "base/arena.h"
#include "base/random.h"
#include "search/drive/solver.h"
#include "search/packing/unfit.h"
#include "tests/support/draws.h"
#include "tests/support/place_instances.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Proofs that buffers do not fit: there is one exactly where the packer finds none to fit, but for
 * the few that take more forks than are allowed; it passes its check, and no change of it or of what
 * it is about does.
 */
enum { FORKS = 20000 };

static const struct unfit_limits limits = {.forks = FORKS};

/* True if a proof was not found for want of forks: all of them are in the part there is.  Seed 1
 * draws one in 10,000 that takes 106,827, nine of eleven buffers being live at once. */
static bool ran_out(const struct unfit_proof *proof)
{
	size_t forks = 0;
	for (size_t n = 0; n < proof->count; n++)
		forks += proof->nodes[n].a >= 0;
	return forks == FORKS;
}

/* Few buffers are soon decided: every other draw has more of them, which often takes a fork. */
static struct packing draw(struct arena *arena, struct random *random)
{
	bool many = draw_chance(random, 2);
	struct tight_options options = {.least = many ? 8 : 3,
		.most = many ? 12 : 9,
		.in_place = true,
		.alignment = true,
		.fixed = !many};
	struct packing packing = tight_draw(arena, random, &options);
	packing.goal = PACKING_FIT;
	return packing;
}

static enum proof_status ask_packer(struct arena *arena, const struct packing *packing)
{
	struct problem problem = {.stage = STAGE_PLACE, .packing = packing};
	return solve(solver_find(STAGE_PLACE, "exact"), &problem, 0, 1, arena).status;
}

BARE_TEST(a_proof_is_found_where_nothing_fits)
{
	uint64_t seed = draws_seed(1);
	long count = draws(1000), never = 0, forks = 0, beyond = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct packing packing = draw(arena, &random);
		struct unfit_proof proof;
		enum proof_status status = ask_packer(arena, &packing);
		bool found = unfit_prove(&packing, &limits, arena, &proof);
		bool cut = !found && status == PROOF_INFEASIBLE && ran_out(&proof);
		beyond += cut;
		if (!cut && found != (status == PROOF_INFEASIBLE))
			fail_msg("draw %ld: the packer says %s, a proof is %s", i,
				status == PROOF_INFEASIBLE ? "no" : "yes",
				found ? "found" : "not found");
		if (found) {
			struct unfit_checked checked = unfit_check(&packing, &proof, &limits);
			if (!checked.decided || checked.why)
				fail_msg("draw %ld, node %zu: %s", i, checked.at,
					checked.why ? checked.why : "not decided");
			never++;
			forks += proof.count > 1;
		}
		arena_close(arena);
	}
	printf("%ld proofs, %ld with forks, %ld with too many\n", never, forks, beyond);
	assert_true(beyond <= count / 5000);
	assert_true(!draws_are_many(count) || (never > count / 20 && forks > count / 200));
}

/* One node other, gone or new. */
static struct unfit_proof spoil(
	struct arena *arena, struct random *random, const struct unfit_proof *proof, int buffers)
{
	struct unfit_proof spoiled = {.count = proof->count};
	struct unfit_node *nodes = arena_array(arena, struct unfit_node, proof->count + 1);
	memcpy(nodes, proof->nodes, proof->count * sizeof *nodes);
	size_t at = random_below(random, proof->count);
	struct unfit_node leaf = {-1, -1};
	struct unfit_node fork = {(int)random_below(random, (uint64_t)buffers),
		(int)random_below(random, (uint64_t)buffers)};
	switch (random_below(random, 3)) {
	case 0:
		nodes[at] = nodes[at].a < 0 ? fork : leaf;
		break;
	case 1:
		memmove(nodes + at, nodes + at + 1, (proof->count - at - 1) * sizeof *nodes);
		spoiled.count--;
		break;
	default:
		memmove(nodes + at + 1, nodes + at, (proof->count - at) * sizeof *nodes);
		nodes[at] = random_below(random, 2) ? leaf : fork;
		spoiled.count++;
	}
	spoiled.nodes = nodes;
	return spoiled;
}

BARE_TEST(a_spoiled_proof_is_none)
{
	uint64_t seed = draws_seed(2);
	long count = draws(1000), spoiled = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct packing packing = draw(arena, &random);
		struct unfit_proof proof;
		if (unfit_prove(&packing, &limits, arena, &proof)) {
			struct unfit_proof other =
				spoil(arena, &random, &proof, (int)packing.count);
			if (!unfit_check(&packing, &other, &limits).why)
				fail_msg("draw %ld: a spoiled proof passes", i);
			spoiled++;
		}
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || spoiled > count / 20);
}

BARE_TEST(what_fits_has_no_proof_whatever_is_written)
{
	uint64_t seed = draws_seed(3);
	long count = draws(500), tried = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct packing packing = draw(arena, &random), wider = packing;
		struct unfit_proof proof;
		wider.capacity = 2 * packing.capacity + 1;
		if (unfit_prove(&packing, &limits, arena, &proof) &&
			ask_packer(arena, &wider) == PROOF_OPTIMAL) {
			assert_non_null(unfit_check(&wider, &proof, &limits).why);
			tried++;
		}
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || tried > count / 50);
}

BARE_TEST(fewer_buffers_are_still_too_many)
{
	uint64_t seed = draws_seed(4);
	long count = draws(300), shrunk = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct packing packing = draw(arena, &random);
		struct unfit_proof proof;
		int buffers[16];
		for (size_t k = 0; k < packing.count; k++)
			buffers[k] = (int)k;
		if (unfit_prove(&packing, &limits, arena, &proof)) {
			size_t left = unfit_shrink(&packing, packing.count, buffers, &limits);
			struct packing some = packing_of_some(arena, &packing, left, buffers);
			assert_int_equal(ask_packer(arena, &some), PROOF_INFEASIBLE);
			for (size_t k = 0; k < left && left > 1; k++) {
				int fewer[16];
				memcpy(fewer, buffers, sizeof fewer);
				fewer[k] = fewer[left - 1];
				some = packing_of_some(arena, &packing, left - 1, fewer);
				assert_int_equal(ask_packer(arena, &some), PROOF_OPTIMAL);
			}
			shrunk += left < packing.count;
		}
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || shrunk > 0);
}

/* Says yes from the ask after `patience` on. */
struct person {
	size_t patience, asked;
};

static bool stop(void *at)
{
	struct person *person = at;
	return person->asked++ >= person->patience;
}

/* A check takes as many forks as the proof has, and asks before each node. */
static void expect_limits(const struct packing *packing, const struct unfit_proof *proof)
{
	size_t forks = 0;
	for (size_t n = 0; n < proof->count; n++)
		forks += proof->nodes[n].a >= 0;
	for (int part = 0; part <= 3; part++) {
		size_t most = forks * (size_t)part / 3;
		struct unfit_limits some = {.forks = most};
		struct unfit_checked checked = unfit_check(packing, proof, &some);
		assert_int_equal(checked.decided, most == forks);
		assert_null(checked.why);
	}
	for (int part = 0; part <= 3; part++) {
		size_t patience = proof->count * (size_t)part / 3;
		struct person person = {.patience = patience};
		struct unfit_limits some = {.forks = forks, .stopper = {&person, stop}};
		struct unfit_checked checked = unfit_check(packing, proof, &some);
		assert_int_equal(checked.decided, patience == proof->count);
		assert_int_equal(person.asked, patience + (patience < proof->count));
	}
}

BARE_TEST(checks_and_proofs_keep_their_limits)
{
	uint64_t seed = draws_seed(5);
	long count = draws(300), stopped = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct packing packing = draw(arena, &random);
		struct unfit_proof proof;
		struct person person = {.patience = (size_t)draw_below(&random, 40)};
		struct unfit_limits some = {.forks = FORKS, .stopper = {&person, stop}};
		if (unfit_prove(&packing, &limits, arena, &proof))
			expect_limits(&packing, &proof);
		bool proven = unfit_prove(&packing, &some, arena, &proof);
		assert_true(person.asked <= person.patience + 1);
		assert_false(proven && person.asked > person.patience);
		stopped += person.asked > person.patience;
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || stopped > count / 50);
}
