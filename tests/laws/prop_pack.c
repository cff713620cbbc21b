/* The exact packer against trying every address, and laws that its answers must keep. */
#include "base/arena.h"
#include "base/random.h"
#include "solvers/place/pack/pack.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

enum { BUFFERS_MOST = 8, CAPACITY_MOST = 16, STEPS_MOST = 8 };

struct drawing {
	struct random random;
	struct arena *arena;
};

static int below(struct drawing *drawing, int bound)
{
	return (int)random_below(&drawing->random, (uint64_t)bound);
}

static int64_t alignment_of(const struct packing *packing, size_t i)
{
	int64_t own = packing->buffers[i].alignment;
	return own ? own : packing->alignment;
}

static bool declares(const struct buffer *child, size_t parent)
{
	for (size_t k = 0; k < child->parent_count; k++)
		if ((size_t)child->parents[k] == parent)
			return true;
	return false;
}

static bool takes(const struct packing *packing, const int64_t *at, size_t c, size_t p)
{
	const struct buffer *child = &packing->buffers[c], *parent = &packing->buffers[p];
	return declares(child, p) && at[c] == at[p] && parent->end == child->start + 1 &&
	       child->size <= parent->size;
}

static bool meet(const struct packing *packing, const int64_t *at, size_t i, size_t j)
{
	const struct buffer *a = &packing->buffers[i], *b = &packing->buffers[j];
	return a->start < b->end && b->start < a->end && a->start < a->end && b->start < b->end &&
	       a->size && b->size && at[i] < at[j] + b->size && at[j] < at[i] + a->size;
}

static bool allowed(const struct packing *packing, const int64_t *at, size_t i)
{
	const struct buffer *buffer = &packing->buffers[i];
	if (at[i] % alignment_of(packing, i) || at[i] + buffer->size > packing->capacity ||
		(buffer->is_fixed && at[i] != buffer->address))
		return false;
	for (size_t r = 0; r < packing->reserved_count; r++)
		if (buffer->size && at[i] < packing->reserved[r].to &&
			packing->reserved[r].from < at[i] + buffer->size)
			return false;
	for (size_t j = 0; j < i; j++)
		if (meet(packing, at, i, j) && !takes(packing, at, i, j) &&
			!takes(packing, at, j, i))
			return false;
	return true;
}

static bool all_taken_over(const struct packing *packing, const int64_t *at)
{
	for (size_t i = 0; i < packing->count; i++) {
		bool has = !packing->buffers[i].must_take_over;
		for (size_t j = 0; j < packing->count && !has; j++)
			has = takes(packing, at, i, j);
		if (!has)
			return false;
	}
	return true;
}

/* Every address of every buffer. */
static bool try_all(const struct packing *packing, int64_t *at, size_t i)
{
	if (i == packing->count)
		return all_taken_over(packing, at);
	for (at[i] = 0; at[i] <= packing->capacity; at[i]++)
		if (allowed(packing, at, i) && try_all(packing, at, i + 1))
			return true;
	return false;
}

static bool ask(struct arena *arena, const struct packing *packing, const int64_t **addresses)
{
	struct problem problem = {.stage = STAGE_PLACE, .packing = packing};
	struct answer answer =
		solve(solver_find(STAGE_PLACE, "exact"), &problem, 10000000, 1, arena);
	assert_int_not_equal(answer.status, PROOF_NONE);
	if (answer.status == PROOF_INFEASIBLE)
		return false;
	assert_int_equal(answer.status, PROOF_OPTIMAL);
	const struct placement *placement = answer.candidates[answer.candidate_count - 1].placement;
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a >= 0)
		fail_msg("buffers %d, %d: %s", fault.a, fault.b, fault.why);
	*addresses = placement->addresses;
	return true;
}

static void draw_parents(struct drawing *drawing, struct packing *packing, struct buffer *buffers)
{
	for (size_t c = 0; c < packing->count; c++) {
		int *parents = arena_array(drawing->arena, int, packing->count);
		for (size_t p = 0; p < packing->count; p++)
			if (p != c && buffers[p].end == buffers[c].start + 1 &&
				buffers[c].size <= buffers[p].size && below(drawing, 2))
				parents[buffers[c].parent_count++] = (int)p;
		buffers[c].parents = parents;
		buffers[c].must_take_over = buffers[c].parent_count && !below(drawing, 4);
	}
}

