#include "solvers/joint/cut_dp/cut_dp.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct frame_building {
	struct frame *frame;
	const struct joint_space *space;
	struct arena *arena;
	int *births, *deaths;
	int *hbm_from, *argued_from;
	int *hbm_last; /* by tensor: the last `first` of an option that mentions it in HBM; op_count: an output */
	int *valid_last; /* that needs it valid there */
	const char **why;
};

static bool frame_refuse(struct frame_building *building, const char *why)
{
	*building->why = why;
	return false;
}

static void frame_building_mention(
	struct frame_building *building, const struct joint_option *option, int t, bool in_hbm)
{
	if (building->births[t] > option->end)
		building->births[t] = option->end;
	if (building->deaths[t] < option->first)
		building->deaths[t] = option->first;
	if (in_hbm && building->hbm_last[t] < option->first)
		building->hbm_last[t] = option->first;
	if (in_hbm && building->hbm_from[t] > option->end)
		building->hbm_from[t] = option->end;
}

static void note_use(struct frame_building *building, const struct joint_option *option,
	const struct joint_use *use)
{
	frame_building_mention(building, option, use->tensor, use->mode != JOINT_RESIDENT);
	if (use->mode != JOINT_RESIDENT && building->valid_last[use->tensor] < option->first)
		building->valid_last[use->tensor] = option->first;
}

static bool check_option(struct frame_building *building, const struct joint_option *option)
{
	if (option->value < 0 || option->room < 0 || option->cores < 0)
		return frame_refuse(building, "an option has a value, room or cores below 0");
	if (option->cores > building->frame->width_most)
		building->frame->width_most = option->cores;
	return true;
}

static bool find_lives(struct frame_building *building)
{
	const struct joint_space *space = building->space;
	for (size_t i = 0; i < space->option_count; i++) {
		const struct joint_option *option = &space->options[i];
		if (!check_option(building, option))
			return false;
		for (int u = 0; u < option->use_count; u++)
			note_use(building, option, &option->uses[u]);
		for (int o = 0; o < option->out_count; o++)
			frame_building_mention(
				building, option, option->outs[o].tensor, option->outs[o].view < 0);
		for (int a = 0; a < option->argument_count; a++) {
			int t = option->arguments[a];
			frame_building_mention(building, option, t, true);
			if (building->argued_from[t] > option->end)
				building->argued_from[t] = option->end;
		}
	}
	for (int t = 0; t < space->tensor_count; t++) {
		const struct joint_tensor *tensor = &space->tensors[t];
		if (tensor->output)
			building->deaths[t] = building->hbm_last[t] = building->valid_last[t] =
				space->op_count;
		if (tensor->view_count >= INT16_MAX)
			return frame_refuse(
				building, "a tensor has more views than a state can say");
		for (int v = 0; v < tensor->view_count; v++) {
			if (tensor->bytes[v] < 0 || tensor->evict[v] < 0 || tensor->cores[v] < 0)
				return frame_refuse(
					building, "a view has bytes, cores or a price below 0");
			if (tensor->cores[v] > building->frame->width_most)
				building->frame->width_most = tensor->cores[v];
		}
		for (int v = 0; v < tensor->view_count * tensor->view_count; v++)
			if (tensor->relay[v] < 0)
				return frame_refuse(building, "a relay has a price below 0");
	}
	return true;
}

static void rank_widths(struct frame_building *building)
{
	const struct joint_space *space = building->space;
	struct frame *frame = building->frame;
	bool *seen = arena_array(building->arena, bool, frame->width_most + 1);
	int *widths = arena_array(building->arena, int, frame->width_most + 1);
	int *ranks = arena_array(building->arena, int, frame->width_most + 1);
	for (size_t i = 0; i < space->option_count; i++)
		seen[space->options[i].cores] = true;
	for (int t = 0; t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count; v++)
			seen[space->tensors[t].cores[v]] = true;
	for (int w = 0; w <= frame->width_most; w++) {
		if (w == 0 || (seen[w] && space->core_value))
			widths[frame->rank_count++] = w;
		ranks[w] = frame->rank_count - 1;
	}
	frame->widths = widths;
	frame->ranks = ranks;
}

