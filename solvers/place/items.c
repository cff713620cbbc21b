#include "solvers/place/items.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/packing.h"
#include "solvers/place/sections.h"

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
static struct stay *find_sections(struct items *items, struct arena *arena)
{
	struct stay *stays = arena_array(arena, struct stay, items->buffer_count);
	struct arena_mark mark = arena_mark(arena);
	struct life *lives = arena_array(arena, struct life, items->buffer_count);
	struct stay *found = arena_array(arena, struct stay, items->buffer_count);
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

/* Where no address reaches a multiple: 0. */
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
static void extend(struct items *items, const struct stay *stays, struct item *item, size_t buffer)
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
	struct stay *stays = find_sections(items, arena);
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
			extend(items, stays, item, (size_t)member);
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