/* Kinds of rules: 1 alignments, 2 slots taken over, 4 fixed addresses, 8 reserved bytes. */
static struct packing draw_packing(struct drawing *drawing, int kinds)
{
	struct packing packing = {.alignment = kinds & 1 ? 1 + below(drawing, 3) : 1,
		.capacity = 6 + below(drawing, CAPACITY_MOST - 5),
		.count = (size_t)(2 + below(drawing, BUFFERS_MOST - 1)),
		.goal = PACKING_FIT};
	struct buffer *buffers = arena_array(drawing->arena, struct buffer, packing.count);
	int steps = 2 + below(drawing, STEPS_MOST - 1);
	for (size_t i = 0; i < packing.count; i++) {
		struct buffer *buffer = &buffers[i];
		buffer->start = below(drawing, steps);
		buffer->end = buffer->start + 1 + below(drawing, steps - (int)buffer->start);
		if (!below(drawing, 20))
			buffer->end = buffer->start;
		buffer->size = below(drawing, 20) ? 1 + below(drawing, 6) : 0;
		if ((kinds & 1) && !below(drawing, 3))
			buffer->alignment = 1 + below(drawing, 4);
		if ((kinds & 4) && !below(drawing, 4)) {
			buffer->is_fixed = true;
			buffer->address = below(drawing, (int)packing.capacity);
		}
	}
	packing.buffers = buffers;
	if (kinds & 2)
		draw_parents(drawing, &packing, buffers);
	if (kinds & 8) {
		struct byte_range *reserved = arena_array(drawing->arena, struct byte_range, 2);
		packing.reserved_count = (size_t)(1 + below(drawing, 2));
		for (size_t r = 0; r < packing.reserved_count; r++) {
			reserved[r].from = below(drawing, (int)packing.capacity);
			reserved[r].to = reserved[r].from + 1 + below(drawing, 3);
		}
		packing.reserved = reserved;
	}
	return packing;
}

TEST(answers_equal_trying_every_address)
{
	uint64_t seed = draws_seed(1);
	long count = draws(2000), fits = 0;
	for (long n = 0; n < count; n++) {
		struct drawing drawing = {random_open(seed, (uint64_t)n), arena_open()};
		struct packing packing = draw_packing(&drawing, (int)(n % 16));
		const int64_t *addresses = NULL;
		int64_t at[BUFFERS_MOST] = {0};
		bool expected = try_all(&packing, at, 0);
		bool found = ask(drawing.arena, &packing, &addresses);
		if (found != expected)
			fail_msg("draw %ld: %s, but trying every address says %s", n,
				found ? "fits" : "never fits", expected ? "fits" : "never");
		if (found && !all_taken_over(&packing, addresses))
			fail_msg("draw %ld: a child lies on none of its parents", n);
		for (size_t i = 0; found && i < packing.count; i++)
			if (!allowed(&packing, addresses, i))
				fail_msg("draw %ld: buffer %zu may not lie at %lld", n, i,
					(long long)addresses[i]);
		fits += found;
		arena_close(drawing.arena);
	}
	if (draws_are_many(count)) {
		assert_true(fits > count / 10);
		assert_true(count - fits > count / 10);
	}
}

static bool fits(struct arena *arena, const struct packing *packing)
{
	const int64_t *addresses = NULL;
	return ask(arena, packing, &addresses);
}

/* Returns the packing with time reversed; no buffer takes over a slot. */
static struct packing mirrored(struct arena *arena, const struct packing *packing)
{
	struct packing other = *packing;
	struct buffer *buffers =
		arena_copy(arena, packing->buffers, packing->count * sizeof *packing->buffers);
	for (size_t i = 0; i < packing->count; i++) {
		buffers[i].start = STEPS_MOST - packing->buffers[i].end;
		buffers[i].end = STEPS_MOST - packing->buffers[i].start;
	}
	other.buffers = buffers;
	return other;
}

/* Addresses and sizes, all but the alignments of one byte, multiplied. */
static struct packing scaled(struct arena *arena, const struct packing *packing, int64_t times)
{
	struct packing other = *packing;
	struct buffer *buffers =
		arena_copy(arena, packing->buffers, packing->count * sizeof *packing->buffers);
	struct byte_range *reserved = arena_copy(
		arena, packing->reserved, packing->reserved_count * sizeof *packing->reserved);
	other.capacity *= times;
	other.alignment *= times;
	for (size_t i = 0; i < packing->count; i++) {
		buffers[i].size *= times;
		buffers[i].alignment *= times;
		buffers[i].address *= times;
	}
	for (size_t r = 0; r < packing->reserved_count; r++) {
		reserved[r].from *= times;
		reserved[r].to *= times;
	}
	other.buffers = buffers;
	other.reserved = reserved;
	return other;
}

/* The first bytes become reserved, and all lies behind them. */
static struct packing shifted(struct arena *arena, const struct packing *packing, int64_t by)
{
	struct packing other = scaled(arena, packing, 1);
	struct byte_range *reserved =
		arena_array(arena, struct byte_range, packing->reserved_count + 1);
	struct buffer *buffers = (struct buffer *)other.buffers;
	for (size_t i = 0; i < packing->count; i++)
		buffers[i].address += by;
	for (size_t r = 0; r < packing->reserved_count; r++)
		reserved[r] = (struct byte_range){
			packing->reserved[r].from + by, packing->reserved[r].to + by};
	reserved[other.reserved_count++] = (struct byte_range){0, by};
	other.reserved = reserved;
	other.capacity += by;
	return other;
}

