#include "solvers/joint/cut_dp/gate.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/joint/cut_dp/layer.h"
#include "solvers/joint/cut_dp/toll.h"

/* Each choice of codes of slots from this one on; false: too many. */
static bool add_states(struct gate *gate, uint16_t *codes, int slot, size_t most)
{
	const struct cut *at = &gate->frame->cuts[gate->cut];
	if (slot == at->slot_count) {
		layer_state(gate->states, codes);
		return gate_count(gate) <= most;
	}
	int views = gate->frame->space->tensors[at->tensors[slot]].view_count;
	for (uint16_t code = 0; code < 2 * (views + 1); code++) {
		codes[slot] = code;
		if (at->kept[slot][code] == code && !add_states(gate, codes, slot + 1, most))
			return false;
	}
	return true;
}

static void make_rows(struct gate *gate, struct arena *arena)
{
	gate->tolls = arena_array(arena, int64_t, gate_size(gate));
	for (size_t i = 0; i < gate_size(gate); i++)
		gate->tolls[i] = TOLL_NEVER;
}

struct gate *gate_open(const struct frame *frame, int cut, size_t most, struct arena *arena)
{
	uint16_t codes[CUT_SLOTS_MOST];
	struct gate *gate = arena_new(arena, struct gate);
	*gate = (struct gate){.frame = frame, .cut = cut};
	gate->states = layer_open(frame, cut, arena);
	if (!add_states(gate, codes, 0, most))
		return NULL;
	make_rows(gate, arena);
	return gate;
}

struct lowering {
	const struct gate *gate;
	int64_t *row;
};

static void lower(void *context, const uint16_t *codes)
{
	const struct lowering *lowering = context;
	const int64_t *row = gate_find(lowering->gate, codes);
	for (size_t i = 0; row && i < toll_count(lowering->gate->frame); i++)
		lowering->row[i] = number_min(lowering->row[i], row[i]);
}

void gate_lower(const struct gate *gate, const struct blur *blur)
{
	for (size_t s = 0; gate && s < gate_count(gate); s++) {
		struct lowering lowering = {gate, gate_row(gate, s)};
		blur_less(blur, gate->cut, gate_codes(gate, s), lower, &lowering);
	}
}

struct gate *gate_blur(const struct gate *gate, const struct blur *blur, struct arena *arena)
{
	uint16_t codes[CUT_SLOTS_MOST];
	if (!gate)
		return NULL;
	struct gate *blurred = arena_new(arena, struct gate);
	*blurred = (struct gate){.frame = blur->frame, .cut = gate->cut};
	blurred->states = layer_open(blur->frame, gate->cut, arena);
	for (size_t s = 0; s < gate_count(gate); s++) {
		blur_codes(blur, gate->cut, gate_codes(gate, s), codes);
		layer_state(blurred->states, codes);
	}
	make_rows(blurred, arena);
	for (size_t s = 0; s < gate_count(gate); s++) {
		blur_codes(blur, gate->cut, gate_codes(gate, s), codes);
		struct lowering lowering = {
			gate, gate_row(blurred, layer_state(blurred->states, codes))};
		lower(&lowering, gate_codes(gate, s));
	}
	return blurred;
}

size_t gate_count(const struct gate *gate)
{
	return layer_state_count(gate->states);
}

size_t gate_size(const struct gate *gate)
{
	return gate_count(gate) * toll_count(gate->frame);
}

const uint16_t *gate_codes(const struct gate *gate, size_t state)
{
	return layer_codes(gate->states, (uint32_t)state);
}

int64_t *gate_row(const struct gate *gate, size_t state)
{
	return gate->tolls + state * toll_count(gate->frame);
}

const int64_t *gate_find(const struct gate *gate, const uint16_t *codes)
{
	uint32_t state;
	return layer_find(gate->states, codes, &state) ? gate_row(gate, state) : NULL;
}
