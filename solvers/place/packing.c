#include "solvers/place/packing.h"

#include "base/arena.h"
#include "base/number.h"
#include "model/packing/buffer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct moment {
	int64_t at;
	size_t life;
	bool is_start;
};

/* Ends come before starts. */
static int compare_moments(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->is_start != b->is_start)
		return a->is_start ? 1 : -1;
	return (a->life > b->life) - (a->life < b->life);
}

int sections_find(size_t count, const struct life *lives, struct section_span *stays)
{
	struct arena *arena = arena_open();
	struct moment *moments = arena_array(arena, struct moment, 2 * count);
	for (size_t k = 0; k < count; k++) {
		moments[2 * k] = (struct moment){lives[k].start, k, true};
		moments[2 * k + 1] = (struct moment){lives[k].end, k, false};
	}
	if (count)
		qsort(moments, 2 * count, sizeof *moments, compare_moments);
	bool has_ended = false;
	int section = 0;
	for (size_t m = 0; m < 2 * count; m++) {
		struct section_span *stay = &stays[moments[m].life];
		section += moments[m].is_start && has_ended;
		has_ended = !moments[m].is_start;
		if (moments[m].is_start)
			stay->first = section;
		else
			stay->end = section + 1;
	}
	arena_close(arena);
	return count ? section + 1 : 0;
}

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

static double packing_lost(const struct packing *packing, const struct placement *placement)
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
		return packing_lost(packing, placement);
	default:
		return 0;
	}
}

static bool run_complete(
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

/* Proves the bounds that follow from the packing alone. */
static void prove_simple(
	struct run *run, const struct packing *packing, const struct placement *placement)
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
	if (packing->goal != PACKING_SPILL && !run_complete(run, packing, placement))
		return;
	placement_note(packing, placement);
	struct candidate candidate = {.stage = STAGE_PLACE, .placement = placement};
	run_offer(run, &candidate, packing_value(packing, placement));
	prove_simple(run, packing, placement);
}

static bool has_bytes(const struct buffer *buffer)
{
	return buffer->size > 0 && buffer->start < buffer->end;
}

/* One that lasts a step only is still there with its own parent when a child begins. */
static bool is_passing(const struct buffer *buffer)
{
	return buffer->end == buffer->start + 1;
}

static bool may_take(const struct items *items, const bool *taken, size_t child, int parent)
{
	const struct buffer *buffers = items->packing.buffers;
	const struct buffer *c = &buffers[child], *p = &buffers[parent];
	if (taken[parent] || p->end != c->start + 1 || p->size < c->size || !has_bytes(c) ||
		!has_bytes(p) || (is_passing(p) && items->parents[parent] >= 0) ||
		(is_passing(c) && taken[child]))
		return false;
	return !c->is_fixed || !p->is_fixed || p->address == c->address;
}

static void link_children(struct items *items, bool must, struct arena *arena)
{
	const struct packing *packing = &items->packing;
	struct arena_mark mark = arena_mark(arena);
	bool *taken = arena_array(arena, bool, packing->count);
	for (size_t i = 0; i < packing->count; i++)
		if (items->parents[i] >= 0)
			taken[items->parents[i]] = true;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		if (buffer->must_take_over != must)
			continue;
		for (size_t k = 0; k < buffer->parent_count && items->parents[i] < 0; k++) {
			int parent = buffer->parents[k];
			if (!may_take(items, taken, i, parent))
				continue;
			items->parents[i] = parent;
			taken[parent] = true;
		}
	}
	arena_release(arena, mark);
}

/* In which sections each buffer with bytes lives. */
static struct section_span *items_find_sections(struct items *items, struct arena *arena)
{
	struct section_span *stays = arena_array(arena, struct section_span, items->buffer_count);
	struct arena_mark mark = arena_mark(arena);
	struct life *lives = arena_array(arena, struct life, items->buffer_count);
	struct section_span *found = arena_array(arena, struct section_span, items->buffer_count);
	size_t count = 0;
	for (size_t i = 0; i < items->buffer_count; i++) {
		const struct buffer *buffer = &items->packing.buffers[i];
		if (has_bytes(buffer))
			lives[count++] = (struct life){buffer->start, buffer->end};
	}
	items->section_count = (int)number_max(1, sections_find(count, lives, found));
	for (size_t i = items->buffer_count; i-- > 0;)
		if (has_bytes(&items->packing.buffers[i]))
			stays[i] = found[--count];
	arena_release(arena, mark);
	return stays;
}

/* Raises the step of an item; 0 if no address reaches a multiple. */
static void raise_step(struct item *item, int64_t step)
{
	int64_t both;
	if (number_mul(item->step / number_gcd(item->step, step), step, &both) &&
		both <= PACKING_BYTES_MOST) {
		item->step = both;
	} else {
		item->step = 1;
		item->most = number_min(item->most, 0);
	}
}