TEST(answers_keep_the_laws)
{
	uint64_t seed = draws_seed(2);
	long count = draws(1500), fitting = 0;
	for (long n = 0; n < count; n++) {
		struct drawing drawing = {random_open(seed, (uint64_t)n), arena_open()};
		struct packing packing = draw_packing(&drawing, (int)(n % 16));
		bool answer = fits(drawing.arena, &packing);
		struct packing other = scaled(drawing.arena, &packing, 7);
		if (fits(drawing.arena, &other) != answer)
			fail_msg("draw %ld: seven times as large, another answer", n);
		other = mirrored(drawing.arena, &packing);
		if (!(n & 2) && fits(drawing.arena, &other) != answer)
			fail_msg("draw %ld: backwards in time, another answer", n);
		other = shifted(drawing.arena, &packing, 12);
		if (!(n & 1) && fits(drawing.arena, &other) != answer)
			fail_msg("draw %ld: behind 12 reserved bytes, another answer", n);
		other = packing;
		other.count--;
		if (!(n & 2) && answer && !fits(drawing.arena, &other))
			fail_msg("draw %ld: fits, but not without the last", n);
		other = packing;
		other.capacity += 12;
		if (answer && !fits(drawing.arena, &other))
			fail_msg("draw %ld: fits, but not in 12 bytes more", n);
		fitting += answer;
		arena_close(drawing.arena);
	}
	if (draws_are_many(count))
		assert_true(fitting > count / 10 && count - fitting > count / 10);
}

/* Asks the packer itself; the answer lives in the run's arena. */
static bool varied;
static struct pack_answer pack_answer;

static void run_pack(struct run *run, const struct problem *problem)
{
	struct pack_question question = {.packing = problem->packing,
		.capacity = problem->packing->capacity,
		.varied = varied,
		.explain = true};
	pack_answer = pack(run, &question, run_arena(run));
}

static const struct solver asking = {.stage = STAGE_PLACE, .name = "pack", .run = run_pack};

TEST(starts_that_vary_find_the_same)
{
	uint64_t seed = draws_seed(4);
	long count = draws(1000), fits = 0;
	for (long n = 0; n < count; n++) {
		struct drawing drawing = {random_open(seed, (uint64_t)n), arena_open()};
		struct packing packing = draw_packing(&drawing, (int)(n % 16));
		struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
		int64_t at[BUFFERS_MOST] = {0};
		varied = true;
		solve(&asking, &problem, 0, (uint64_t)n, drawing.arena);
		enum verdict expected = try_all(&packing, at, 0) ? VERDICT_YES : VERDICT_NO;
		if (pack_answer.status != expected)
			fail_msg("draw %ld: %d, but trying every address says %d", n,
				(int)pack_answer.status, (int)expected);
		if (expected == VERDICT_YES)
			assert_int_equal(packing_check(&packing, pack_answer.placement).a, -1);
		fits += expected == VERDICT_YES;
		arena_close(drawing.arena);
	}
	if (draws_are_many(count))
		assert_true(fits > count / 10 && count - fits > count / 10);
}

TEST(cores_do_not_fit_and_are_small)
{
	uint64_t seed = draws_seed(3);
	long count = draws(1500), cores = 0, smaller = 0;
	for (long n = 0; n < count; n++) {
		struct drawing drawing = {random_open(seed, (uint64_t)n), arena_open()};
		struct packing packing = draw_packing(&drawing, (int)(n % 16));
		struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
		varied = n & 1;
		solve(&asking, &problem, 0, 1, drawing.arena);
		struct pack_answer answer = pack_answer;
		if (answer.status == VERDICT_NO && answer.core_count && !(n & 2)) {
			struct buffer buffers[BUFFERS_MOST];
			int64_t at[BUFFERS_MOST] = {0};
			for (size_t i = 0; i < answer.core_count; i++)
				buffers[i] = packing.buffers[answer.core[i]];
			struct packing core = packing;
			core.buffers = buffers;
			core.count = answer.core_count;
			if (try_all(&core, at, 0))
				fail_msg("draw %ld: the core fits", n);
			for (size_t i = 0; i < core.count; i++) {
				buffers[i] = packing.buffers[answer.core[core.count - 1]];
				core.count--;
				if (!try_all(&core, at, 0))
					fail_msg("draw %ld: one of the core is not needed", n);
				core.count++;
				buffers[i] = packing.buffers[answer.core[i]];
			}
			cores++;
			smaller += answer.core_count < packing.count;
		}
		arena_close(drawing.arena);
	}
	if (draws_are_many(count))
		assert_true(cores > count / 10 && smaller > cores / 2);
}

