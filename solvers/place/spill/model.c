#include "solvers/place/spill/spill.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "model/packing/buffer.h"
#include "solvers/place/packing.h"

#include <stdlib.h>
#include <string.h>

/* A largest set of items that are there at once. */
struct section {
	int64_t time; /* when they all are: the last of them begins */
	int64_t load; /* if all are kept */
	int item_count, pair_count;
	bool begins, wanted;
};

struct stay_sweep {
	struct arena *arena;
	struct spill_model *model;
	int section_count;
	struct section *sections;
	struct section_span *stays; /* by item */
};

static void stay_sweep_find_sections(struct stay_sweep *sweep)
{
	const struct spill_model *model = sweep->model;
	struct life *lives = arena_array(sweep->arena, struct life, model->item_count);
	struct section_span *found =
		arena_array(sweep->arena, struct section_span, model->item_count);
	size_t count = 0;
	sweep->stays = arena_array(sweep->arena, struct section_span, model->item_count);
	for (int i = 0; i < model->item_count; i++)
		if (model->items[i].from < model->items[i].to)
			lives[count++] = (struct life){model->items[i].from, model->items[i].to};
	sweep->section_count = sections_find(count, lives, found);
	sweep->sections = arena_array(sweep->arena, struct section, sweep->section_count + 1);
	for (int i = model->item_count; i-- > 0;)
		if (model->items[i].from < model->items[i].to)
			sweep->stays[i] = found[--count];
}

/* The section where a pair is there together, since the second begins in the last step of the first;
 * -1: the second has no step. */
static int section_of(const struct stay_sweep *sweep, const struct spill_pair *pair)
{
	struct section_span stay = sweep->stays[pair->second];
	return stay.first < stay.end ? stay.first : -1;
}

/* Sums the load of each section from the items that begin and end in it. */
static void stay_measure(struct stay_sweep *sweep)
{
	const struct spill_model *model = sweep->model;
	struct section *sections = sweep->sections;
	for (int i = 0; i < model->item_count; i++) {
		struct section *first = &sections[sweep->stays[i].first];
		struct section *end = &sections[sweep->stays[i].end];
		if (first == end)
			continue;
		first->time = first->begins ? number_max(first->time, model->items[i].from)
					    : model->items[i].from;
		first->begins = true;
		first->load += model->items[i].size;
		first->item_count++;
		end->load -= model->items[i].size;
		end->item_count--;
	}
	for (int s = 1; s < sweep->section_count; s++) {
		sections[s].load += sections[s - 1].load;
		sections[s].item_count += sections[s - 1].item_count;
	}
	for (int p = 0; p < model->pair_count; p++) {
		int s = section_of(sweep, &model->pairs[p]);
		if (s < 0)
			continue;
		sections[s].pair_count++;
		sections[s].load -= model->pairs[p].one ? model->pairs[p].size : 0;
	}
}

struct load_of {
	int64_t load;
	int section;
};

static int by_load(const void *a, const void *b)
{
	const struct load_of *x = a, *y = b;
	if (x->load != y->load)
		return x->load < y->load ? 1 : -1;
	return x->section - y->section;
}

/* Keeps the sections that are too large for the room, those with most load first while there is room for their
 * entries; returns how many it keeps. */
static int stay_sweep_limit(struct stay_sweep *sweep, size_t entries_most)
{
	struct section *sections = sweep->sections;
	struct load_of *order = arena_array(sweep->arena, struct load_of, sweep->section_count);
	int count = 0, kept = 0;
	size_t entries = 0;
	for (int s = 0; s < sweep->section_count; s++)
		if (sections[s].load > sweep->model->room)
			order[count++] = (struct load_of){sections[s].load, s};
	qsort(order, (size_t)count, sizeof *order, by_load);
	for (int k = 0; k < count; k++) {
		struct section *section = &sections[order[k].section];
		entries += (size_t)section->item_count;
		section->wanted = entries <= entries_most;
		kept += section->wanted;
	}
	return kept;
}

