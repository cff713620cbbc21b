#include "solvers/joint/cut_dp/floor.h"

#include "base/arena.h"
#include "base/array.h"
#include "solvers/joint/cut_dp/move.h"
#include "solvers/joint/cut_dp/step.h"

#include <stdlib.h>
#include <string.h>

/* Sets of slots. */
struct place {
	uint64_t valid, in_lx;
};

/* Options that differ in views only: the cheapest. */
struct leap {
	struct place needs, makes; /* `makes` at the end, where `changed` is */
	uint64_t changed;
	int end;
	bool ends_bundle;
	int64_t relaxed;
};

struct row {
	struct place place;
	int64_t rest;
	bool is_used;
};

struct stop {
	bool is_made;
	size_t leap_count;
	const struct leap *leaps;
	struct place kept;    /* what can be of use at this cut */
	const int64_t *evict; /* by slot: the cheapest */
	struct row *rows;
	size_t count, size; /* a power of two */
};

struct floor {
	const struct frame *frame;
	struct arena *arena;
	struct stop *stops; /* by cut */
};

struct floor *floor_open(const struct frame *frame, struct arena *arena)
{
	struct floor *floor = arena_new(arena, struct floor);
	floor->frame = frame;
	floor->arena = arena;
	floor->stops = arena_array(arena, struct stop, frame->cut_count);
	return floor;
}

/* --- what there is at a cut */

static struct leap leap_of(const struct frame *frame, int cut, const struct menu_move *move)
{
	const struct joint_option *option = &frame->space->options[move->option];
	struct leap leap = {
		.end = move->end, .ends_bundle = move->ends_bundle, .relaxed = move->relaxed};
	for (int u = 0; u < option->use_count; u++) {
		int slot = frame_slot(frame, cut, option->uses[u].tensor);
		uint64_t bit = slot == CUT_NO_SLOT ? 0 : UINT64_C(1) << slot;
		if (option->uses[u].mode == JOINT_RESIDENT)
			leap.needs.in_lx |= bit;
		else
			leap.needs.valid |= bit;
	}
	for (int e = 0; e < move->effect_count; e++) {
		uint64_t bit = UINT64_C(1) << move->effects[e].slot;
		leap.changed |= bit;
		if (move->effects[e].code & CUT_VALID)
			leap.makes.valid |= bit;
		if (cut_view(move->effects[e].code) >= 0)
			leap.makes.in_lx |= bit;
	}
	return leap;
}

static int compare_places(const struct place *a, const struct place *b)
{
	if (a->valid != b->valid)
		return a->valid < b->valid ? -1 : 1;
	return a->in_lx < b->in_lx ? -1 : a->in_lx > b->in_lx;
}

static int compare_kinds(const struct leap *a, const struct leap *b)
{
	int order = a->end - b->end;
	order = order ? order : a->ends_bundle - b->ends_bundle;
	order = order ? order : compare_places(&a->needs, &b->needs);
	order = order ? order : compare_places(&a->makes, &b->makes);
	return order ? order : (a->changed > b->changed) - (a->changed < b->changed);
}

static int compare_leaps(const void *left, const void *right)
{
	const struct leap *a = left, *b = right;
	int order = compare_kinds(a, b);
	return order ? order : (a->relaxed > b->relaxed) - (a->relaxed < b->relaxed);
}

static void make_leaps(struct floor *floor, int cut)
{
	struct stop *stop = &floor->stops[cut];
	struct arena *scratch = arena_open();
	struct moves moves = moves_make(floor->frame, cut, scratch);
	struct leap *leaps = arena_array(scratch, struct leap, moves.count);
	size_t count = 0;
	for (size_t m = 0; m < moves.count; m++)
		if (!moves.at[m].drops)
			leaps[count++] = leap_of(floor->frame, cut, &moves.at[m]);
	if (count)
		qsort(leaps, count, sizeof *leaps, compare_leaps);
	for (size_t i = 0; i < count; i++)
		if (!i || compare_kinds(&leaps[i], &leaps[stop->leap_count - 1]))
			leaps[stop->leap_count++] = leaps[i];
	stop->leaps = arena_copy(floor->arena, leaps, stop->leap_count * sizeof *leaps);
	arena_close(scratch);
}

static void make_stop(struct floor *floor, int cut)
{
	const struct frame *frame = floor->frame;
	const struct cut *at = &frame->cuts[cut];
	struct stop *stop = &floor->stops[cut];
	int64_t *evict = arena_array(floor->arena, int64_t, at->slot_count + 1);
	stop->is_made = true;
	for (int s = 0; s < at->slot_count; s++) {
		uint64_t bit = UINT64_C(1) << s;
		evict[s] = JOINT_NEVER;
		stop->kept.valid |= at->kept[s][CUT_VALID] & CUT_VALID ? bit : 0;
		for (int v = 0; v < frame->space->tensors[at->tensors[s]].view_count; v++) {
			int64_t one = steps_evict(frame, cut, at->tensors[s], v);
			evict[s] = one < evict[s] ? one : evict[s];
			for (int valid = 0; valid < 2; valid++)
				if (cut_view(at->kept[s][cut_code(valid, v)]) >= 0)
					stop->kept.in_lx |= bit;
		}
	}
	stop->evict = evict;
	if (cut < frame->space->op_count)
		make_leaps(floor, cut);
}