/* The numbers of a state that taking back must restore. */
struct picture {
	size_t trail_count;
	int64_t *level, *low, *floor, *rest, *lowest;
	int *crossing;
};

static struct picture take_picture(struct arena *arena, const struct state *state)
{
	size_t items = (size_t)state->room->item_count * sizeof(int64_t);
	size_t sections = (size_t)state->room->section_count;
	return (struct picture){state->trail_count, arena_copy(arena, state->level, items),
		arena_copy(arena, state->low, items),
		arena_copy(arena, state->floor, sections * sizeof(int64_t)),
		arena_copy(arena, state->rest, sections * sizeof(int64_t)),
		arena_copy(arena, state->lowest, sections * sizeof(int64_t)),
		arena_copy(arena, state->crossing, sections * sizeof(int))};
}

static void take_back(struct state *state, const struct picture *picture)
{
	size_t items = (size_t)state->room->item_count * sizeof(int64_t);
	size_t sections = (size_t)state->room->section_count;
	state_undo(state, picture->trail_count);
	assert_int_equal(state->trail_count, picture->trail_count);
	assert_memory_equal(state->level, picture->level, items);
	assert_memory_equal(state->low, picture->low, items);
	assert_memory_equal(state->floor, picture->floor, sections * sizeof(int64_t));
	assert_memory_equal(state->rest, picture->rest, sections * sizeof(int64_t));
	assert_memory_equal(state->lowest, picture->lowest, sections * sizeof(int64_t));
	assert_memory_equal(state->crossing, picture->crossing, sections * sizeof(int));
}

/* A section of the lowest floor; -1: all is placed. */
static int draw_section(struct drawing *drawing, const struct state *state)
{
	int drawn = -1, ties = 0;
	for (int s = 0; s < state->room->section_count; s++) {
		if (state->floor[s] == PLACED ||
			(drawn >= 0 && state->floor[s] > state->floor[drawn]))
			continue;
		ties = drawn >= 0 && state->floor[s] == state->floor[drawn] ? ties + 1 : 1;
		if (!below(drawing, ties))
			drawn = s;
	}
	return drawn;
}

/* Places an item on the floor of a section, or leaves the floor empty; false if no solution is left. */
static bool change_state(struct drawing *drawing, struct state *state, int s)
{
	const struct room *room = state->room;
	int drawn = -1, choices = 0;
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++)
		if (state_may_stand(state, room->lives[k], state->floor[s]) &&
			!below(drawing, ++choices))
			drawn = room->lives[k];
	assert_int_equal(state_choices(state, s), choices);
	if (state_slack(state, s) > 0 && (drawn < 0 || !below(drawing, 4)))
		return state_leave_empty(state, s);
	return drawn >= 0 && state_place(state, drawn, s);
}

/* Returns how many changes were made. */
static long walk(struct drawing *drawing, const struct room *room)
{
	enum { STEPS = 60 };
	struct state *state = state_open(room, drawing->arena);
	struct picture pictures[STEPS];
	int depth = 0;
	long changes = 0;
	if (!state_start(state))
		return 0;
	for (int n = 0; n < STEPS; n++) {
		int s = draw_section(drawing, state);
		pictures[depth] = take_picture(drawing->arena, state);
		bool good = s >= 0 && change_state(drawing, state, s);
		changes += good;
		depth += good;
		if (good && below(drawing, 8))
			continue;
		depth = below(drawing, good ? depth : depth + 1);
		take_back(state, &pictures[depth]);
	}
	take_back(state, &pictures[0]);
	return changes;
}

/* Random changes of a state and random returns: builds that check assertions check each state on the way. */
TEST(changes_are_taken_back_whole)
{
	uint64_t seed = draws_seed(5);
	long count = draws(3000), changes = 0;
	for (long n = 0; n < count; n++) {
		struct drawing drawing = {random_open(seed, (uint64_t)n), arena_open()};
		struct packing packing = draw_packing(&drawing, (int)(n % 16));
		int takes[BUFFERS_MOST];
		for (size_t i = 0; i < packing.count; i++)
			takes[i] = packing.buffers[i].parent_count ? TAKES_OPEN : TAKES_NOBODYS;
		struct shapes shapes =
			pack_shapes(&packing, NULL, packing.capacity, takes, drawing.arena);
		struct rooms rooms = {0};
		if (shapes.culprit < 0)
			rooms = pack_rooms(&shapes, drawing.arena);
		for (size_t r = 0; r < rooms.count; r++)
			changes += walk(&drawing, &rooms.at[r]);
		arena_close(drawing.arena);
	}
	assert_true(changes > count);
}