/* Finds the row of each section, or the next row. */
static struct spill_row *open_rows(struct stay_sweep *sweep, int count, int *row_of)
{
	struct spill_row *rows = arena_array(sweep->arena, struct spill_row, count);
	int next = 0;
	for (int s = 0; s < sweep->section_count; s++) {
		const struct section *section = &sweep->sections[s];
		row_of[s] = next;
		if (section->wanted)
			rows[next++] = (struct spill_row){.time = section->time,
				.items = arena_array(sweep->arena, int, section->item_count),
				.pairs = arena_array(sweep->arena, int, section->pair_count)};
	}
	row_of[sweep->section_count] = next;
	return rows;
}

static void fill_rows(struct stay_sweep *sweep, struct spill_row *rows, const int *row_of)
{
	struct spill_model *model = sweep->model;
	for (int i = 0; i < model->item_count; i++) {
		struct spill_item *item = &model->items[i];
		item->row = row_of[sweep->stays[i].first];
		item->row_end = row_of[sweep->stays[i].end];
		for (int r = item->row; r < item->row_end; r++)
			rows[r].items[rows[r].item_count++] = i;
	}
	for (int p = 0; p < model->pair_count; p++) {
		int s = section_of(sweep, &model->pairs[p]);
		if (s < 0 || !sweep->sections[s].wanted)
			continue;
		struct spill_row *row = &rows[row_of[s]];
		model->pairs[p].row = row_of[s];
		row->pairs[row->pair_count++] = p;
	}
}

/* Each item's pairs. */
static void share_pairs(struct stay_sweep *sweep)
{
	struct spill_model *model = sweep->model;
	for (int round = 0; round < 2; round++) { /* counted, then noted */
		for (int i = 0; i < model->item_count && round; i++) {
			struct spill_item *item = &model->items[i];
			item->pairs = arena_array(sweep->arena, int, item->pair_count);
			item->pair_count = 0;
		}
		for (int p = 0; p < model->pair_count; p++) {
			const struct spill_pair *pair = &model->pairs[p];
			int ends[] = {pair->first, pair->second};
			for (int k = 0; k < 2 && pair->row >= 0; k++) {
				struct spill_item *item = &model->items[ends[k]];
				if (round)
					item->pairs[item->pair_count] = p;
				item->pair_count++;
			}
		}
	}
}

/*
 * A row for each set of items that are there together, if no other such set holds it and it is
 * too much for the room.  Gives items and pairs their rows.
 */
static void spill_rows_make(struct arena *arena, struct spill_model *model, size_t entries_most)
{
	struct stay_sweep sweep = {.arena = arena, .model = model};
	stay_sweep_find_sections(&sweep);
	stay_measure(&sweep);
	model->row_count = stay_sweep_limit(&sweep, entries_most);
	int *row_of = arena_array(arena, int, sweep.section_count + 1);
	struct spill_row *rows = open_rows(&sweep, model->row_count, row_of);
	fill_rows(&sweep, rows, row_of);
	model->rows = rows;
	share_pairs(&sweep);
}

struct spill_set spill_set_make(struct arena *arena, const struct spill_model *model)
{
	struct spill_set set = {.model = model,
		.kept = arena_array(arena, bool, model->item_count),
		.missing = arena_array(arena, int, model->version_count),
		.load = arena_array(arena, int64_t, model->row_count),
		.room = model->room};
	for (int v = 0; v < model->version_count; v++)
		set.missing[v] = model->versions[v].item_end - model->versions[v].item;
	return set;
}

void spill_set_copy(struct spill_set *to, const struct spill_set *from)
{
	const struct spill_model *model = from->model;
	memcpy(to->kept, from->kept, (size_t)model->item_count * sizeof *to->kept);
	memcpy(to->missing, from->missing, (size_t)model->version_count * sizeof *to->missing);
	memcpy(to->load, from->load, (size_t)model->row_count * sizeof *to->load);
	to->gain = from->gain;
}

void spill_set_clear(struct spill_set *set)
{
	for (int i = 0; i < set->model->item_count; i++)
		if (set->kept[i])
			spill_set_turn(set, i);
}

void spill_set_become(struct spill_set *set, const bool *kept)
{
	for (int i = 0; i < set->model->item_count; i++)
		if (set->kept[i] != kept[i])
			spill_set_turn(set, i);
}

