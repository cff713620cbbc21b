#include "base/arena.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"

/* The largest buffer lies at address 0, if it may lie anywhere and fits; all others stay out. */
static void run_toy(struct run *run, const struct problem *problem)
{
	const struct packing *packing = problem->packing;
	struct arena *arena = run_arena(run);
	struct placement placement = {.count = packing->count,
		.addresses = arena_array(arena, int64_t, packing->count),
		.in_place_of = arena_array(arena, int, packing->count)};
	size_t largest = 0;
	for (size_t b = 0; b < packing->count; b++) {
		placement.addresses[b] = UNPLACED;
		placement.in_place_of[b] = -1;
		if (packing->buffers[b].size > packing->buffers[largest].size)
			largest = b;
	}
	if (packing->buffers[largest].size <= packing->capacity)
		placement.addresses[largest] = 0;
	struct candidate candidate = {
		.stage = STAGE_PLACE, .placement = arena_copy(arena, &placement, sizeof placement)};
	run_offer(run, &candidate, 0);
}

const struct solver place_toy_solver = {
	.stage = STAGE_PLACE,
	.name = "toy",
	.summary = "the largest buffer at address 0",
	.run = run_toy,
};