static bool price_bundles(struct frame_building *building)
{
	const struct joint_space *space = building->space;
	struct frame *frame = building->frame;
	if (space->bundle_value < 0 || space->core_value < 0 || space->bundle_most < 0)
		return frame_refuse(building, "bundles have a price or limit below 0");
	if (frame->width_most >= UINT16_MAX || space->tensor_count >= UINT16_MAX)
		return frame_refuse(building, "more cores or tensors than a label can count");
	frame->args_most = space->bundle_most < space->tensor_count ? space->bundle_most : 0;
	int64_t *over = arena_array(building->arena, int64_t, frame->width_most + 1);
	for (int w = 0; w <= frame->width_most; w++) {
		int64_t cores = 0;
		bool fits = number_mul(space->core_value, w, &cores);
		over[w] = fits ? cut_add(space->bundle_value, cores) : JOINT_NEVER;
	}
	if (over[frame->width_most] > INT64_MAX / 8)
		return frame_refuse(building, "a bundle costs more than can be counted");
	frame->over = over;
	rank_widths(building);
	return true;
}

/* By view, for all that relays can lead from: the most of what they lead to. */
static void follow_relays(const struct joint_tensor *tensor, int64_t *most)
{
	int n = tensor->view_count;
	for (bool again = true; again;) {
		again = false;
		for (int v = 0; v < n; v++)
			for (int w = 0; w < n; w++)
				if (tensor->relay[v * n + w] != JOINT_NEVER && most[v] < most[w]) {
					most[v] = most[w];
					again = true;
				}
	}
}

/* By tensor and view: the last `first` of an option that reads what lies so, perhaps after relays; -1: none. */
static int64_t **find_last_served(const struct frame_building *building)
{
	const struct joint_space *space = building->space;
	int64_t **last = arena_array(building->arena, int64_t *, space->tensor_count);
	for (int t = 0; t < space->tensor_count; t++) {
		int n = space->tensors[t].view_count;
		last[t] = arena_array(building->arena, int64_t, n + 1);
		for (int v = 0; v < n; v++)
			last[t][v] = -1;
	}
	for (size_t i = 0; i < space->option_count; i++) {
		const struct joint_option *option = &space->options[i];
		for (int u = 0; u < option->use_count; u++) {
			const struct joint_use *use = &option->uses[u];
			int n = space->tensors[use->tensor].view_count;
			if (use->mode != JOINT_RESIDENT)
				continue;
			for (int v = 0; v < n; v++)
				if (space->tensors[use->tensor].serves[v * n + use->view] &&
					last[use->tensor][v] < option->first)
					last[use->tensor][v] = option->first;
		}
	}
	for (int t = 0; t < space->tensor_count; t++)
		follow_relays(&space->tensors[t], last[t]);
	return last;
}

/* By view: can it become valid in HBM, perhaps after relays? */
static int64_t *find_storable(const struct frame_building *building, int t)
{
	const struct joint_tensor *tensor = &building->space->tensors[t];
	int64_t *storable = arena_array(building->arena, int64_t, tensor->view_count + 1);
	for (int v = 0; v < tensor->view_count; v++)
		storable[v] = tensor->evict[v] != JOINT_NEVER;
	follow_relays(tensor, storable);
	return storable;
}

/* True if a tensor can be relayed from a view. */
static bool is_relayed_from(const struct joint_tensor *tensor, int view)
{
	const int64_t *relay = tensor->relay + view * tensor->view_count;
	for (int to = 0; to < tensor->view_count; to++)
		if (relay[to] != JOINT_NEVER)
			return true;
	return false;
}

/* Returns the first view of those that are alike for a tensor that only waits for its evict: as large, at the same
 * price, on as many cores. */
static int find_alike(const struct joint_tensor *tensor, const bool *waits, int view)
{
	int first = 0;
	while (!waits[first] || tensor->bytes[first] != tensor->bytes[view] ||
		tensor->evict[first] != tensor->evict[view] ||
		tensor->cores[first] != tensor->cores[view])
		first++;
	return first;
}

