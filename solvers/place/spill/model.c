#include "solvers/place/spill/model.h"

#include "base/array.h"
#include "base/number.h"
#include "model/packing/packing_sums.h"
#include "solvers/place/packing.h"
#include "solvers/place/spill/rows.h"

#include <stdlib.h>

struct model_making {
	struct arena *arena;
	struct spill_model *model;
	struct array(struct spill_item) items;
	struct array(struct spill_version) versions;
	struct array(struct spill_pair) pairs;
	int64_t grain;    /* every address is a multiple */
	int *whole;       /* by buffer: the item of its whole life; -1 */
	bool *is_parent;  /* by buffer: of some other */
	bool *hands_over; /* by buffer: another must have a parent, and it is one */
	size_t range_count;
	struct byte_range *reserved; /* by address, apart from each other */
};

/* All addresses are multiples of it. */
static int64_t find_grain(const struct packing *packing)
{
	int64_t grain = packing_common_step(packing);
	for (size_t b = 0; b < packing->count; b++)
		if (packing->buffers[b].is_fixed && packing->buffers[b].address > 0)
			grain = number_gcd(grain, packing->buffers[b].address);
	return grain;
}

static struct spill_item *add_item(
	struct model_making *making, int b, int64_t from, int64_t to, int64_t gain)
{
	const struct buffer *buffer = &making->model->packing->buffers[b];
	struct spill_item *item = array_add(making->arena, &making->items);
	*item = (struct spill_item){.buffer = b,
		.from = from,
		.to = to,
		.size = number_ceil_div(buffer->size, making->grain),
		.gain = gain,
		.version = -1};
	return item;
}

static int64_t weight_of(const struct buffer *buffer, size_t use)
{
	return number_max(use_weight(buffer, &buffer->uses[use]), 0);
}

/* From one use to each read that follows, and what each write made. */
static void add_parts(struct model_making *making, int b)
{
	const struct buffer *buffer = &making->model->packing->buffers[b];
	for (size_t u = 0, next = 0; u < buffer->use_count; u = next) {
		int first = (int)making->items.count;
		for (next = u + 1; next < buffer->use_count && !buffer->uses[next].write; next++)
			add_item(making, b, buffer->uses[next - 1].at, buffer->uses[next].at + 1,
				weight_of(buffer, next));
		int end = (int)making->items.count;
		if (!buffer->uses[u].write || end == first)
			continue;
		for (int i = first; i < end; i++)
			making->items.at[i].version = (int)making->versions.count;
		*array_add(making->arena, &making->versions) =
			(struct spill_version){first, end, weight_of(buffer, u)};
	}
}

/* What all transfers weigh that could be saved: reads after a use, and write backs of what they
 * read.  False if that is too much. */
static bool add_savings(const struct buffer *buffer, int64_t *savings)
{
	*savings = buffer->use_count ? 0 : number_max(buffer->weight, 0);
	for (size_t u = 1; u < buffer->use_count; u++) {
		if (buffer->uses[u].write)
			continue;
		if (!number_add(*savings, weight_of(buffer, u), savings) ||
			(buffer->uses[u - 1].write &&
				!number_add(*savings, weight_of(buffer, u - 1), savings)))
			return false;
	}
	return true;
}

static void add_buffer(struct model_making *making, int b, int64_t savings)
{
	const struct buffer *buffer = &making->model->packing->buffers[b];
	int64_t alone = packing_alone(making->reserved, making->range_count,
		making->model->packing->capacity, buffer->size,
		packing_step(making->model->packing, (size_t)b),
		buffer->is_fixed ? buffer->address : UNPLACED);
	making->whole[b] = -1;
	if (alone == UNPLACED || (!savings && !making->hands_over[b]))
		return;
	making->model->total += savings;
	if (!buffer->use_count || buffer->parent_count || making->is_parent[b]) {
		making->whole[b] = (int)making->items.count;
		struct spill_item *item = add_item(making, b, buffer->start, buffer->end, savings);
		item->whole = true;
		item->tied = buffer->must_take_over;
	}
	int first = (int)making->items.count;
	if (savings && !buffer->must_take_over)
		add_parts(making, b);
	for (int i = first; i < (int)making->items.count && making->whole[b] >= 0; i++) {
		making->items.at[i].rival = making->whole[b];
		making->items.at[i].rival_end = making->whole[b] + 1;
		making->items.at[making->whole[b]].rival = first;
		making->items.at[making->whole[b]].rival_end = i + 1;
	}
}