int64_t spill_set_change(const struct spill_set *set, int item)
{
	const struct spill_item *it = &set->model->items[item];
	bool kept = set->kept[item];
	int64_t gain = it->gain;
	if (it->version >= 0 && set->missing[it->version] == (kept ? 0 : 1))
		gain += set->model->versions[it->version].gain;
	return kept ? -gain : gain;
}

static int other_end(const struct spill_pair *pair, int item)
{
	return pair->first == item ? pair->second : pair->first;
}

void spill_set_turn(struct spill_set *set, int item)
{
	const struct spill_item *it = &set->model->items[item];
	int sign = set->kept[item] ? -1 : 1;
	set->gain += spill_set_change(set, item);
	for (int r = it->row; r < it->row_end; r++)
		set->load[r] += sign * it->size;
	for (int k = 0; k < it->pair_count; k++) {
		const struct spill_pair *pair = &set->model->pairs[it->pairs[k]];
		if (set->kept[other_end(pair, item)])
			set->load[pair->row] -= sign * pair->size;
	}
	if (it->version >= 0)
		set->missing[it->version] -= sign;
	set->kept[item] = !set->kept[item];
}

static bool has_parent(const struct spill_set *set, const struct spill_item *item)
{
	for (int k = 0; k < item->parent_count; k++)
		if (set->kept[item->parents[k]])
			return true;
	return !item->tied;
}

bool spill_set_has_room(const struct spill_set *set, int item)
{
	const struct spill_model *model = set->model;
	const struct spill_item *it = &model->items[item];
	for (int i = it->rival; i < it->rival_end; i++)
		if (set->kept[i])
			return false;
	if (!has_parent(set, it))
		return false;
	for (int r = it->row; r < it->row_end; r++) {
		int64_t free = set->room - set->load[r];
		if (free >= it->size)
			continue;
		for (int k = 0; k < it->pair_count; k++) {
			const struct spill_pair *pair = &model->pairs[it->pairs[k]];
			if (pair->row == r && set->kept[other_end(pair, item)])
				free += pair->size;
		}
		if (free < it->size)
			return false;
	}
	return true;
}

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

/* Adds the weights of all transfers that could be saved: reads after a use, and
 * write backs of the data that they read. False if the sum is too large. */
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

static void model_making_add_buffer(struct model_making *making, int b, int64_t savings)
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
		model_making_add_buffer(making, (int)b, savings);
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
static void model_making_scale(struct model_making *making)
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
	model_making_scale(&making);
	spill_rows_make(arena, model, entries_most);
	return model;
}

struct residences array(struct spill_residence);

struct spill_asking {
	struct arena *arena;
	const struct spill_model *model;
	const bool *kept;
	struct residences residences;
	int *of_item; /* the residence of each that is asked about; -1 */
};

static struct residences find_residences(
	struct arena *arena, const struct spill_model *model, const bool *kept)
{
	struct residences residences = {0};
	const struct spill_item *items = model->items;
	for (int i = 0; i < model->item_count; i++) {
		if (!kept[i])
			continue;
		bool goes_on = i > 0 && kept[i - 1] && items[i - 1].buffer == items[i].buffer &&
			       !items[i - 1].whole && items[i].from < items[i - 1].to;
		if (!goes_on)
			*array_add(arena, &residences) =
				(struct spill_residence){i, i, items[i].from, items[i].to};
		struct spill_residence *residence = &residences.at[residences.count - 1];
		residence->last = i;
		residence->to = items[i].to;
	}
	return residences;
}

static struct buffer buffer_of(
	const struct spill_asking *asking, const struct spill_residence *residence)
{
	const struct spill_item *first = &asking->model->items[residence->first];
	struct buffer buffer = asking->model->packing->buffers[first->buffer];
	int *parents = arena_array(asking->arena, int, first->parent_count);
	buffer.start = residence->from;
	buffer.end = residence->to;
	buffer.weight = 0;
	for (int i = residence->first; i <= residence->last; i++)
		buffer.weight += asking->model->items[i].gain;
	buffer.use_count = 0;
	buffer.must_take_over = first->tied;
	buffer.parents = parents;
	buffer.parent_count = 0;
	for (int k = 0; k < first->parent_count; k++)
		if (asking->of_item[first->parents[k]] >= 0)
			parents[buffer.parent_count++] = asking->of_item[first->parents[k]];
	return buffer;
}