/* Returns what each code becomes at this cut. */
static const uint16_t *keep_codes(const struct frame_building *building, int cut, int t,
	const int64_t *last_served, const int64_t *storable)
{
	const struct joint_tensor *tensor = &building->space->tensors[t];
	int n = tensor->view_count;
	uint16_t *kept = arena_array(building->arena, uint16_t, 2 * (n + 1));
	bool *waits = arena_array(building->arena, bool, n + 1);
	bool wanted = building->valid_last[t] >= cut;
	kept[cut_code(true, -1)] = cut_code(wanted, -1);
	kept[cut_code(false, -1)] = cut_code(false, -1);
	for (int view = 0; view < n; view++) {
		bool served = last_served[view] >= cut, stored = wanted && storable[view];
		waits[view] = stored && !served && !is_relayed_from(tensor, view);
		int held = waits[view] ? find_alike(tensor, waits, view) : view;
		kept[cut_code(true, view)] = cut_code(wanted, served ? view : -1);
		kept[cut_code(false, view)] = cut_code(false, served || stored ? held : -1);
	}
	return kept;
}

static bool make_cuts(struct frame_building *building)
{
	const struct joint_space *space = building->space;
	struct frame *frame = building->frame;
	struct cut *cuts = arena_array(building->arena, struct cut, frame->cut_count);
	int64_t **last_served = find_last_served(building);
	int64_t **storable = arena_array(building->arena, int64_t *, space->tensor_count);
	for (int t = 0; t < space->tensor_count; t++)
		storable[t] = find_storable(building, t);
	size_t slot_count = (size_t)frame->cut_count * (size_t)space->tensor_count;
	int8_t *slots = arena_array(building->arena, int8_t, slot_count);
	memset(slots, CUT_NO_SLOT, slot_count);
	for (int c = 0; c < frame->cut_count; c++) {
		struct cut *cut = &cuts[c];
		int *tensors = arena_array(building->arena, int, CUT_SLOTS_MOST);
		const uint16_t **kept =
			arena_array(building->arena, const uint16_t *, CUT_SLOTS_MOST);
		for (int t = 0; t < space->tensor_count; t++) {
			if (c < building->births[t] || c > building->deaths[t])
				continue;
			if (cut->slot_count == CUT_SLOTS_MOST)
				return frame_refuse(
					building, "more tensors live at once than a state can say");
			uint64_t bit = UINT64_C(1) << cut->slot_count;
			slots[c * space->tensor_count + t] = (int8_t)cut->slot_count;
			cut->mentions |= building->hbm_last[t] >= c ? bit : 0;
			tensors[cut->slot_count] = t;
			kept[cut->slot_count++] =
				keep_codes(building, c, t, last_served[t], storable[t]);
		}
		cut->tensors = tensors;
		cut->kept = kept;
	}
	frame->cuts = cuts;
	frame->slots = slots;
	return true;
}

const struct frame *frame_make(
	const struct joint_space *space, struct arena *arena, const char **why)
{
	struct frame *frame = arena_new(arena, struct frame);
	struct frame_building building = {
		.frame = frame, .space = space, .arena = arena, .why = why};
	frame->space = space;
	frame->arena = arena;
	frame->cut_count = space->op_count + 1;
	building.births = arena_array(arena, int, space->tensor_count);
	building.deaths = arena_array(arena, int, space->tensor_count);
	building.hbm_last = arena_array(arena, int, space->tensor_count);
	building.valid_last = arena_array(arena, int, space->tensor_count);
	building.hbm_from = arena_array(arena, int, space->tensor_count);
	building.argued_from = arena_array(arena, int, space->tensor_count);
	frame->hbm_from = building.hbm_from;
	frame->argued_from = building.argued_from;
	for (int t = 0; t < space->tensor_count; t++) {
		building.births[t] = space->op_count;
		building.hbm_from[t] = building.argued_from[t] = INT_MAX;
		building.deaths[t] = building.hbm_last[t] = building.valid_last[t] = -1;
	}
	if (!find_lives(&building) || !price_bundles(&building) || !make_cuts(&building))
		return NULL;
	return frame;
}

void frame_start(const struct frame *frame, uint16_t *codes)
{
	for (int s = 0; s < frame->cuts[0].slot_count; s++)
		codes[s] =
			cut_code(frame->space->tensors[frame->cuts[0].tensors[s]].producer < 0, -1);
}