/* --- the table */

static struct row *find_row(struct stop *stop, const struct place *place)
{
	uint64_t hash = (place->valid ^ place->in_lx * UINT64_C(0x9e3779b97f4a7c15)) *
			UINT64_C(0xd6e8feb86659fd93);
	size_t at = (hash ^ hash >> 32) & (stop->size - 1);
	while (stop->rows[at].is_used && compare_places(&stop->rows[at].place, place))
		at = (at + 1) & (stop->size - 1);
	return &stop->rows[at];
}

static void grow(struct floor *floor, struct stop *stop)
{
	struct row *before = stop->rows;
	size_t size = stop->size;
	stop->size = size ? size * 2 : 16;
	stop->rows = arena_array(floor->arena, struct row, stop->size);
	for (size_t i = 0; i < size; i++)
		if (before[i].is_used)
			*find_row(stop, &before[i].place) = before[i];
}

static void remember(
	struct floor *floor, struct stop *stop, const struct place *place, int64_t rest)
{
	if (2 * (stop->count + 1) > stop->size)
		grow(floor, stop);
	*find_row(stop, place) = (struct row){*place, rest, true};
	stop->count++;
}

/* --- what is still to come */

static uint64_t slots_after(const struct frame *frame, int from, int to, uint64_t slots)
{
	uint64_t after = 0;
	for (; slots; slots &= slots - 1) {
		int slot = frame_slot(frame, to, frame->cuts[from].tensors[__builtin_ctzll(slots)]);
		after |= slot == CUT_NO_SLOT ? 0 : UINT64_C(1) << slot;
	}
	return after;
}

/* Inputs that the cut before has no slots for are valid. */
static uint64_t new_inputs(const struct frame *frame, int from, int to)
{
	uint64_t inputs = 0;
	for (int s = 0; s < frame->cuts[to].slot_count; s++) {
		int t = frame->cuts[to].tensors[s];
		if (frame->space->tensors[t].producer < 0 &&
			frame_slot(frame, from, t) == CUT_NO_SLOT)
			inputs |= UINT64_C(1) << s;
	}
	return inputs;
}

static bool is_complete(const struct frame *frame, const struct place *place)
{
	const struct cut *end = &frame->cuts[frame->space->op_count];
	for (int s = 0; s < end->slot_count; s++)
		if (frame->space->tensors[end->tensors[s]].output && !(place->valid >> s & 1))
			return false;
	return true;
}

static int64_t find_rest(struct floor *floor, int cut, struct place place);

static int64_t take(
	struct floor *floor, int cut, const struct place *place, const struct leap *leap)
{
	const struct frame *frame = floor->frame;
	if (leap->needs.valid & ~place->valid || leap->needs.in_lx & ~place->in_lx)
		return JOINT_NEVER;
	struct place after = {.valid = slots_after(frame, cut, leap->end, place->valid) |
				       new_inputs(frame, cut, leap->end),
		.in_lx = leap->ends_bundle ? 0 : slots_after(frame, cut, leap->end, place->in_lx)};
	after.valid = (after.valid & ~leap->changed) | leap->makes.valid;
	after.in_lx = (after.in_lx & ~leap->changed) | leap->makes.in_lx;
	return cut_add(leap->relaxed, find_rest(floor, leap->end, after));
}

static int64_t find_rest(struct floor *floor, int cut, struct place place)
{
	struct stop *stop = &floor->stops[cut];
	if (!stop->is_made)
		make_stop(floor, cut);
	place.valid &= stop->kept.valid;
	place.in_lx &= stop->kept.in_lx;
	if (stop->size && find_row(stop, &place)->is_used)
		return find_row(stop, &place)->rest;
	bool last = cut == floor->frame->space->op_count;
	int64_t least = last && is_complete(floor->frame, &place) ? 0 : JOINT_NEVER;
	for (size_t i = 0; i < stop->leap_count; i++) {
		int64_t rest = take(floor, cut, &place, &stop->leaps[i]);
		least = rest < least ? rest : least;
	}
	for (uint64_t left = place.in_lx & ~place.valid & stop->kept.valid; left;
		left &= left - 1) {
		int slot = __builtin_ctzll(left);
		struct place evicted = {place.valid | UINT64_C(1) << slot, place.in_lx};
		if (stop->evict[slot] == JOINT_NEVER)
			continue;
		int64_t rest = cut_add(stop->evict[slot], find_rest(floor, cut, evicted));
		least = rest < least ? rest : least;
	}
	remember(floor, stop, &place, least);
	return least;
}

int64_t floor_rest(struct floor *floor, int cut, const uint16_t *codes)
{
	struct place place = {0};
	for (int s = 0; s < floor->frame->cuts[cut].slot_count; s++) {
		uint64_t bit = UINT64_C(1) << s;
		place.valid |= codes[s] & CUT_VALID ? bit : 0;
		place.in_lx |= cut_view(codes[s]) >= 0 ? bit : 0;
	}
	return find_rest(floor, cut, place);
}
