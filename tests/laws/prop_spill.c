#include "base/arena.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "tests/support/draws.h"
#include "tests/support/spill_instances.h"

#include "tests/test.h"

/*
 * Laws of spilling: a search that is cut short offers valid layouts and a valid bound, equal
 * questions have equal answers, more room loses no more, and two uses at the ends of a life are a
 * life.
 */
static struct answer ask(
	struct arena *arena, const struct packing *packing, uint64_t ticks, uint64_t seed)
{
	struct problem problem = {.stage = STAGE_PLACE, .packing = packing};
	return solve(solver_find(STAGE_PLACE, "exact"), &problem, ticks, seed, arena);
}

static double check(const struct packing *packing, const struct answer *answer)
{
	double before = (double)packing_weights(packing);
	assert_true(answer->candidate_count > 0);
	for (size_t i = 0; i < answer->candidate_count; i++) {
		const struct placement *placement = answer->candidates[i].placement;
		struct packing_fault fault = packing_check(packing, placement);
		if (fault.a >= 0)
			fail_msg("buffers %d and %d: %s", fault.a, fault.b, fault.why);
		int64_t least = packing_weights(packing) - placement_saved(packing, placement);
		assert_true(answer->values[i] == (double)least);
		assert_true(i == 0 || answer->values[i] < before);
		before = answer->values[i];
	}
	assert_true(answer->bound <= before);
	assert_true(answer->status == PROOF_OPTIMAL ? answer->bound == before
						    : answer->status == PROOF_BOUND);
	return before;
}

static struct packing draw_packing(struct arena *arena, uint64_t seed, long draw)
{
	struct packing packing = spill_random(
		arena, seed + (uint64_t)draw, 14 + 3 * (size_t)(draw % 8), draw % 2 ? 50 : 75);
	packing.goal = PACKING_SPILL;
	return packing;
}

BARE_TEST(cut_short_it_tells_no_lies)
{
	long count = draws(24), cut = 0;
	uint64_t seed = draws_seed(1);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct packing packing = draw_packing(arena, seed, draw);
		struct answer whole = ask(arena, &packing, 0, 1);
		double least = check(&packing, &whole);
		assert_int_equal(whole.status, PROOF_OPTIMAL);
		for (uint64_t ticks = 50; ticks < 5000; ticks *= 3) {
			struct answer some = ask(arena, &packing, ticks, 1);
			struct answer same = ask(arena, &packing, ticks, 1);
			double value = check(&packing, &some);
			cut += some.cut;
			assert_true(some.ticks <= ticks && value >= least && some.bound <= least);
			assert_true(check(&packing, &same) == value && same.bound == some.bound);
			assert_int_equal(same.ticks, some.ticks);
		}
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || cut > count / 2);
}

BARE_TEST(more_room_loses_no_more)
{
	long count = draws(16);
	uint64_t seed = draws_seed(2);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct packing packing = draw_packing(arena, seed, draw);
		struct answer answer = ask(arena, &packing, 0, 1);
		double before = check(&packing, &answer);
		packing.capacity += packing.capacity / 8;
		answer = ask(arena, &packing, 0, 1);
		assert_true(check(&packing, &answer) <= before);
		packing.capacity = spill_load(&packing) * 2;
		answer = ask(arena, &packing, 0, 1);
		assert_true(check(&packing, &answer) == 0);
		arena_close(arena);
	}
}

/* Written in the first step, read in the last: the read and the write back, or neither. */
BARE_TEST(two_uses_are_a_life)
{
	long count = draws(16);
	uint64_t seed = draws_seed(3);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct packing packing = draw_packing(arena, seed, draw);
		struct buffer *buffers =
			arena_copy(arena, packing.buffers, packing.count * sizeof *buffers);
		for (size_t b = 0; b < packing.count; b++)
			buffers[b].end += buffers[b].end == buffers[b].start + 1;
		packing.buffers = buffers;
		struct answer lives = ask(arena, &packing, 0, 1);
		double lost = check(&packing, &lives);
		for (size_t b = 0; b < packing.count; b++) {
			struct use *uses = arena_array(arena, struct use, 2);
			uses[0] = (struct use){.at = buffers[b].start, .write = true};
			uses[1] = (struct use){.at = buffers[b].end - 1};
			buffers[b].uses = uses;
			buffers[b].use_count = 2;
		}
		struct answer parts = ask(arena, &packing, 0, 1);
		assert_true(check(&packing, &parts) == 2 * lost);
		arena_close(arena);
	}
}