bool frame_is_complete(const struct frame *frame, const uint16_t *codes)
{
	const struct cut *end = &frame->cuts[frame->space->op_count];
	for (int s = 0; s < end->slot_count; s++)
		if (frame->space->tensors[end->tensors[s]].output && !(codes[s] & CUT_VALID))
			return false;
	return true;
}

static int64_t frame_least(const int64_t *row, int n, int step, int but)
{
	int64_t least = JOINT_NEVER;
	for (int i = 0; i < n; i++)
		if (i != but && row[i * step] < least)
			least = row[i * step];
	return least;
}

/* A chain of relays costs at least its first and its last one. */
static void relax_relays(struct joint_tensor *tensor, struct arena *arena)
{
	int n = tensor->view_count;
	const int64_t *before = tensor->relay;
	int64_t *relay = arena_copy(arena, before, (size_t)(n * n) * sizeof *relay);
	int64_t *last = arena_array(arena, int64_t, n);
	for (int w = 0; w < n; w++)
		last[w] = frame_least(before + w, n, n, w);
	for (int v = 0; v < n; v++) {
		int64_t first = frame_least(before + v * n, n, 1, v);
		for (int w = 0; w < n && first != JOINT_NEVER; w++) {
			int64_t chain = cut_add(first, last[w]);
			if (v != w && chain < relay[v * n + w])
				relay[v * n + w] = chain;
		}
	}
	tensor->relay = relay;
}

/* Lowers bytes and evictions of each view to the least of all views that it can be relayed to. */
static void relax_views(struct joint_tensor *tensor, struct arena *arena)
{
	int n = tensor->view_count;
	int64_t *bytes = arena_copy(arena, tensor->bytes, (size_t)n * sizeof *bytes);
	int64_t *evict = arena_copy(arena, tensor->evict, (size_t)n * sizeof *evict);
	int *cores = arena_copy(arena, tensor->cores, (size_t)n * sizeof *cores);
	for (int v = 0; v < n; v++)
		for (int w = 0; w < n; w++) {
			int64_t relay = tensor->relay[v * n + w];
			if (v == w || relay == JOINT_NEVER)
				continue;
			bytes[v] = number_min(bytes[v], tensor->bytes[w]);
			evict[v] = number_min(evict[v], cut_add(relay, tensor->evict[w]));
			cores[v] = tensor->cores[w] < cores[v] ? tensor->cores[w] : cores[v];
		}
	tensor->bytes = bytes;
	tensor->evict = evict;
	tensor->cores = cores;
}

bool frame_relays(const struct frame *frame)
{
	bool any = false;
	for (int t = 0; t < frame->space->tensor_count; t++)
		any |= joint_is_relayed(&frame->space->tensors[t]);
	return any;
}

const struct frame *frame_without_relays(const struct frame *frame, struct arena *arena)
{
	struct joint_space *space = arena_copy(arena, frame->space, sizeof *space);
	struct joint_tensor *tensors =
		arena_copy(arena, space->tensors, (size_t)space->tensor_count * sizeof *tensors);
	struct frame *other = arena_copy(arena, frame, sizeof *frame);
	for (int t = 0; t < space->tensor_count; t++) {
		size_t pairs = (size_t)tensors[t].view_count * (size_t)tensors[t].view_count;
		int64_t *relay = arena_array(arena, int64_t, pairs);
		for (size_t i = 0; i < pairs; i++)
			relay[i] = JOINT_NEVER;
		tensors[t].relay = relay;
	}
	space->tensors = tensors;
	other->space = space;
	return other;
}

const struct frame *frame_with_less_room(const struct frame *frame, struct arena *arena)
{
	const struct joint_space *space = frame->space;
	struct joint_tensor *tensors =
		arena_copy(arena, space->tensors, (size_t)space->tensor_count * sizeof *tensors);
	bool any = false;
	for (int t = 0; t < space->tensor_count; t++) {
		if (!joint_is_relayed(&tensors[t]))
			continue;
		any = true;
		relax_relays(&tensors[t], arena);
		relax_views(&tensors[t], arena);
	}
	if (!any)
		return frame;
	struct joint_space *less = arena_copy(arena, space, sizeof *space);
	struct frame *relaxed = arena_copy(arena, frame, sizeof *frame);
	less->tensors = tensors;
	relaxed->space = less;
	return relaxed;
}

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