struct spill_question spill_question_make(
	struct arena *arena, const struct spill_model *model, const bool *kept)
{
	struct spill_asking asking = {.arena = arena,
		.model = model,
		.kept = kept,
		.residences = find_residences(arena, model, kept),
		.of_item = arena_array(arena, int, model->item_count)};
	size_t count = asking.residences.count;
	struct buffer *buffers = arena_array(arena, struct buffer, count);
	for (int i = 0; i < model->item_count; i++)
		asking.of_item[i] = -1;
	for (size_t r = 0; r < count; r++)
		for (int i = asking.residences.at[r].first; i <= asking.residences.at[r].last; i++)
			asking.of_item[i] = (int)r;
	for (size_t r = 0; r < count; r++)
		buffers[r] = buffer_of(&asking, &asking.residences.at[r]);
	struct packing packing = *model->packing;
	packing.buffers = buffers;
	packing.count = count;
	packing.goal = PACKING_FIT;
	return (struct spill_question){model, packing, asking.residences.at};
}

void spill_question_answer(const struct spill_question *question, const struct placement *placement,
	int64_t *addresses)
{
	for (size_t r = 0; r < question->packing.count; r++) {
		const struct spill_residence *residence = &question->residences[r];
		for (int i = residence->first; i <= residence->last; i++)
			addresses[i] = placement->addresses[r];
	}
}

/* The parent whose place an item takes; -1. */
static int parent_at(const struct spill_model *model, const bool *kept, const int64_t *addresses,
	const struct spill_item *item, int64_t address)
{
	for (int k = 0; k < item->parent_count; k++) {
		int parent = item->parents[k];
		if (kept[parent] && addresses[parent] == address)
			return model->items[parent].buffer;
	}
	return -1;
}

struct placement *spill_placement(struct arena *arena, const struct spill_model *model,
	const bool *kept, const int64_t *addresses)
{
	struct residences residences = find_residences(arena, model, kept);
	const struct packing *packing = model->packing;
	struct placement *answer = arena_new(arena, struct placement);
	struct residence_part *parts = arena_array(arena, struct residence_part, residences.count);
	answer->count = packing->count;
	answer->addresses = arena_array(arena, int64_t, packing->count);
	answer->in_place_of = arena_array(arena, int, packing->count);
	answer->parts = parts;
	for (size_t b = 0; b < packing->count; b++) {
		answer->addresses[b] = UNPLACED;
		answer->in_place_of[b] = -1;
	}
	for (size_t r = 0; r < residences.count; r++) {
		const struct spill_residence *residence = &residences.at[r];
		const struct spill_item *first = &model->items[residence->first];
		const struct buffer *buffer = &packing->buffers[first->buffer];
		int64_t address = addresses[residence->first];
		if (residence->from == buffer->start && residence->to == buffer->end)
			answer->addresses[first->buffer] = address;
		else
			parts[answer->part_count++] = (struct residence_part){
				first->buffer, residence->from, residence->to, address};
		int parent = parent_at(model, kept, addresses, first, address);
		if (parent >= 0)
			answer->in_place_of[first->buffer] = parent;
	}
	return answer;
}

static bool is_among(const struct spill_question *question, const int *core, size_t count, int item)
{
	for (size_t k = 0; k < count; k++) {
		const struct spill_residence *residence = &question->residences[core[k]];
		if (residence->first <= item && item <= residence->last)
			return true;
	}
	return false;
}

struct spill_cut spill_question_cut(
	struct arena *arena, const struct spill_question *question, const int *core, size_t count)
{
	struct array(int) items = {0}, parents = {0};
	for (size_t k = 0; k < count; k++) {
		const struct spill_residence *residence = &question->residences[core[k]];
		const struct spill_item *first = &question->model->items[residence->first];
		for (int i = residence->first; i <= residence->last; i++)
			*array_add(arena, &items) = i;
		for (int p = 0; p < first->parent_count && first->tied; p++)
			if (!is_among(question, core, count, first->parents[p]))
				*array_add(arena, &parents) = first->parents[p];
	}
	return (struct spill_cut){(int)items.count, (int)parents.count, items.at, parents.at};
}