static bool add_items(struct model_making *making)
{
	struct spill_model *model = making->model;
	const struct packing *packing = model->packing;
	making->whole = arena_array(making->arena, int, packing->count);
	making->hands_over = arena_array(making->arena, bool, packing->count);
	making->is_parent = arena_array(making->arena, bool, packing->count);
	for (size_t b = 0; b < packing->count; b++)
		for (size_t k = 0; k < packing->buffers[b].parent_count; k++) {
			int parent = packing->buffers[b].parents[k];
			making->is_parent[parent] = true;
			making->hands_over[parent] |= packing->buffers[b].must_take_over;
		}
	for (size_t b = 0; b < packing->count; b++) {
		const struct buffer *buffer = &packing->buffers[b];
		int64_t savings;
		if (!add_savings(buffer, &savings) || !number_add(model->all, savings, &model->all))
			return false;
		add_buffer(making, (int)b, savings);
	}
	return true;
}

/* Neighbours of one buffer share the step of the use between them. */
static void join_neighbours(struct model_making *making)
{
	for (size_t i = 1; i < making->items.count; i++) {
		const struct spill_item *before = &making->items.at[i - 1];
		const struct spill_item *after = &making->items.at[i];
		if (before->buffer == after->buffer && !before->whole && after->from < before->to)
			*array_add(making->arena, &making->pairs) =
				(struct spill_pair){(int)i - 1, (int)i, after->size, true, -1};
	}
}

/* A child may lie on a parent. */
static void join_families(struct model_making *making)
{
	const struct packing *packing = making->model->packing;
	for (size_t i = 0; i < making->items.count; i++) {
		struct spill_item *child = &making->items.at[i];
		const struct buffer *buffer = &packing->buffers[child->buffer];
		if (!child->whole)
			continue;
		int *parents = arena_array(making->arena, int, buffer->parent_count);
		child->parents = parents;
		for (size_t k = 0; k < buffer->parent_count; k++) {
			int p = buffer->parents[k], parent = making->whole[p];
			if (parent < 0 ||
				!packing_may_take(packing, (size_t)child->buffer, (size_t)p))
				continue;
			parents[child->parent_count++] = parent;
			*array_add(making->arena, &making->pairs) =
				(struct spill_pair){parent, (int)i, child->size, false, -1};
		}
	}
}

/* Sizes and gains by what they have in common. */
static void scale(struct model_making *making)
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
	for (int v = 0; v < model->version_count; v++)
		gain = number_gcd(gain, making->versions.at[v].gain);
	size = number_max(size, 1);
	model->unit_gain = gain = number_max(gain, 1);
	model->room /= size;
	for (int i = 0; i < model->item_count; i++) {
		model->items[i].size /= size;
		model->items[i].gain /= gain;
	}
	for (int p = 0; p < model->pair_count; p++)
		model->pairs[p].size /= size;
	for (int v = 0; v < model->version_count; v++)
		making->versions.at[v].gain /= gain;
	model->total /= gain;
}

struct spill_model *spill_model_make(
	struct arena *arena, const struct packing *packing, size_t entries_most)
{
	struct spill_model *model = arena_new(arena, struct spill_model);
	struct model_making making = {.arena = arena, .model = model, .grain = find_grain(packing)};
	model->packing = packing;
	making.reserved = packing_reserved(arena, packing, packing->capacity, &making.range_count);
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
