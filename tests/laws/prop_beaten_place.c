#include "base/arena.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "tests/support/attacks.h"
#include "tests/support/draws.h"
#include "tests/support/naive_place.h"
#include "tests/support/place_instances.h"
#include "tests/support/spill_instances.h"

#include <string.h>

#include "tests/test.h"

/*
 * An adversary of proofs about placements: buffers of a proven placement move, change places, are evicted and placed
 * again in random order.  No placement that naive_place accepts may have a lower peak or lose less than the proven
 * value, and none may fit where the packer proves that nothing fits.  The packings are too large to try every order.
 *
 * A mutant is a packing of stays: of each buffer its whole life and each part from one use to another, at most one at
 * a time, placed or not.
 */
enum { PACKINGS = 40, MUTANTS = 500, STEPS_MOST = 3, STAYS_MOST = 400, TICKS = 50000 };

struct stay {
	int buffer;
	size_t first, last; /* uses, of a part */
	bool whole;
};

struct attack {
	struct random *random;
	const struct packing *packing;
	struct packing
		stays; /* as buffers, to spill; without a limit unless the goal is to spill */
	const struct stay *of;
	int64_t claimed; /* no placement is below; of an infeasible one the capacity and one byte */
};

struct layout {
	int64_t at[STAYS_MOST];
};

/* --- stays */

static void add_stay(struct attack *attack, struct buffer *buffers, struct stay *of,
	const struct buffer *buffer, struct stay stay)
{
	size_t n = attack->stays.count++;
	buffers[n] = *buffer;
	of[n] = stay;
	if (stay.whole)
		return;
	buffers[n].start = buffer->uses[stay.first].at;
	buffers[n].end = buffer->uses[stay.last].at + 1;
	buffers[n].parent_count = 0;
}

/* Whole lives come first, so that parents keep their numbers. */
static void list_stays(struct attack *attack, struct arena *arena)
{
	const struct packing *packing = attack->packing;
	struct buffer *buffers = arena_array(arena, struct buffer, STAYS_MOST);
	struct stay *of = arena_array(arena, struct stay, STAYS_MOST);
	attack->stays = *packing;
	attack->stays.count = 0;
	attack->stays.goal = PACKING_SPILL;
	attack->stays.buffers = buffers;
	attack->of = of;
	if (packing->goal != PACKING_SPILL)
		attack->stays.capacity = INT64_MAX / 4;
	for (size_t b = 0; b < packing->count; b++)
		add_stay(attack, buffers, of, &packing->buffers[b],
			(struct stay){(int)b, 0, 0, true});
	for (size_t b = 0; b < packing->count && packing->goal == PACKING_SPILL; b++) {
		const struct buffer *buffer = &packing->buffers[b];
		for (size_t u = 0; u + 1 < buffer->use_count && !buffer->must_take_over; u++)
			for (size_t v = u + 1; v < buffer->use_count; v++)
				add_stay(attack, buffers, of, buffer,
					(struct stay){(int)b, u, v, false});
	}
}

/* --- what a layout is worth */

static bool is_placed(const struct layout *layout, size_t n)
{
	return layout->at[n] != UNPLACED;
}

static bool meet_in_time(const struct buffer *a, const struct buffer *b)
{
	return a->start < b->end && b->start < a->end;
}

/* True if a buffer is there twice at a step, or is missing and must not. */
static bool is_torn(const struct attack *attack, const struct layout *layout)
{
	for (size_t n = 0; n < attack->stays.count; n++) {
		if (!is_placed(layout, n)) {
			if (attack->packing->goal != PACKING_SPILL)
				return true;
			continue;
		}
		for (size_t k = 0; k < n; k++)
			if (is_placed(layout, k) && attack->of[k].buffer == attack->of[n].buffer &&
				(attack->of[k].whole || meet_in_time(&attack->stays.buffers[k],
								&attack->stays.buffers[n])))
				return true;
	}
	return false;
}

/* True if a stay of the buffer covers the uses from `first` to `last`. */
static bool is_kept(const struct attack *attack, const struct layout *layout, int buffer,
	size_t first, size_t last)
{
	for (size_t n = 0; n < attack->stays.count; n++) {
		const struct stay *stay = &attack->of[n];
		if (stay->buffer == buffer && is_placed(layout, n) &&
			(stay->whole || (stay->first <= first && last <= stay->last)))
			return true;
	}
	return false;
}

