#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/packing.h"

#include <stdlib.h>

/*
 * The published greedy layout (GreedyLayoutSolver): through time once, each
 * buffer placed when its life begins, never to move.  A child takes the place
 * of the first parent that is still live and large enough; others go to
 * address 0, above everything live, or into the lowest hole, in that order.
 *
 * Published, a parent whose place was taken frees its tail one step before its
 * life ends, and a buffer born in that very step may land there.  Here it
 * keeps its bytes until its end.
 *
 * There is one layout, and no budget cuts it.
 */
struct greedy_moment {
	int64_t time;
	size_t buffer;
};

struct greedy_placer {
	const struct packing *packing;
	struct placement *placement;
	size_t live_count;
	size_t *live;      /* by address, those placed first before others */
	bool *handed_over; /* its place was taken by a child */
};

static int compare_moments(const void *left, const void *right)
{
	const struct greedy_moment *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

static void remove_live(struct greedy_placer *greedy, size_t buffer)
{
	size_t kept = 0;
	for (size_t i = 0; i < greedy->live_count; i++)
		if (greedy->live[i] != buffer)
			greedy->live[kept++] = greedy->live[i];
	greedy->live_count = kept;
}

static bool is_live(const struct greedy_placer *greedy, size_t buffer)
{
	for (size_t i = 0; i < greedy->live_count; i++)
		if (greedy->live[i] == buffer)
			return true;
	return false;
}

static void add_live(struct greedy_placer *greedy, size_t buffer, int64_t address)
{
	const int64_t *addresses = greedy->placement->addresses;
	size_t at = greedy->live_count++;
	for (; at > 0 && addresses[greedy->live[at - 1]] > address; at--)
		greedy->live[at] = greedy->live[at - 1];
	greedy->live[at] = buffer;
	greedy->placement->addresses[buffer] = address;
}

static int64_t take_over(struct greedy_placer *greedy, size_t child)
{
	const struct buffer *buffer = &greedy->packing->buffers[child];
	for (size_t k = 0; k < buffer->parent_count; k++) {
		size_t parent = (size_t)buffer->parents[k];
		int64_t address = greedy->placement->addresses[parent];
		if (!is_live(greedy, parent) || greedy->handed_over[parent] ||
			buffer->size > greedy->packing->buffers[parent].size ||
			address % packing_step(greedy->packing, child) ||
			!packing_free(greedy->packing, greedy->placement, child, address))
			continue;
		greedy->handed_over[parent] = true;
		if (greedy->packing->buffers[parent].end <= buffer->start)
			remove_live(greedy, parent);
		return address;
	}
	return UNPLACED;
}

static int64_t find_block(const struct greedy_placer *greedy, size_t buffer)
{
	const struct packing *packing = greedy->packing;
	int64_t size = packing->buffers[buffer].size;
	const int64_t *addresses = greedy->placement->addresses;
	if (size > packing->capacity)
		return UNPLACED;
	if (!greedy->live_count || addresses[greedy->live[0]] >= size)
		return 0;
	int64_t end = 0, hole = UNPLACED;
	for (size_t i = 0; i < greedy->live_count; i++) {
		int64_t address = addresses[greedy->live[i]];
		int64_t start = packing_up(packing, buffer, end);
		if (i > 0 && hole == UNPLACED && address >= start && address - start >= size)
			hole = start;
		end = number_max(end, address + packing->buffers[greedy->live[i]].size);
	}
	int64_t top = packing_up(packing, buffer, end);
	return top <= packing->capacity - size ? top : hole;
}

/* Time is walked once: it is not known which buffers will need an address later. */
static bool is_free_everywhere(struct run *run, const struct packing *packing)
{
	if (packing->reserved_count)
		run_complain(run, true, -1,
			"greedy does not support reserved ranges; use firstfit or bestfit");
	for (size_t i = 0; i < packing->count; i++)
		if (packing->buffers[i].is_fixed) {
			run_complain(run, true, -1,
				"'%s' has a fixed address, which greedy does not support; use firstfit or bestfit",
				packing->buffers[i].name);
			return false;
		}
	return !packing->reserved_count;
}

static void greedy_run(struct run *run, const struct problem *problem)
{
	const struct packing *packing = problem->packing;
	if (!is_free_everywhere(run, packing) || !packing_whole(run, packing))
		return;
	struct arena *arena = run_arena(run);
	size_t count = packing->count;
	struct greedy_placer greedy = {
		.packing = packing,
		.placement = packing_open(run, packing),
		.live = arena_array(arena, size_t, count),
		.handed_over = arena_array(arena, bool, count),
	};
	struct greedy_moment *starts = arena_array(arena, struct greedy_moment, count);
	struct greedy_moment *ends = arena_array(arena, struct greedy_moment, count);
	for (size_t i = 0; i < count; i++) {
		starts[i] = (struct greedy_moment){packing->buffers[i].start, i};
		ends[i] = (struct greedy_moment){packing->buffers[i].end, i};
	}
	if (count) {
		qsort(starts, count, sizeof *starts, compare_moments);
		qsort(ends, count, sizeof *ends, compare_moments);
	}
	size_t ended = 0;
	for (size_t i = 0; i < count; i++) {
		for (; ended < count && ends[ended].time <= starts[i].time; ended++)
			remove_live(&greedy, ends[ended].buffer);
		if (!run_count(run, 1 + greedy.live_count))
			break;
		size_t buffer = starts[i].buffer;
		int64_t address = take_over(&greedy, buffer);
		if (address == UNPLACED && !packing->buffers[buffer].must_take_over)
			address = find_block(&greedy, buffer);
		if (address != UNPLACED)
			add_live(&greedy, buffer, address);
	}
	packing_offer(run, packing, greedy.placement);
}

const struct solver place_greedy_solver = {
	.stage = STAGE_PLACE,
	.name = "greedy",
	.summary = "through time once: a parent's place, address 0, the top, the lowest hole",
	.purposes = FOR_GRAPHS,
	.run = greedy_run,
};
