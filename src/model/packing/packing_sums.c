#include "model/packing/packing_sums.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <stdlib.h>

struct curve {
	struct arena *arena;
	struct array(struct load_step) changes; /* bytes more from a step on */
};

static int by_step(const void *left, const void *right)
{
	const struct load_step *a = left, *b = right;
	return (a->from > b->from) - (a->from < b->from);
}

static void add_life(struct curve *curve, int64_t from, int64_t to, int64_t size)
{
	if (from >= to || !size)
		return;
	*array_add(curve->arena, &curve->changes) = (struct load_step){from, size};
	*array_add(curve->arena, &curve->changes) = (struct load_step){to, -size};
}

static bool may_share(const struct packing *packing, size_t i)
{
	const struct buffer *buffer = &packing->buffers[i];
	for (size_t k = 0; k < buffer->parent_count; k++)
		if (packing_may_take(packing, i, (size_t)buffer->parents[k]))
			return true;
	return false;
}

bool packing_counts_at(const struct packing *packing, size_t buffer, int64_t step)
{
	const struct buffer *at = &packing->buffers[buffer];
	return at->start + may_share(packing, buffer) <= step && step < at->end;
}

static void add_lives(
	struct curve *curve, const struct packing *packing, const struct placement *placement)
{
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		if (placement && placement->addresses[i] == UNPLACED)
			continue;
		bool shares = placement ? placement->in_place_of[i] >= 0 : may_share(packing, i);
		add_life(curve, buffer->start + shares, buffer->end, buffer->size);
	}
	for (size_t k = 0; placement && k < placement->part_count; k++) {
		const struct residence_part *part = &placement->parts[k];
		add_life(curve, part->from, part->to, packing->buffers[part->buffer].size);
	}
}

struct load_curve load_curve(
	struct arena *arena, const struct packing *packing, const struct placement *placement)
{
	struct curve curve = {.arena = arena};
	add_lives(&curve, packing, placement);
	struct load_step *steps = curve.changes.at;
	struct load_curve out = {.steps = steps};
	if (curve.changes.count)
		qsort(steps, curve.changes.count, sizeof *steps, by_step);
	int64_t bytes = 0;
	for (size_t i = 0; i < curve.changes.count; i++) {
		bytes += steps[i].bytes;
		if (!out.count || steps[out.count - 1].from != steps[i].from)
			steps[out.count++].from = steps[i].from;
		steps[out.count - 1].bytes = bytes;
	}
	out.most = out.count;
	for (size_t i = 0; i < out.count; i++)
		if (out.most == out.count || steps[i].bytes > steps[out.most].bytes)
			out.most = i;
	return out;
}

static int by_begin(const void *left, const void *right)
{
	const struct byte_range *a = left, *b = right;
	return (a->from > b->from) - (a->from < b->from);
}

struct byte_range *packing_reserved(
	struct arena *arena, const struct packing *packing, int64_t capacity, size_t *count)
{
	struct byte_range *ranges = arena_array(arena, struct byte_range, packing->reserved_count);
	size_t below = 0;
	for (size_t r = 0; r < packing->reserved_count; r++) {
		int64_t from = number_max(packing->reserved[r].from, 0);
		int64_t to = number_min(packing->reserved[r].to, capacity);
		if (from < to)
			ranges[below++] = (struct byte_range){from, to};
	}
	if (below)
		qsort(ranges, below, sizeof *ranges, by_begin);
	*count = 0;
	for (size_t r = 0; r < below; r++)
		if (*count && ranges[r].from <= ranges[*count - 1].to)
			ranges[*count - 1].to = number_max(ranges[*count - 1].to, ranges[r].to);
		else
			ranges[(*count)++] = ranges[r];
	return ranges;
}

int64_t packing_room(struct arena *arena, const struct packing *packing)
{
	size_t count;
	const struct byte_range *ranges =
		packing_reserved(arena, packing, packing->capacity, &count);
	int64_t room = packing->capacity;
	for (size_t r = 0; r < count; r++)
		room -= ranges[r].to - ranges[r].from;
	return room;
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

void placement_note(const struct packing *packing, struct placement *placement)
{
	for (size_t i = 0; i < packing->count; i++)
		placement->in_place_of[i] =
			placement->addresses[i] == UNPLACED
				? -1
				: packing_parent_at(packing, placement, i, placement->addresses[i]);
}

int64_t placement_peak(const struct packing *packing, const struct placement *placement)
{
	int64_t peak = 0;
	for (size_t i = 0; i < packing->count; i++)
		if (placement->addresses[i] != UNPLACED)
			peak = number_max(peak, placement->addresses[i] + packing->buffers[i].size);
	for (size_t k = 0; k < placement->part_count; k++) {
		const struct residence_part *part = &placement->parts[k];
		peak = number_max(peak, part->address + packing->buffers[part->buffer].size);
	}
	return peak;
}

size_t placement_count(const struct placement *placement)
{
	size_t count = 0;
	for (size_t i = 0; i < placement->count; i++)
		count += placement->addresses[i] != UNPLACED;
	for (size_t k = 0; k < placement->part_count; k++)
		count += k == 0 || placement->parts[k].buffer != placement->parts[k - 1].buffer;
	return count;
}

/* The transfers of a buffer that do not happen: all of them, or what these parts find. */
static int64_t sum_found(const struct buffer *buffer, bool all, const struct residence_part *parts,
	size_t part_count)
{
	int64_t found = 0, reads = 0,
		written = 0; /* the weight of the write of the value at hand */
	for (size_t u = 0, part = 0; u < buffer->use_count; u++) {
		const struct use *use = &buffer->uses[u];
		if (use->write) {
			found += reads ? written : 0;
			written = use_weight(buffer, use);
			reads = 0;
			continue;
		}
		while (part < part_count && parts[part].to <= use->at)
			part++;
		bool here =
			u > 0 &&
			(all || (part < part_count && parts[part].from <= buffer->uses[u - 1].at));
		found += here ? use_weight(buffer, use) : 0;
		written = here ? written : 0;
		reads++;
	}
	return found + (reads ? written : 0);
}

static int64_t count_saved(const struct buffer *buffer, bool all,
	const struct residence_part *parts, size_t part_count)
{
	if (!buffer->use_count)
		return all ? buffer->weight : 0;
	return sum_found(buffer, all, parts, part_count);
}

int64_t placement_saved(const struct packing *packing, const struct placement *placement)
{
	int64_t saved = 0;
	size_t part = 0;
	for (size_t i = 0; i < packing->count; i++) {
		size_t first = part;
		while (part < placement->part_count && (size_t)placement->parts[part].buffer == i)
			part++;
		saved += count_saved(&packing->buffers[i], placement->addresses[i] != UNPLACED,
			part > first ? &placement->parts[first] : NULL, part - first);
	}
	return saved;
}

int64_t packing_weights(const struct packing *packing)
{
	int64_t all = 0;
	for (size_t i = 0; i < packing->count; i++)
		all += count_saved(&packing->buffers[i], true, NULL, 0);
	return all;
}