/* Returns the row of the table that has the state, or would have it. */
static size_t cut_layer_find_row(const struct cut_layer *layer, const uint16_t *codes)
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
	size_t row = layer->table_size ? cut_layer_find_row(layer, codes) : 0;
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
	size_t row = cut_layer_find_row(layer, codes);
	if (layer->table[row])
		return layer->table[row] - 1;
	struct layer_entry *state = array_add(layer->arena, &layer->states);
	*state = (struct layer_entry){.first = LABEL_NONE};
	array_add(layer->arena, &layer->codes); /* so that no state has none */
	for (int s = 0; s < slots; s++) {
		assert(cut_view(codes[s]) <
			layer->frame->space->tensors[layer->cut->tensors[s]].view_count);
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

static bool frame_dominates(const struct frame *frame, const struct label *a, const struct label *b)
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

#ifndef NDEBUG
/* Asserts that whatever goes on from label b costs no more from label a: in a new bundle, or in one that becomes as
 * wide and has room for as many arguments. */
static bool check_dominance(const struct frame *frame, const struct label *a, const struct label *b)
{
	assert(a->cost <= b->cost);
	if (b->bundle.args == LABEL_CLOSED ||
		cut_add(a->cost, frame->over[b->bundle.widest]) <= b->cost)
		return true;
	assert(a->bundle.args != LABEL_CLOSED);
	assert(a->bundle.args + __builtin_popcountll(b->bundle.in_hbm & ~a->bundle.in_hbm) <=
		b->bundle.args);
	const int widths[] = {b->bundle.widest, frame->width_most};
	for (int i = 0; i < 2; i++) {
		int64_t in_a = frame->over[number_max(widths[i], a->bundle.widest)] -
			       frame->over[a->bundle.widest];
		int64_t in_b = frame->over[number_max(widths[i], b->bundle.widest)] -
			       frame->over[b->bundle.widest];
		assert(cut_add(a->cost, in_a) <= cut_add(b->cost, in_b));
	}
	return true;
}
#endif

uint32_t layer_append(struct cut_layer *layer, const struct label *label)
{
	if (layer->label_count == layer->chunks.count * CHUNK)
		*array_add(layer->arena, &layer->chunks) =
			arena_array(layer->arena, struct label, CHUNK);
	*layer_label(layer, layer->label_count) = *label;
	assert(label->state < layer->states.count);
	return layer->label_count++;
}

#ifndef NDEBUG
/* Asserts that the list of a state has its own labels, of which none dominates another. */
static bool check_state(const struct cut_layer *layer, uint32_t state, uint32_t added)
{
	const struct label *last = layer_label(layer, added);
	uint32_t first = layer->states.at[state].first;
	for (uint32_t i = first; i != LABEL_NONE; i = layer_label(layer, i)->next) {
		const struct label *label = layer_label(layer, i);
		assert(label->state == state && !label->dominated);
		assert(i == added || (!frame_dominates(layer->frame, label, last) &&
					     !frame_dominates(layer->frame, last, label)));
	}
	return true;
}
#endif

uint32_t layer_add(struct cut_layer *layer, const struct label *label)
{
	struct layer_entry *state = &layer->states.at[label->state];
	for (uint32_t i = state->first; i != LABEL_NONE; i = layer_label(layer, i)->next)
		if (frame_dominates(layer->frame, layer_label(layer, i), label)) {
			assert(check_dominance(layer->frame, layer_label(layer, i), label));
			return LABEL_NONE;
		}
	for (uint32_t *link = &state->first; *link != LABEL_NONE;) {
		struct label *other = layer_label(layer, *link);
		if (frame_dominates(layer->frame, label, other)) {
			assert(check_dominance(layer->frame, label, other));
			other->dominated = true;
			*link = other->next;
		} else {
			link = &other->next;
		}
	}
	uint32_t added = layer_append(layer, label);
	layer_label(layer, added)->next = state->first;
	state->first = added;
	assert(check_state(layer, label->state, added));
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
		l = layer_label(layers[l->parent_cut], l->parent)) {
		assert(l->parent_cut <= cut &&
			l->parent < layer_label_count(layers[l->parent_cut]));
		answer->count++;
	}
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
