#include "solvers/place/packing.h"

#include "base/arena.h"
#include "base/number.h"
#include "model/packing/packing_sums.h"
#include "solvers/place/load.h"

#include <string.h>

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

bool packing_free(
	const struct packing *packing, const struct placement *placement, size_t i, int64_t address)
{
	int64_t end = address + packing->buffers[i].size;
	for (size_t j = 0; j < packing->count; j++) {
		int64_t other = placement->addresses[j];
		if (j == i || other == UNPLACED || !packing_meet(packing, i, j))
			continue;
		if (address < other + packing->buffers[j].size && other < end &&
			(address != other || packing->buffers[j].size < packing->buffers[i].size ||
				!packing_declares(packing, i, j)))
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

bool packing_whole(struct run *run, const struct packing *packing)
{
	for (size_t i = 0; i < packing->count; i++)
		if (packing->goal == PACKING_SPILL && packing->buffers[i].use_count) {
			run_complain(run, true, -1,
				"'%s' has uses, between which it could be spilled; this solver "
				"places buffers for their whole life",
				packing->buffers[i].name);
			return false;
		}
	return true;
}

int64_t packing_step(const struct packing *packing, size_t i)
{
	int64_t own = packing->buffers[i].alignment;
	return own ? own : packing->alignment;
}

int64_t packing_common_step(const struct packing *packing)
{
	int64_t step = 0;
	for (size_t i = 0; i < packing->count; i++)
		step = number_gcd(step, packing_step(packing, i));
	return step ? step : 1;
}

int64_t packing_alone(const struct byte_range *ranges, size_t range_count, int64_t capacity,
	int64_t size, int64_t step, int64_t fixed)
{
	int64_t address = number_max(fixed, 0);
	if (size > capacity || address > capacity - size || address % step)
		return UNPLACED;
	for (size_t r = 0; r < range_count; r++) {
		if (size == 0 || address + size <= ranges[r].from || ranges[r].to <= address)
			continue;
		int64_t up = number_ceil_div(ranges[r].to, step) * step;
		if (fixed >= 0 || up > capacity - size)
			return UNPLACED;
		address = up;
	}
	return address;
}

int64_t packing_up(const struct packing *packing, size_t i, int64_t address)
{
	int64_t up, step = packing_step(packing, i);
	return number_mul(number_ceil_div(address, step), step, &up) ? up : INT64_MAX;
}

struct packing packing_with_reserved(const struct packing *packing, struct arena *arena)
{
	size_t count;
	const struct byte_range *ranges =
		packing_reserved(arena, packing, packing->capacity, &count);
	struct packing all = *packing;
	struct buffer *buffers = arena_array(arena, struct buffer, packing->count + count);
	if (packing->count)
		memcpy(buffers, packing->buffers, packing->count * sizeof *buffers);
	for (size_t r = 0; r < count; r++)
		buffers[all.count++] = (struct buffer){.name = "reserved",
			.size = ranges[r].to - ranges[r].from,
			.start = INT64_MIN,
			.end = INT64_MAX,
			.alignment = 1,
			.is_fixed = true,
			.address = ranges[r].from};
	all.buffers = buffers;
	all.reserved = NULL;
	all.reserved_count = 0;
	return all;
}

bool packing_allows(
	const struct packing *packing, const struct placement *placement, size_t i, int64_t address)
{
	const struct buffer *buffer = &packing->buffers[i];
	return address >= 0 && address % packing_step(packing, i) == 0 &&
	       buffer->size <= packing->capacity && address <= packing->capacity - buffer->size &&
	       (!buffer->is_fixed || address == buffer->address) &&
	       (!buffer->must_take_over || packing_parent_at(packing, placement, i, address) >= 0);
}

static double lost(const struct packing *packing, const struct placement *placement)
{
	double bytes = 0, weight = 0, weights = 0;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		weights += (double)buffer->weight;
		if (placement->addresses[i] != UNPLACED)
			continue;
		bytes += (double)buffer->size;
		weight += (double)buffer->weight;
	}
	return weights > 0 ? weight : bytes;
}

double packing_value(const struct packing *packing, const struct placement *placement)
{
	switch (packing->goal) {
	case PACKING_PEAK:
		return (double)placement_peak(packing, placement);
	case PACKING_SPILL:
		return lost(packing, placement);
	default:
		return 0;
	}
}

static bool complete(
	struct run *run, const struct packing *packing, const struct placement *placement)
{
	size_t left = 0, first = 0;
	for (size_t i = packing->count; i-- > 0;)
		if (placement->addresses[i] == UNPLACED) {
			left++;
			first = i;
		}
	if (left)
		run_complain(run, false, -1,
			"no place found for %zu of %zu buffers, '%s' the first of them: whether all "
			"fit is undecided",
			left, packing->count, packing->buffers[first].name);
	return !left;
}

/* What a packing shows by itself. */
static void prove(struct run *run, const struct packing *packing, const struct placement *placement)
{
	if (packing->goal != PACKING_PEAK) {
		if (packing_value(packing, placement) == 0)
			run_prove(run, PROOF_OPTIMAL, 0);
		return;
	}
	int64_t load = packing_load(packing, run_arena(run));
	bool reached = load == placement_peak(packing, placement);
	run_prove(run, reached ? PROOF_OPTIMAL : PROOF_BOUND, (double)load);
}

void packing_offer(struct run *run, const struct packing *packing, struct placement *placement)
{
	if (packing->goal != PACKING_SPILL && !complete(run, packing, placement))
		return;
	placement_note(packing, placement);
	struct candidate candidate = {.stage = STAGE_PLACE, .placement = placement};
	run_offer(run, &candidate, packing_value(packing, placement));
	prove(run, packing, placement);
}
