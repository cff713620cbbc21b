#include "solvers/joint/cut_dp/layer.h"

#include "base/arena.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Labels do not move: a chunk of them is never grown. */
enum { CHUNK_BITS = 12, CHUNK = 1 << CHUNK_BITS };

struct layer_entry {
	uint32_t first; /* label */
	int64_t bytes;
};

struct chunks array(struct label *);
struct states array(struct layer_entry);
struct codes array(uint16_t);

struct cut_layer {
	const struct frame *frame;
	const struct cut *cut;
	struct arena *arena;
	uint32_t label_count;
	struct chunks chunks;
	struct states states;
	struct codes codes; /* slot_count + 1 for each state; the first is not used */
	uint32_t *table;    /* state + 1, by hash */
	size_t table_size;  /* a power of two */
};

struct cut_layer *layer_open(const struct frame *frame, int cut, struct arena *arena)
{
	struct cut_layer *layer = arena_new(arena, struct cut_layer);
	layer->frame = frame;
	layer->cut = &frame->cuts[cut];
	layer->arena = arena;
	return layer;
}

static uint64_t hash_codes(const uint16_t *codes, int count)
{
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < count; i++) {
		hash = (hash ^ codes[i]) * UINT64_C(0xd6e8feb86659fd93);
		hash ^= hash >> 32;
	}
	return hash;
}

uint32_t layer_state_count(const struct cut_layer *layer)
{
	return (uint32_t)layer->states.count;
}

const uint16_t *layer_codes(const struct cut_layer *layer, uint32_t state)
{
	return layer->codes.at + (size_t)state * (size_t)(layer->cut->slot_count + 1) + 1;
}

uint32_t layer_first(const struct cut_layer *layer, uint32_t state)
{
	return layer->states.at[state].first;
}

int64_t layer_bytes(const struct cut_layer *layer, uint32_t state)
{
	return layer->states.at[state].bytes;
}

static void grow_table(struct cut_layer *layer)
{
	size_t size = layer->table_size ? layer->table_size * 2 : 64;
	layer->table = arena_array(layer->arena, uint32_t, size);
	layer->table_size = size;
	for (uint32_t s = 0; s < layer->states.count; s++) {
		size_t row = hash_codes(layer_codes(layer, s), layer->cut->slot_count) & (size - 1);
		while (layer->table[row])
			row = (row + 1) & (size - 1);
		layer->table[row] = s + 1;
	}
}

/* Where it is in the table, or would be. */
static size_t find_row(const struct cut_layer *layer, const uint16_t *codes)
{
	int slots = layer->cut->slot_count;
	size_t row = hash_codes(codes, slots) & (layer->table_size - 1);
	while (layer->table[row] && memcmp(layer_codes(layer, layer->table[row] - 1), codes,
					    (size_t)slots * sizeof *codes) != 0)
		row = (row + 1) & (layer->table_size - 1);
	return row;
}

bool layer_find(const struct cut_layer *layer, const uint16_t *codes, uint32_t *state)
{
	size_t row = layer->table_size ? find_row(layer, codes) : 0;
	if (!layer->table_size || !layer->table[row])
		return false;
	*state = layer->table[row] - 1;
	return true;
}

uint32_t layer_state(struct cut_layer *layer, const uint16_t *codes)
{
	int slots = layer->cut->slot_count;
	if (2 * (layer->states.count + 1) > layer->table_size)
		grow_table(layer);
	size_t row = find_row(layer, codes);
	if (layer->table[row])
		return layer->table[row] - 1;
	struct layer_entry *state = array_add(layer->arena, &layer->states);
	*state = (struct layer_entry){.first = LABEL_NONE};
	array_add(layer->arena, &layer->codes); /* so that no state has none */
	for (int s = 0; s < slots; s++) {
		*array_add(layer->arena, &layer->codes) = codes[s];
		state->bytes +=
			cut_bytes(&layer->frame->space->tensors[layer->cut->tensors[s]], codes[s]);
	}
	layer->table[row] = (uint32_t)layer->states.count;
	return (uint32_t)layer->states.count - 1;
}