/* Adds a buffer to the item, which its parents are in already. */
static void items_extend(
	struct items *items, const struct section_span *stays, struct item *item, size_t buffer)
{
	const struct buffer *b = &items->packing.buffers[buffer];
	const struct packing *packing = &items->packing;
	bool range = buffer >= items->buffer_count;
	struct item_part part = {.size = b->size, .buffer = buffer};
	if (range) {
		part.end = items->section_count;
	} else if (has_bytes(b)) {
		part.first = stays[buffer].first;
		part.end = stays[buffer].end;
	}
	if (item->part_count)
		part.first = items->parts[item->first_part + item->part_count - 1].end;
	items->parts[item->first_part + item->part_count++] = part;
	item->size = number_max(item->size, b->size);
	raise_step(item, packing_step(packing, buffer));
	item->weight += (double)b->weight;
	item->life += range ? 0 : b->end - b->start;
	item->area += range ? 0 : (double)(b->end - b->start) * (double)b->size;
	item->most = number_min(item->most, packing->capacity - b->size);
	if (b->is_fixed) {
		item->least = number_max(item->least, b->address);
		item->most = number_min(item->most, b->address);
		if (b->address % packing_step(packing, buffer))
			item->most = -1;
	}
}

static void make_items(struct items *items, struct arena *arena)
{
	const struct packing *packing = &items->packing;
	struct section_span *stays = items_find_sections(items, arena);
	int *heirs = arena_array(arena, int, packing->count);
	size_t parts = 0;
	items->at = arena_array(arena, struct item, packing->count);
	items->parts = arena_array(arena, struct item_part, packing->count);
	items->of = arena_array(arena, int, packing->count);
	for (size_t i = 0; i < packing->count; i++)
		heirs[i] = items->of[i] = -1;
	for (size_t i = 0; i < packing->count; i++)
		if (items->parents[i] >= 0)
			heirs[items->parents[i]] = (int)i;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		if (items->parents[i] >= 0 || buffer->must_take_over)
			continue;
		struct item *item = &items->at[items->count];
		*item = (struct item){.first_part = parts, .step = 1, .most = INT64_MAX};
		for (int member = (int)i; member >= 0; member = heirs[member]) {
			items_extend(items, stays, item, (size_t)member);
			items->of[member] = (int)items->count;
		}
		parts += item->part_count;
		items->count++;
	}
}

struct items *items_make(const struct packing *packing, struct arena *arena)
{
	struct items *items = arena_new(arena, struct items);
	items->packing = packing_with_reserved(packing, arena);
	items->buffer_count = packing->count;
	if (packing->goal != PACKING_SPILL)
		items->packing.capacity = PACKING_BYTES_MOST;
	items->parents = arena_array(arena, int, items->packing.count);
	for (size_t i = 0; i < items->packing.count; i++) {
		items->parents[i] = -1;
		items->bound_somewhere |= items->packing.buffers[i].is_fixed;
	}
	link_children(items, true, arena);
	link_children(items, false, arena);
	make_items(items, arena);
	return items;
}

bool items_range(const struct items *items, size_t item)
{
	return items->parts[items->at[item].first_part].buffer >= items->buffer_count;
}

bool items_fixed(const struct items *items, size_t item)
{
	const struct item *it = &items->at[item];
	for (size_t k = 0; k < it->part_count; k++)
		if (items->packing.buffers[items->parts[it->first_part + k].buffer].is_fixed)
			return true;
	return false;
}

void items_place(const struct items *items, const int64_t *addresses, struct placement *placement)
{
	for (size_t i = 0; i < items->buffer_count; i++)
		placement->addresses[i] = items->of[i] < 0 ? UNPLACED : addresses[items->of[i]];
}

/* The topmost of a step needs no padding: the most that any buffer's own is, is left out. */
int64_t packing_load(const struct packing *packing, struct arena *arena)
{
	int64_t step = packing_common_step(packing), least = 0, padding = 0;
	struct arena_mark mark = arena_mark(arena);
	struct packing rounded = *packing;
	struct buffer *buffers = arena_array(arena, struct buffer, packing->count);
	for (size_t i = 0; i < packing->count; i++) {
		buffers[i] = packing->buffers[i];
		int64_t size = buffers[i].size;
		int64_t floor = buffers[i].is_fixed ? buffers[i].address : 0;
		buffers[i].size = number_align_up(size, step);
		least = number_max(least, floor + size);
		padding = number_max(padding, buffers[i].size - size);
	}
	rounded.buffers = buffers;
	struct load_curve curve = load_curve(arena, &rounded, NULL);
	int64_t most = curve.most < curve.count ? curve.steps[curve.most].bytes : 0;
	arena_release(arena, mark);
	return number_max(least, most - padding);
}