/* The transfers that happen: a read that does not find its bytes, a write that has to be written back. */
static int64_t lost_by_uses(const struct attack *attack, const struct layout *layout, int b)
{
	const struct buffer *buffer = &attack->packing->buffers[b];
	int64_t lost = 0;
	for (size_t u = 0; u < buffer->use_count; u++) {
		const struct use *use = &buffer->uses[u];
		size_t last = u;
		while (use->write && last + 1 < buffer->use_count && !buffer->uses[last + 1].write)
			last++;
		bool can = use->write ? last > u : u > 0;
		if (can && !is_kept(attack, layout, b, use->write ? u : u - 1, last))
			lost += use->weight ? use->weight : buffer->weight;
	}
	return lost;
}

static int64_t worth(const struct attack *attack, const struct layout *layout)
{
	int64_t value = 0;
	for (size_t b = 0; b < attack->packing->count; b++) {
		const struct buffer *buffer = &attack->packing->buffers[b];
		int64_t end = layout->at[b] + buffer->size;
		if (attack->packing->goal != PACKING_SPILL)
			value = end > value ? end : value;
		else if (buffer->use_count)
			value += lost_by_uses(attack, layout, (int)b);
		else
			value += is_placed(layout, b) ? 0 : buffer->weight;
	}
	return value;
}

static bool is_valid(const struct attack *attack, struct layout *layout)
{
	struct placement placement = {.count = attack->stays.count, .addresses = layout->at};
	return !is_torn(attack, layout) && !naive_wrong(&attack->stays, &placement);
}

/* --- changes; a wrong one is refused later */

static int64_t round_up(const struct attack *attack, size_t n, int64_t address)
{
	const struct buffer *buffer = &attack->stays.buffers[n];
	int64_t step = buffer->alignment ? buffer->alignment : attack->stays.alignment;
	return (address + step - 1) / step * step;
}

/* True if nothing that is placed is in the way. */
static bool is_free(
	const struct attack *attack, const struct layout *layout, size_t n, int64_t from)
{
	const struct packing *stays = &attack->stays;
	const struct buffer *a = &stays->buffers[n];
	int64_t to = from + a->size;
	if (to > stays->capacity)
		return false;
	for (size_t r = 0; r < stays->reserved_count; r++)
		if (from < stays->reserved[r].to && stays->reserved[r].from < to)
			return false;
	for (size_t k = 0; k < stays->count; k++) {
		const struct buffer *b = &stays->buffers[k];
		if (k == n || !is_placed(layout, k) || !meet_in_time(a, b))
			continue;
		if (attack->of[k].buffer == attack->of[n].buffer)
			return false;
		bool shares = from < layout->at[k] + b->size && layout->at[k] < to;
		bool takes = from == layout->at[k] &&
			     (packing_may_take(stays, n, k) || packing_may_take(stays, k, n));
		if (shares && !takes)
			return false;
	}
	return true;
}

/* Places a stay at the lowest address that is free, one that must take over in a parent's place; UNPLACED if there is
 * none. */
static void settle(const struct attack *attack, struct layout *layout, size_t n)
{
	const struct packing *stays = &attack->stays;
	bool must = stays->buffers[n].must_take_over;
	int64_t lowest = INT64_MAX;
	layout->at[n] = UNPLACED;
	if (stays->buffers[n].is_fixed) {
		layout->at[n] = stays->buffers[n].address;
		return;
	}
	if (!must && is_free(attack, layout, n, 0))
		lowest = 0;
	for (size_t r = 0; r < stays->reserved_count && !must; r++) {
		int64_t from = round_up(attack, n, stays->reserved[r].to);
		if (from < lowest && is_free(attack, layout, n, from))
			lowest = from;
	}
	for (size_t k = 0; k < stays->count; k++) {
		bool takes = packing_may_take(stays, n, k);
		if (!is_placed(layout, k) || (must && !takes))
			continue;
		int64_t above = takes ? 0 : stays->buffers[k].size;
		int64_t from = round_up(attack, n, layout->at[k] + above);
		if (from < lowest && is_free(attack, layout, n, from))
			lowest = from;
	}
	layout->at[n] = lowest == INT64_MAX ? UNPLACED : lowest;
}

