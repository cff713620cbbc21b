#include "solvers/place/spill_model.h"

#include "base/array.h"
#include "base/number.h"
#include "solvers/place/spill_rows.h"

#include <stdlib.h>

struct making {
	struct arena *arena;
	struct spill_model *model;
	struct array(struct spill_item) items;
	struct array(struct spill_version) versions;
	struct array(struct spill_pair) pairs;
	int64_t grain;    /* every address is a multiple */
	int *first_item;  /* by buffer; one more */
	bool *hands_over; /* by buffer: it may be the parent that another must have */
	size_t range_count;
	struct byte_range *reserved; /* by address, apart from each other */
};

static int64_t alignment_of(const struct packing *packing, const struct buffer *buffer)
{
	return buffer->alignment ? buffer->alignment : packing->alignment;
}

static int by_address(const void *a, const void *b)
{
	const struct byte_range *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

/* Inside the capacity, those that meet joined. */
static void sort_reserved(struct making *making)
{
	const struct packing *packing = making->model->packing;
	struct byte_range *ranges =
		arena_array(making->arena, struct byte_range, packing->reserved_count + 1);
	size_t count = 0, joined = 0;
	for (size_t i = 0; i < packing->reserved_count; i++) {
		struct byte_range range = {number_max(packing->reserved[i].from, 0),
			number_min(packing->reserved[i].to, packing->capacity)};
		if (range.from < range.to)
			ranges[count++] = range;
	}
	qsort(ranges, count, sizeof *ranges, by_address);
	for (size_t i = 0; i < count; i++) {
		if (joined && ranges[i].from <= ranges[joined - 1].to)
			ranges[joined - 1].to = number_max(ranges[joined - 1].to, ranges[i].to);
		else
			ranges[joined++] = ranges[i];
	}
	making->reserved = ranges;
	making->range_count = joined;
}

static bool fits_between(
	const struct packing *packing, const struct buffer *buffer, int64_t from, int64_t to)
{
	int64_t alignment = alignment_of(packing, buffer), at = buffer->address;
	if (!buffer->is_fixed && !number_add(from, (alignment - from % alignment) % alignment, &at))
		return false;
	return at >= from && at % alignment == 0 && buffer->size <= to && at <= to - buffer->size;
}

/* Is there an address for it, were it alone? */
static bool has_place(const struct making *making, const struct buffer *buffer)
{
	const struct packing *packing = making->model->packing;
	int64_t from = 0;
	for (size_t i = 0; i < making->range_count; i++) {
		if (fits_between(packing, buffer, from, making->reserved[i].from))
			return true;
		from = making->reserved[i].to;
	}
	return fits_between(packing, buffer, from, packing->capacity);
}

/* All addresses are multiples of it. */
static int64_t find_grain(const struct packing *packing)
{
	int64_t grain = 0;
	for (size_t b = 0; b < packing->count; b++) {
		const struct buffer *buffer = &packing->buffers[b];
		grain = number_gcd(grain, alignment_of(packing, buffer));
		if (buffer->is_fixed && buffer->address > 0)
			grain = number_gcd(grain, buffer->address);
	}
	return number_max(grain, 1);
}

static void add_item(struct making *making, int b, int64_t from, int64_t to, int64_t gain)
{
	const struct buffer *buffer = &making->model->packing->buffers[b];
	*array_add(making->arena, &making->items) = (struct spill_item){.buffer = b,
		.from = from,
		.to = to,
		.size = number_ceil_div(buffer->size, making->grain),
		.gain = gain,
		.version = -1,
		.tied = buffer->must_take_over && from == buffer->start};
}

/* What a write made, and its reads that follow. */
static void add_version(struct making *making, int first, int64_t gain)
{
	int end = (int)making->items.count;
	for (int i = first; i < end; i++)
		making->items.at[i].version = (int)making->versions.count;
	*array_add(making->arena, &making->versions) = (struct spill_version){first, end, gain};
}

/* From one use to the next, where that saves something.  False if the weights are too many. */
static bool add_used(struct making *making, int b, bool has_place_alone)
{
	const struct buffer *buffer = &making->model->packing->buffers[b];
	for (size_t u = 0, next = 0; u < buffer->use_count; u = next) {
		int first = (int)making->items.count;
		int64_t weight = number_max(buffer->weight, 0), savings = 0;
		for (next = u + 1; next < buffer->use_count && !buffer->uses[next].write; next++) {
			savings++;
			if (has_place_alone && (weight || making->hands_over[b]))
				add_item(making, b, buffer->uses[next - 1].at,
					buffer->uses[next].at + 1, weight);
		}
		savings += buffer->uses[u].write && savings;
		if (!number_mul(savings, weight, &savings) ||
			!number_add(making->model->all, savings, &making->model->all))
			return false;
		if (buffer->uses[u].write && (int)making->items.count > first && weight)
			add_version(making, first, weight);
		if (next < buffer->use_count && has_place_alone && making->hands_over[b])
			add_item(
				making, b, buffer->uses[next - 1].at, buffer->uses[next].at + 1, 0);
	}
	return true;
}

static bool add_items(struct making *making)
{
	struct spill_model *model = making->model;
	const struct packing *packing = model->packing;
	making->first_item = arena_array(making->arena, int, packing->count + 1);
	making->hands_over = arena_array(making->arena, bool, packing->count);
	for (size_t b = 0; b < packing->count; b++)
		for (size_t k = 0; k < packing->buffers[b].parent_count; k++)
			if (packing->buffers[b].must_take_over)
				making->hands_over[packing->buffers[b].parents[k]] = true;
	for (size_t b = 0; b < packing->count; b++) {
		const struct buffer *buffer = &packing->buffers[b];
		int64_t weight = number_max(buffer->weight, 0);
		bool placeable = has_place(making, buffer);
		making->first_item[b] = (int)making->items.count;
		if (buffer->use_count) {
			if (!add_used(making, (int)b, placeable))
				return false;
			continue;
		}
		if (!number_add(model->all, weight, &model->all))
			return false;
		if (placeable && (weight || making->hands_over[b]))
			add_item(making, (int)b, buffer->start, buffer->end, weight);
	}
	making->first_item[packing->count] = (int)making->items.count;
	return true;
}

/* Neighbours of one buffer share the step of the use between them. */
static void join_neighbours(struct making *making)
{
	for (size_t i = 1; i < making->items.count; i++) {
		const struct spill_item *before = &making->items.at[i - 1];
		const struct spill_item *after = &making->items.at[i];
		if (before->buffer == after->buffer && after->from < before->to)
			*array_add(making->arena, &making->pairs) =
				(struct spill_pair){(int)i - 1, (int)i, after->size, true, -1};
	}
}

/* A child's first item may lie on a parent's last. */
static void join_families(struct making *making)
{
	const struct packing *packing = making->model->packing;
	for (size_t i = 0; i < making->items.count; i++) {
		struct spill_item *child = &making->items.at[i];
		const struct buffer *buffer = &packing->buffers[child->buffer];
		int *parents = arena_array(making->arena, int, buffer->parent_count);
		if (child->from != buffer->start)
			continue;
		child->parents = parents;
		for (size_t k = 0; k < buffer->parent_count; k++) {
			int p = buffer->parents[k], last = making->first_item[p + 1] - 1;
			const struct spill_item *parent = &making->items.at[last];
			if (last < making->first_item[p] || parent->to != packing->buffers[p].end ||
				parent->to != child->from + 1 ||
				packing->buffers[p].size < buffer->size)
				continue;
			parents[child->parent_count++] = last;
			*array_add(making->arena, &making->pairs) =
				(struct spill_pair){last, (int)i, child->size, false, -1};
		}
	}
}

/* Sizes and gains by what they have in common. */
static void scale(struct making *making)
{
	struct spill_model *model = making->model;
	const struct packing *packing = model->packing;
	int64_t size = 0, gain = 0, grain = making->grain;
	model->room = number_ceil_div(packing->capacity, grain);
	for (size_t i = 0; i < making->range_count; i++)
		model->room -= number_ceil_div(making->reserved[i].to, grain) -
			       number_ceil_div(making->reserved[i].from, grain);
	for (int i = 0; i < model->item_count; i++) {
		size = number_gcd(size, model->items[i].size);
		gain = number_gcd(gain, model->items[i].gain);
	}
	size = number_max(size, 1);
	model->unit_gain = gain = number_max(gain, 1);
	model->room /= size;
	for (int i = 0; i < model->item_count; i++) {
		model->items[i].size /= size;
		model->items[i].gain /= gain;
		model->total += model->items[i].gain;
	}
	for (int p = 0; p < model->pair_count; p++)
		model->pairs[p].size /= size;
	for (int v = 0; v < model->version_count; v++) {
		making->versions.at[v].gain /= gain;
		model->total += making->versions.at[v].gain;
	}
}

struct spill_model *spill_model_make(
	struct arena *arena, const struct packing *packing, size_t entries_most)
{
	struct spill_model *model = arena_new(arena, struct spill_model);
	struct making making = {.arena = arena, .model = model, .grain = find_grain(packing)};
	model->packing = packing;
	sort_reserved(&making);
	if (!add_items(&making))
		return NULL;
	join_neighbours(&making);
	join_families(&making);
	model->items = making.items.at;
	model->item_count = (int)making.items.count;
	model->versions = making.versions.at;
	model->version_count = (int)making.versions.count;
	model->pairs = making.pairs.at;
	model->pair_count = (int)making.pairs.count;
	scale(&making);
	spill_rows_make(arena, model, entries_most);
	return model;
}