void layer_clear(struct cut_layer *layer)
{
	for (size_t s = 0; s < layer->states.count; s++)
		layer->states.at[s].first = LABEL_NONE;
	layer->label_count = 0;
}

uint32_t layer_label_count(const struct cut_layer *layer)
{
	return layer->label_count;
}

struct label *layer_label(const struct cut_layer *layer, uint32_t i)
{
	return &layer->chunks.at[i >> CHUNK_BITS][i & (CHUNK - 1)];
}

static bool dominates(const struct frame *frame, const struct label *a, const struct label *b)
{
	if (a->cost > b->cost)
		return false;
	if (b->bundle.args == LABEL_CLOSED)
		return true;
	if (cut_add(a->cost, frame->over[b->bundle.widest]) <= b->cost)
		return true;
	if (a->bundle.args == LABEL_CLOSED ||
		a->bundle.args + __builtin_popcountll(b->bundle.in_hbm & ~a->bundle.in_hbm) >
			b->bundle.args)
		return false;
	int64_t wider = b->bundle.widest > a->bundle.widest
				? frame->over[b->bundle.widest] - frame->over[a->bundle.widest]
				: 0;
	return cut_add(a->cost, wider) <= b->cost;
}

uint32_t layer_append(struct cut_layer *layer, const struct label *label)
{
	if (layer->label_count == layer->chunks.count * CHUNK)
		*array_add(layer->arena, &layer->chunks) =
			arena_array(layer->arena, struct label, CHUNK);
	*layer_label(layer, layer->label_count) = *label;
	return layer->label_count++;
}

uint32_t layer_add(struct cut_layer *layer, const struct label *label)
{
	struct layer_entry *state = &layer->states.at[label->state];
	for (uint32_t i = state->first; i != LABEL_NONE; i = layer_label(layer, i)->next)
		if (dominates(layer->frame, layer_label(layer, i), label))
			return LABEL_NONE;
	for (uint32_t *link = &state->first; *link != LABEL_NONE;) {
		struct label *other = layer_label(layer, *link);
		if (dominates(layer->frame, label, other)) {
			other->dominated = true;
			*link = other->next;
		} else {
			link = &other->next;
		}
	}
	uint32_t added = layer_append(layer, label);
	layer_label(layer, added)->next = state->first;
	state->first = added;
	return added;
}

void layer_forget(struct cut_layer *layer)
{
	for (size_t s = 0; s < layer->states.count; s++)
		for (uint32_t *link = &layer->states.at[s].first; *link != LABEL_NONE;) {
			struct label *label = layer_label(layer, *link);
			if (label->dominated)
				*link = label->next;
			else
				link = &label->next;
		}
}

struct joint_answer *layers_trace(
	struct cut_layer *const *layers, int cut, uint32_t at, struct arena *arena)
{
	struct joint_answer *answer = arena_new(arena, struct joint_answer);
	const struct label *label = layer_label(layers[cut], at);
	answer->value = label->cost;
	for (const struct label *l = label; l->parent != LABEL_NONE;
		l = layer_label(layers[l->parent_cut], l->parent))
		answer->count++;
	struct joint_step *steps = arena_array(arena, struct joint_step, answer->count);
	for (size_t i = answer->count; i-- > 0;
		label = layer_label(layers[label->parent_cut], label->parent))
		steps[i] = (struct joint_step){.kind = label->kind,
			.begins_bundle = label->begins_bundle,
			.option = label->kind == JOINT_OPTION ? label->step : 0,
			.tensor = label->kind == JOINT_OPTION ? 0 : (int)label->step,
			.view = label->view};
	answer->steps = steps;
	return answer;
}

static int compare_cut_ranked(const void *left, const void *right)
{
	const struct cut_ranked *a = left, *b = right;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void cut_rank(struct cut_ranked *ranked, size_t count)
{
	if (count)
		qsort(ranked, count, sizeof *ranked, compare_cut_ranked);
}
