#include "solvers/menu/layer.h"

static uint64_t hash_state(const int *state, size_t width, uint64_t nogoods)
{
	uint64_t hash = nogoods * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t s = 0; s < width; s++)
		hash = (hash ^ (uint64_t)(state[s] + 2)) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 29;
}

static bool is_state(
	const struct menu_layer *layer, size_t label, const int *state, uint64_t nogoods)
{
	const int *other = layer->states.at + label * layer->width;
	for (size_t s = 0; s < layer->width; s++)
		if (other[s] != state[s])
			return false;
	return layer->labels.at[label].nogoods == nogoods;
}

static void grow_table(struct menu_layer *layer, struct arena *arena)
{
	layer->table_size = layer->table_size ? layer->table_size * 2 : 64;
	layer->table = arena_array(arena, int32_t, layer->table_size);
	for (size_t i = 0; i < layer->table_size; i++)
		layer->table[i] = -1;
	for (size_t i = 0; i < layer->labels.count; i++) {
		size_t at = hash_state(layer->states.at + i * layer->width, layer->width,
			layer->labels.at[i].nogoods);
		while (layer->table[at &= layer->table_size - 1] >= 0)
			at++;
		layer->table[at] = (int32_t)i;
	}
}

void layer_keep(struct arena *arena, struct menu_layer *layer, const struct menu_label *label,
	const int *state)
{
	if (layer->labels.count * 2 >= layer->table_size)
		grow_table(layer, arena);
	size_t at = hash_state(state, layer->width, label->nogoods);
	while (layer->table[at &= layer->table_size - 1] >= 0) {
		int32_t other = layer->table[at];
		if (is_state(layer, (size_t)other, state, label->nogoods)) {
			if (capture_compare(&label->cost, &layer->labels.at[other].cost) < 0)
				layer->labels.at[other] = *label;
			return;
		}
		at++;
	}
	layer->table[at] = (int32_t)layer->labels.count;
	*array_add(arena, &layer->labels) = *label;
	for (size_t s = 0; s < layer->width; s++)
		*array_add(arena, &layer->states) = state[s];
}