/* All stays in random order, but that fixed ones come first and those that must take over last. */
static size_t draw_order(const struct attack *attack, size_t *order)
{
	size_t count = attack->stays.count, listed = 0, drawn[STAYS_MOST];
	for (size_t i = 0; i < count; i++) {
		size_t j = random_below(attack->random, i + 1);
		drawn[i] = drawn[j];
		drawn[j] = i;
	}
	for (int turn = 0; turn < 3; turn++)
		for (size_t i = 0; i < count; i++) {
			const struct buffer *buffer = &attack->stays.buffers[drawn[i]];
			if (turn == (buffer->is_fixed ? 0 : buffer->must_take_over ? 2 : 1))
				order[listed++] = drawn[i];
		}
	return count;
}

static void move_one(const struct attack *attack, struct layout *layout)
{
	size_t n = random_below(attack->random, attack->stays.count);
	size_t k = random_below(attack->random, attack->stays.count);
	if (!is_placed(layout, n) || !is_placed(layout, k))
		return;
	int64_t above = layout->at[k] + attack->stays.buffers[k].size;
	int64_t below = layout->at[k] - attack->stays.buffers[n].size;
	int64_t to[] = {above, below > 0 ? below : 0, layout->at[k],
		draw_below(attack->random, attack->packing->capacity + 1)};
	layout->at[n] = round_up(attack, n, to[draw_below(attack->random, 4)]);
}

static void swap_two(const struct attack *attack, struct layout *layout)
{
	size_t n = random_below(attack->random, attack->stays.count);
	size_t k = random_below(attack->random, attack->stays.count);
	int64_t kept = layout->at[n];
	layout->at[n] = layout->at[k];
	layout->at[k] = kept;
}

/* Some are taken out and placed again, with those that had no place, in random order. */
static void place_again(const struct attack *attack, struct layout *layout)
{
	size_t order[STAYS_MOST], count = draw_order(attack, order);
	int64_t one_in = 1 + draw_below(attack->random, 8);
	for (size_t n = 0; n < count; n++)
		if (draw_chance(attack->random, one_in))
			layout->at[n] = UNPLACED;
	for (size_t i = 0; i < count; i++)
		if (!is_placed(layout, order[i]))
			settle(attack, layout, order[i]);
}

/* All fall down, in random order. */
static void compact(const struct attack *attack, struct layout *layout)
{
	size_t order[STAYS_MOST], count = draw_order(attack, order);
	for (size_t i = 0; i < count; i++)
		if (is_placed(layout, order[i]))
			settle(attack, layout, order[i]);
}

static void mutate(const struct attack *attack, struct layout *layout)
{
	static void (*const ways[])(const struct attack *, struct layout *) = {
		move_one, swap_two, place_again, place_again, compact};
	for (int64_t n = 1 + draw_below(attack->random, STEPS_MOST); n > 0; n--)
		ways[draw_below(attack->random, sizeof ways / sizeof *ways)](attack, layout);
}

/* Tries mutants of a layout; true if one is better than the claim. */
static bool attack_layout(
	const struct attack *attack, const struct layout *start, struct attack_tally *tally)
{
	struct layout at = *start;
	int64_t value = INT64_MAX;
	bool won = false;
	for (int n = 0; n < MUTANTS; n++) {
		struct layout mutant = draw_chance(attack->random, 4) ? *start : at;
		mutate(attack, &mutant);
		tally->mutants++;
		if (!is_valid(attack, &mutant))
			continue;
		int64_t got = worth(attack, &mutant);
		tally->valid++;
		tally->equal += got == attack->claimed;
		tally->better += got < attack->claimed;
		won |= got < attack->claimed;
		if (got <= value || draw_chance(attack->random, 8)) {
			at = mutant;
			value = got;
		}
	}
	tally->attacked++;
	tally->won += won;
	return won;
}

/* --- claims */

static void draw_uses(struct arena *arena, struct random *random, struct buffer *buffer)
{
	enum { USES_MOST = 4 };
	struct use *uses = arena_array(arena, struct use, USES_MOST);
	for (int64_t at = buffer->start; at < buffer->end && buffer->use_count < USES_MOST; at++)
		if (draw_chance(random, 2))
			uses[buffer->use_count++] = (struct use){.at = at,
				.write = draw_chance(random, 3),
				.weight = draw_chance(random, 4) ? 1 + draw_below(random, 9) : 0};
	buffer->uses = uses;
}

