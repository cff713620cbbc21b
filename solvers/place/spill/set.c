#include "solvers/place/spill/set.h"

#include "base/arena.h"

#include <string.h>

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
