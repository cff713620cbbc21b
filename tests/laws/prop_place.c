#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "tests/support/draws.h"

#include <string.h>

#include "tests/test.h"

/*
 * Random packings: every solver's layout passes the checker, and the checker
 * agrees with a byte map, for the layouts and for what mutations make of them.
 */
enum { CAPACITY_MOST = 2048, TIMES = 16 };

static const char *const solver_names[] = {"greedy", "firstfit", "bestfit", "boxes", "ilp"};
enum { SOLVERS = 5, TICKS = 2000 };

static struct packing draw_packing(struct arena *arena, struct random *random)
{
	static const int64_t alignments[] = {1, 64, 128};
	int64_t alignment = alignments[random_below(random, 3)];
	int64_t capacity = 256 + (int64_t)random_below(random, CAPACITY_MOST - 255);
	size_t count = 1 + random_below(random, 14);
	struct buffer *buffers = arena_array(arena, struct buffer, count);
	for (size_t i = 0; i < count; i++) {
		int64_t start = (int64_t)random_below(random, TIMES - 1);
		int64_t most = number_min(6, TIMES - start);
		buffers[i] = (struct buffer){.name = arena_format(arena, "b%zu", i),
			.size = (int64_t)random_below(random, 8) * 64 +
				(int64_t)random_below(random, 2),
			.start = start,
			.end = start + 1 + (int64_t)random_below(random, (uint64_t)most)};
	}
	for (size_t i = 0; i < count; i++) {
		int *parents = arena_array(arena, int, count);
		for (size_t p = 0; p < i; p++)
			if (buffers[p].end == buffers[i].start + 1 &&
				buffers[p].size >= buffers[i].size && random_below(random, 2))
				parents[buffers[i].parent_count++] = (int)p;
		buffers[i].parents = parents;
	}
	return (struct packing){
		.capacity = capacity, .alignment = alignment, .count = count, .buffers = buffers};
}

static bool hands_over(
	const struct packing *packing, const struct placement *placement, int child, int parent)
{
	const struct buffer *c = &packing->buffers[child], *p = &packing->buffers[parent];
	for (size_t k = 0; k < c->parent_count; k++)
		if (c->parents[k] == parent)
			return placement->addresses[child] == placement->addresses[parent] &&
			       c->size <= p->size && p->end == c->start + 1 &&
			       placement->in_place_of[child] >= 0;
	return false;
}

/* Every byte at every time has one owner, or a pair that hands over. */
static bool byte_map_allows(const struct packing *packing, const struct placement *placement)
{
	for (int64_t time = 0; time <= TIMES; time++) {
		static int owners[2 * CAPACITY_MOST][16];
		static int owner_count[2 * CAPACITY_MOST];
		memset(owner_count, 0, sizeof owner_count);
		for (int i = 0; i < (int)packing->count; i++) {
			const struct buffer *buffer = &packing->buffers[i];
			int64_t address = placement->addresses[i];
			if (address == UNPLACED)
				continue;
			if (address < 0 || address % packing->alignment ||
				address + buffer->size > packing->capacity)
				return false;
			if (time < buffer->start || time >= buffer->end)
				continue;
			for (int64_t b = address; b < address + buffer->size; b++) {
				for (int k = 0; k < owner_count[b]; k++)
					if (!hands_over(packing, placement, i, owners[b][k]) &&
						!hands_over(packing, placement, owners[b][k], i))
						return false;
				owners[b][owner_count[b]++] = i;
			}
		}
	}
	for (int i = 0; i < (int)packing->count; i++)
		if (placement->addresses[i] != UNPLACED && placement->in_place_of[i] >= 0 &&
			!hands_over(packing, placement, i, placement->in_place_of[i]))
			return false;
	return true;
}

static void mutate(
	const struct packing *packing, struct placement *placement, struct random *random)
{
	size_t i = random_below(random, packing->count), j = random_below(random, packing->count);
	switch (random_below(random, 4)) {
	case 0:
		placement->addresses[i] = (int64_t)random_below(random, 16) * packing->alignment;
		break;
	case 1:
		placement->addresses[i] = placement->addresses[j];
		break;
	case 2:
		placement->addresses[i] += placement->addresses[i] == UNPLACED ? 0 : 1;
		break;
	default:
		placement->in_place_of[i] = random_below(random, 2) ? (int)j : -1;
	}
}

BARE_TEST(layouts_are_valid_and_the_checker_agrees_with_a_byte_map)
{
	long count = draws(400);
	uint64_t seed = draws_seed(1);
	long in_place = 0, caught = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct packing packing = draw_packing(arena, &random);
		struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
		for (int s = 0; s < SOLVERS; s++) {
			struct answer answer = solve(solver_find(STAGE_PLACE, solver_names[s]),
				&problem, TICKS, 1, arena);
			assert_int_equal(answer.candidate_count, 1);
			struct placement placement = *answer.candidates[0].placement;
			struct packing_fault fault = packing_check(&packing, &placement);
			if (fault.a >= 0)
				fail_msg("draw %ld, %s: b%d and b%d: %s", draw, solver_names[s],
					fault.a, fault.b, fault.why);
			assert_true(byte_map_allows(&packing, &placement));
			for (size_t i = 0; i < packing.count; i++)
				in_place += placement.in_place_of[i] >= 0;
			mutate(&packing, &placement, &random);
			bool good = packing_check(&packing, &placement).a < 0;
			if (good != byte_map_allows(&packing, &placement))
				fail_msg("draw %ld, %s: the checker says %d of a mutation", draw,
					solver_names[s], good);
			caught += !good;
		}
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || (in_place > count / 4 && caught > count / 2));
}

BARE_TEST(what_fits_side_by_side_is_all_placed)
{
	long count = draws(200);
	uint64_t seed = draws_seed(2);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct buffer buffers[8] = {0};
		int64_t total = 0;
		for (int i = 0; i < 8; i++) {
			int64_t size = 1 + (int64_t)random_below(&random, 500);
			buffers[i] = (struct buffer){.name = "b", .size = size, .end = 1};
			total += number_align_up(size, 128);
		}
		struct packing packing = {
			.capacity = total, .alignment = 128, .count = 8, .buffers = buffers};
		struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
		for (int s = 0; s < SOLVERS; s++) {
			struct answer answer = solve(solver_find(STAGE_PLACE, solver_names[s]),
				&problem, TICKS, 1, arena);
			assert_int_equal((int64_t)answer.values[0], 0);
		}
		arena_close(arena);
	}
}