/* Of three kinds: with places to take over, with uses, and larger ones that fit by half. */
static struct packing draw_packing(
	struct arena *arena, struct random *random, enum packing_goal goal)
{
	struct tight_options tight = {.least = 10,
		.most = 24,
		.in_place = true,
		.alignment = true,
		.fixed = draw_chance(random, 2)};
	struct packing packing = tight_draw(arena, random, &tight);
	if (goal == PACKING_SPILL && draw_chance(random, 3))
		packing = spill_random(arena, random_below(random, 1 << 20),
			12 + random_below(random, 18), 30 + (int)random_below(random, 60));
	struct buffer *buffers =
		arena_copy(arena, packing.buffers, packing.count * sizeof *buffers);
	bool uses = draw_chance(random, 2), by_bytes = draw_chance(random, 3);
	for (size_t b = 0; goal == PACKING_SPILL && b < packing.count; b++) {
		buffers[b].weight = by_bytes ? buffers[b].size : 1 + draw_below(random, 40);
		if (uses && draw_chance(random, 2))
			draw_uses(arena, random, &buffers[b]);
	}
	if (goal == PACKING_SPILL)
		packing.capacity = packing.capacity * (4 + draw_below(random, 6)) / 10;
	packing.buffers = buffers;
	packing.goal = goal;
	return packing;
}

/* The stays of an offer; those of none: all without a place. */
static struct layout layout_of(const struct attack *attack, const struct answer *answer)
{
	struct layout layout;
	for (size_t n = 0; n < STAYS_MOST; n++)
		layout.at[n] = UNPLACED;
	if (!answer->candidate_count)
		return layout;
	const struct placement *placement =
		answer->candidates[answer->candidate_count - 1].placement;
	for (size_t n = 0; n < attack->stays.count; n++)
		if (attack->of[n].whole)
			layout.at[n] = placement->addresses[attack->of[n].buffer];
	for (size_t p = 0; p < placement->part_count; p++)
		for (size_t n = 0; n < attack->stays.count; n++)
			if (!attack->of[n].whole &&
				attack->of[n].buffer == placement->parts[p].buffer &&
				attack->stays.buffers[n].start == placement->parts[p].from &&
				attack->stays.buffers[n].end == placement->parts[p].to)
				layout.at[n] = placement->parts[p].address;
	return layout;
}

/* Attacks an answer to one packing; one that is too high from no layout on. */
static bool challenge(
	struct random *random, const struct attacks *attacks, struct attack_tally *tally)
{
	enum packing_goal goal = (enum packing_goal)attacks->goal;
	struct arena *arena = arena_open();
	struct packing packing = draw_packing(arena, random, goal);
	struct attack attack = {.random = random, .packing = &packing};
	struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
	struct answer answer = solve(solver_find(STAGE_PLACE, "exact"), &problem, TICKS, 1, arena);
	list_stays(&attack, arena);
	struct layout layout = layout_of(&attack, &answer);
	bool optimal = answer.status == PROOF_OPTIMAL && goal != PACKING_FIT, won = false;
	tally->drawn++;
	if (answer.status == PROOF_INFEASIBLE || optimal) {
		tally->proven++;
		attack.claimed = packing.capacity + 1;
		if (optimal) {
			attack.claimed = (int64_t)answer.bound;
			assert_true(is_valid(&attack, &layout));
			assert_int_equal(worth(&attack, &layout), attack.claimed);
		}
		if (attacks->worse) {
			attack.claimed += attack.claimed / 4 + 2;
			layout = layout_of(&attack, &(struct answer){0});
		}
		won = attack_layout(&attack, &layout, tally);
	}
	arena_close(arena);
	return won;
}

static void attack_goal(const char *what, enum packing_goal goal, bool worse, uint64_t seed)
{
	attack_all(&(struct attacks){.what = what,
		.by_default = PACKINGS,
		.seed = seed,
		.worse = worse,
		.valid_most = 20,
		.challenge = challenge,
		.goal = (int)goal});
}

TEST(no_placement_beats_a_least_peak)
{
	attack_goal("peak", PACKING_PEAK, false, 35);
}

TEST(nothing_fits_where_it_is_proven)
{
	attack_goal("fit", PACKING_FIT, false, 36);
}

TEST(no_placement_loses_less_than_is_proven)
{
	attack_goal("spill", PACKING_SPILL, false, 37);
}

/* A claim a quarter above the proven value: the same changes refute nearly all of them. */
TEST(worse_claims_are_beaten)
{
	attack_goal("worse spill", PACKING_SPILL, true, 38);
	attack_goal("worse fit", PACKING_FIT, true, 38);
	attack_goal("worse peak", PACKING_PEAK, true, 38);
}
