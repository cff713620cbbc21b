#include "solvers/place/packing.h"

#include "base/arena.h"

struct placement *packing_open(struct run *run, const struct packing *packing)
{
	struct placement *placement = arena_new(run_arena(run), struct placement);
	placement->count = packing->count;
	placement->addresses = arena_array(run_arena(run), int64_t, packing->count);
	placement->in_place_of = arena_array(run_arena(run), int, packing->count);
	for (size_t i = 0; i < packing->count; i++) {
		placement->addresses[i] = UNPLACED;
		placement->in_place_of[i] = -1;
	}
	return placement;
}

bool packing_meet(const struct packing *packing, size_t i, size_t j)
{
	const struct buffer *a = &packing->buffers[i], *b = &packing->buffers[j];
	return a->start < b->end && b->start < a->end && a->start < a->end && b->start < b->end;
}

int packing_parent_at(
	const struct packing *packing, const struct placement *placement, size_t i, int64_t address)
{
	const struct buffer *child = &packing->buffers[i];
	for (size_t k = 0; k < child->parent_count; k++) {
		int parent = child->parents[k];
		if (placement->addresses[parent] == address &&
			packing->buffers[parent].size >= child->size)
			return parent;
	}
	return -1;
}

static bool is_parent_there(const struct packing *packing, const struct placement *placement,
	size_t i, size_t j, int64_t address)
{
	const struct buffer *child = &packing->buffers[i];
	if (placement->addresses[j] != address || packing->buffers[j].size < child->size)
		return false;
	for (size_t k = 0; k < child->parent_count; k++)
		if ((size_t)child->parents[k] == j)
			return true;
	return false;
}

bool packing_free(
	const struct packing *packing, const struct placement *placement, size_t i, int64_t address)
{
	int64_t end = address + packing->buffers[i].size;
	for (size_t j = 0; j < packing->count; j++) {
		int64_t other = placement->addresses[j];
		if (j == i || other == UNPLACED || !packing_meet(packing, i, j))
			continue;
		if (address < other + packing->buffers[j].size && other < end &&
			!is_parent_there(packing, placement, i, j, address))
			return false;
	}
	return true;
}

bool packing_declared(struct run *run, const struct packing *packing)
{
	bool good = true;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *child = &packing->buffers[i];
		for (size_t k = 0; k < child->parent_count; k++) {
			const struct buffer *parent = &packing->buffers[child->parents[k]];
			if (parent->end != child->start + 1) {
				run_complain(run, true, -1,
					"'%s' cannot take the place of '%s': it starts at %lld, so "
					"its parent must end at %lld, not %lld",
					child->name, parent->name, (long long)child->start,
					(long long)child->start + 1, (long long)parent->end);
				good = false;
			} else if (child->size > parent->size) {
				run_complain(run, true, -1,
					"'%s' cannot take the place of '%s': %lld bytes are more "
					"than %lld",
					child->name, parent->name, (long long)child->size,
					(long long)parent->size);
				good = false;
			}
		}
	}
	return good;
}

void packing_offer(struct run *run, const struct packing *packing, struct placement *placement)
{
	int64_t unplaced = 0;
	for (size_t i = 0; i < packing->count; i++) {
		int64_t address = placement->addresses[i];
		if (address == UNPLACED)
			unplaced += packing->buffers[i].size;
		else
			placement->in_place_of[i] =
				packing_parent_at(packing, placement, i, address);
	}
	struct candidate candidate = {.stage = STAGE_PLACE, .placement = placement};
	run_offer(run, &candidate, (double)unplaced);
}
