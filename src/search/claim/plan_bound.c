#include "search/claim/plan_claim.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "search/joint/joint_space.h"

#include <string.h>

/* States, their table and heap; steps from a state; the search. */

/* The place of a tensor: a bit for HBM, and the number of its view in LX + 1. */
enum { BIT_HBM = 1, VIEW_UNIT = 2 };

/* At a cut; tensors are those of the relaxation's cut, by number there. */
struct bound_state {
	uint16_t place[PLAN_CROSSING_MOST];
	uint16_t used; /* of them, by the bundle, in HBM */
	uint16_t gone; /* others that it uses */
	uint16_t cut, widest;
	uint16_t must_begin;
};

struct bound_node {
	struct bound_state state;
	bool done, was_done; /* gone on from; perhaps before it became cheaper */
	int64_t value;
	uint32_t from; /* a node + 1; 0: the start */
	uint32_t next; /* of those with equal places; a node + 1 */
	struct joint_step step;
};

struct bound_open {
	int64_t least; /* of an answer by it, times the scale */
	uint32_t node;
};

struct bounding {
	const struct plan_bound_question *question;
	const struct joint_space *space;
	const struct plan_relaxed *relaxed;
	struct arena *arena;
	struct array(struct bound_node) nodes;
	struct array(struct bound_open) heap;
	uint32_t *places; /* by hash: the last node with these places, + 1 */
	size_t place_count;
	int64_t limit; /* the claim, times the scale */
	bool fits;
};

static inline const struct plan_cut *cut_of(
	const struct bounding *bounding, const struct bound_state *state)
{
	return &bounding->relaxed->cuts->at[state->cut];
}

static inline int bound_state_view(const struct bound_state *state, int k)
{
	return state->place[k] / VIEW_UNIT - 1;
}

static inline void set_view(struct bound_state *state, int k, int view)
{
	state->place[k] = (uint16_t)((state->place[k] & BIT_HBM) | VIEW_UNIT * (view + 1));
}

static inline int count_used(const struct bound_state *state)
{
	int count = state->gone;
	for (unsigned bits = state->used; bits; bits &= bits - 1)
		count++;
	return count;
}

/* True if what LX has of a tensor may be of use at a cut. */
static inline bool bounding_is_needed(const struct bounding *bounding, int t, bool in_hbm, int cut)
{
	const struct joint_tensor *tensor = &bounding->space->tensors[t];
	return tensor->last >= cut || (tensor->output && !in_hbm);
}

enum { PLAN_BOUND_STATES = 2000000 };

enum { PACK_TICKS = 200000, NUMBERS_MOST = 30000 };

/* --- the heap: by least, then those that are further, then the older */

static bool is_before(
	const struct bounding *bounding, const struct bound_open *a, const struct bound_open *b)
{
	uint16_t cut_a = bounding->nodes.at[a->node].state.cut;
	uint16_t cut_b = bounding->nodes.at[b->node].state.cut;
	if (a->least != b->least)
		return a->least < b->least;
	return cut_a != cut_b ? cut_a > cut_b : a->node < b->node;
}

static void bounding_push(struct bounding *bounding, struct bound_open open)
{
	array_add(bounding->arena, &bounding->heap);
	bounding->heap.count--;
	heap_put(bounding->heap.at, bounding->heap.count, open, is_before(bounding, a, b));
}

static struct bound_open bounding_pop(struct bounding *bounding)
{
	struct bound_open *heap = bounding->heap.at, top = heap[0];
	heap[0] = heap[--bounding->heap.count];
	heap_sink(heap, bounding->heap.count, is_before(bounding, a, b));
	return top;
}

/* --- states */

/* The parts of a bundle that are paid for and not used yet. */
static int64_t find_credit(struct bounding *bounding, const struct bound_state *state)
{
	const struct joint_space *space = bounding->space;
	if (!space->bundle_most || state->must_begin)
		return 0;
	return checked_mul(&bounding->fits, space->bundle_most - count_used(state),
		plan_share(space, state->widest));
}

/* The least that is left, times the scale; JOINT_NEVER: nothing leads to an end below the claim. */
static int64_t bounding_rest(struct bounding *bounding, const struct bound_state *state)
{
	const struct plan_relaxed *relaxed = bounding->relaxed;
	const struct plan_cut *cut = cut_of(bounding, state);
	size_t index = 0;
	for (int k = 0; k < cut->count; k++) {
		bool hbm = state->place[k] & BIT_HBM;
		int view = bound_state_view(state, k), t = cut->tensors[k];
		if (!hbm && view < 0 && bounding_is_needed(bounding, t, false, state->cut))
			return JOINT_NEVER;
		index += cut->unit[k] * (size_t)plan_code(relaxed->cuts, t, hbm, view);
	}
	int64_t rest = relaxed->least[state->cut][index];
	return rest == JOINT_NEVER ? rest : number_max(rest - find_credit(bounding, state), 0);
}

/* Returns the entry of the table that lists the nodes with the places of a state. */
static uint32_t *places_of(const struct bounding *bounding, const struct bound_state *state)
{
	uint64_t hash = HASH_START + state->cut;
	for (int k = 0; k < PLAN_CROSSING_MOST; k++)
		hash = hash_add(hash, state->place[k]);
	hash ^= hash >> 29;
	for (size_t s = (size_t)hash;; s++) {
		uint32_t *first = &bounding->places[s & (bounding->place_count - 1)];
		if (!*first)
			return first;
		const struct bound_state *other = &bounding->nodes.at[*first - 1].state;
		if (other->cut == state->cut &&
			!memcmp(other->place, state->place, sizeof other->place))
			return first;
	}
}

static void bounding_list(struct bounding *bounding, uint32_t i)
{
	uint32_t *first = places_of(bounding, &bounding->nodes.at[i].state);
	bounding->nodes.at[i].next = *first;
	*first = i + 1;
}

static void grow_places(struct bounding *bounding)
{
	bounding->place_count = bounding->place_count ? 2 * bounding->place_count : 1 << 12;
	bounding->places = arena_array(bounding->arena, uint32_t, bounding->place_count);
	for (size_t i = 0; i < bounding->nodes.count; i++)
		bounding_list(bounding, (uint32_t)i);
}

/* True if all that can follow b can follow a at no more in all: in a bundle that a begins, which costs no
 * more than what b's costs already; or in a's own, which uses no tensor that b's does not, and can be made as
 * wide. */
static bool joint_space_is_no_worse(
	const struct joint_space *space, const struct bound_node *a, const struct bound_node *b)
{
	int64_t wider = b->state.widest > a->state.widest ? b->state.widest - a->state.widest : 0;
	int64_t saved = b->value - a->value;
	if (b->state.must_begin)
		return saved >= 0;
	if (saved >= space->bundle_value + space->core_value * b->state.widest)
		return true;
	return !a->state.must_begin && !(a->state.used & ~b->state.used) &&
	       a->state.gone <= b->state.gone && saved >= space->core_value * wider;
}

static bool is_beaten(const struct bounding *bounding, const struct bound_node *node)
{
	const struct bound_node *nodes = bounding->nodes.at;
	for (uint32_t i = *places_of(bounding, &node->state); i; i = nodes[i - 1].next)
		if (nodes[i - 1].was_done && &nodes[i - 1] != node &&
			joint_space_is_no_worse(bounding->space, &nodes[i - 1], node))
			return true;
	return false;
}

/* The number of the node of a state, new or not. */
static uint32_t bounding_intern(struct bounding *bounding, const struct bound_state *state)
{
	if (2 * bounding->nodes.count >= bounding->place_count)
		grow_places(bounding);
	for (uint32_t i = *places_of(bounding, state); i; i = bounding->nodes.at[i - 1].next)
		if (!memcmp(&bounding->nodes.at[i - 1].state, state, sizeof *state))
			return i - 1;
	struct bound_node *node = array_add(bounding->arena, &bounding->nodes);
	*node = (struct bound_node){.state = *state, .value = JOINT_NEVER};
	bounding_list(bounding, (uint32_t)bounding->nodes.count - 1);
	return (uint32_t)bounding->nodes.count - 1;
}

/* Adds what the state is reached by, if it may lead below the claim. */
static void bound_reach(struct bounding *bounding, uint32_t from, const struct bound_state *state,
	int64_t value, struct joint_step step)
{
	int64_t rest = bounding_rest(bounding, state);
	if (rest == JOINT_NEVER)
		return;
	int64_t least = checked_add(&bounding->fits,
		checked_mul(&bounding->fits, value, bounding->relaxed->scale), rest);
	if (least >= bounding->limit)
		return;
	uint32_t i = bounding_intern(bounding, state);
	struct bound_node *node = &bounding->nodes.at[i];
	if (node->value <= value)
		return;
	node->value = value;
	node->from = from;
	node->step = step;
	node->done = false;
	bounding_push(bounding, (struct bound_open){least, i});
}

struct effect {
	struct bound_state state;
	uint16_t used;          /* of the tensors at the cut behind it: what it uses in HBM */
	int gone, again, cores; /* others that it uses; again: some that the bundle has counted */
	int64_t value;
	bool alone; /* nothing that it uses counts */
	struct joint_step step;
};

/* In the bundle that there is, and in one that begins. */
static void effect_take(struct bounding *bounding, uint32_t from, const struct effect *effect)
{
	const struct joint_space *space = bounding->space;
	const struct bound_state before = bounding->nodes.at[from].state;
	int64_t value = checked_add(&bounding->fits, bounding->nodes.at[from].value, effect->value);
	for (int begins = before.must_begin || effect->alone; begins <= 1; begins++) {
		struct bound_state state = effect->state;
		struct joint_step step = effect->step;
		int widest = begins ? 0 : before.widest, wider = effect->cores;
		wider = wider > widest ? wider : widest;
		state.used = effect->used | (begins ? 0 : state.used);
		state.gone = (uint16_t)(effect->gone + (begins ? effect->again : state.gone));
		state.widest = (uint16_t)wider;
		if (space->bundle_most && !effect->alone && count_used(&state) > space->bundle_most)
			continue;
		if (!space->bundle_most || effect->alone)
			state.used = state.gone = 0;
		step.begins_bundle = begins;
		int64_t more = checked_mul(&bounding->fits, space->core_value, wider - widest);
		more = checked_add(&bounding->fits, more, begins ? space->bundle_value : 0);
		bound_reach(bounding, from + 1, &state, checked_add(&bounding->fits, value, more),
			step);
	}
}

/* The bytes in LX of the tensors of a state, and their sum. */
struct bound_bytes {
	int64_t sum, of[PLAN_CROSSING_MOST];
};

static void bytes_in_lx(
	const struct bounding *bounding, const struct bound_state *state, struct bound_bytes *bytes)
{
	const struct plan_cut *cut = cut_of(bounding, state);
	bytes->sum = 0;
	for (int k = 0; k < cut->count; k++) {
		int view = bound_state_view(state, k);
		bytes->of[k] = view < 0 ? 0 : bounding->space->tensors[cut->tensors[k]].bytes[view];
		bytes->sum += bytes->of[k];
	}
}

/* True if `room` bytes hold what is left without some tensors, and with any one of these do not. */
static bool is_least_drop(const struct bound_bytes *bytes, unsigned dropped, int64_t room)
{
	int64_t left = bytes->sum, least = INT64_MAX;
	for (unsigned k = 0; dropped >> k; k++)
		if (dropped >> k & 1) {
			left -= bytes->of[k];
			least = number_min(least, bytes->of[k]);
		}
	return left <= room && (!dropped || left + least > room);
}

/* The next set of tensors of `all` behind one, the empty one at last. */
static unsigned next_set(unsigned set, unsigned all)
{
	return (set - all) & all;
}

/* The same of the sets that may be a least drop: the empty one alone, if there is room for all. */
static unsigned next_drop(
	const struct bound_bytes *bytes, unsigned dropped, unsigned all, int64_t room)
{
	return bytes->sum <= room ? 0 : next_set(dropped, all);
}

static uint16_t in_lx(const struct bounding *bounding, const struct bound_state *state)
{
	unsigned set = 0;
	for (int k = 0; k < cut_of(bounding, state)->count; k++)
		if (bound_state_view(state, k) >= 0)
			set |= 1u << k;
	return (uint16_t)set;
}

static void bound_state_forget(struct bound_state *state, unsigned dropped)
{
	for (int k = 0; dropped >> k; k++)
		if (dropped >> k & 1)
			set_view(state, k, -1);
}

/* --- evictions and relays */

static void bounding_evict(struct bounding *bounding, uint32_t from, int k)
{
	struct bound_state before = bounding->nodes.at[from].state;
	int t = cut_of(bounding, &before)->tensors[k], view = bound_state_view(&before, k);
	const struct joint_tensor *tensor = &bounding->space->tensors[t];
	if (before.place[k] & BIT_HBM || tensor->evict[view] == JOINT_NEVER)
		return;
	struct effect effect = {.state = before,
		.used = (uint16_t)(1u << k),
		.cores = tensor->cores[view],
		.value = tensor->evict[view],
		.step = {.kind = JOINT_EVICT, .tensor = t}};
	effect.state.place[k] |= BIT_HBM;
	effect.state.must_begin = 0;
	effect_take(bounding, from, &effect);
}

static void bounding_relay(struct bounding *bounding, uint32_t from, int k, int to)
{
	struct bound_state before = bounding->nodes.at[from].state;
	int t = cut_of(bounding, &before)->tensors[k], view = bound_state_view(&before, k);
	const struct joint_tensor *tensor = &bounding->space->tensors[t];
	int64_t value = tensor->relay[view * tensor->view_count + to];
	int64_t room = bounding->space->capacity - tensor->bytes[to];
	unsigned free = in_lx(bounding, &before) & ~(1u << k), dropped = 0;
	struct bound_bytes bytes;
	if (to == view || value == JOINT_NEVER)
		return;
	bytes_in_lx(bounding, &before, &bytes);
	do {
		struct effect effect = {.state = before,
			.cores = tensor->cores[view] > tensor->cores[to] ? tensor->cores[view]
									 : tensor->cores[to],
			.value = value,
			.step = {.kind = JOINT_RELAY, .tensor = t, .view = to}};
		bound_state_forget(&effect.state, dropped);
		set_view(&effect.state, k, to);
		effect.state.must_begin = 0;
		if (is_least_drop(&bytes, dropped, room))
			effect_take(bounding, from, &effect);
		dropped = next_drop(&bytes, dropped, free, room);
	} while (dropped);
}

/* --- options */

static void pass_on(const struct bounding *bounding, int end, const struct bound_state *before,
	struct bound_state *state)
{
	const struct plan_cut *was = cut_of(bounding, before);
	memset(state, 0, sizeof *state);
	state->cut = (uint16_t)end;
	const struct plan_cut *is = cut_of(bounding, state);
	state->gone = before->gone;
	for (int k = 0; k < is->count; k++)
		if (bounding->space->tensors[is->tensors[k]].producer < 0)
			state->place[k] = BIT_HBM;
	for (int k = 0; k < was->count; k++) {
		int to = plan_cut_find(is, was->tensors[k]);
		bool used = before->used >> k & 1;
		if (to >= 0)
			state->place[to] = before->place[k];
		if (to >= 0)
			state->used |= (uint16_t)((unsigned)used << to);
		else
			state->gone = (uint16_t)(state->gone + used);
	}
}

/* Notes the uses in HBM: of the tensors behind the step, and of those that no later op needs. */
static void note_used(const struct bounding *bounding, const struct bound_state *before, int t,
	struct effect *effect)
{
	int to = plan_cut_find(cut_of(bounding, &effect->state), t);
	int was = plan_cut_find(cut_of(bounding, before), t);
	if (to >= 0)
		effect->used |= (uint16_t)(1u << to);
	else if (was >= 0 && before->used >> was & 1)
		effect->again++;
	else
		effect->gone++;
}

static void make_outs(const struct bounding *bounding, const struct joint_option *option,
	struct bound_state *state)
{
	for (int i = 0; i < option->out_count; i++) {
		const struct joint_out *out = &option->outs[i];
		int to = plan_cut_find(cut_of(bounding, state), out->tensor);
		if (to < 0)
			continue;
		if (out->view < 0)
			state->place[to] |= BIT_HBM;
		else
			set_view(state, to, out->view);
	}
}

static void drop_dead(const struct bounding *bounding, struct bound_state *state)
{
	const struct plan_cut *cut = cut_of(bounding, state);
	for (int k = 0; k < cut->count; k++)
		if (!bounding_is_needed(
			    bounding, cut->tensors[k], state->place[k] & BIT_HBM, state->cut))
			set_view(state, k, -1);
}

/* Once what is not in `before` is dropped; outs in `in_place` take over bytes of what is dropped with the step. */
static void carry_out(struct bounding *bounding, uint32_t from, struct bound_state before,
	size_t number, unsigned in_place)
{
	const struct joint_option *option = &bounding->space->options[number];
	struct effect effect = {.cores = option->cores,
		.value = option->value,
		.step = {.kind = JOINT_OPTION, .option = number}};
	pass_on(bounding, option->end, &before, &effect.state);
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		int to = plan_cut_find(cut_of(bounding, &effect.state), use->tensor);
		if (to >= 0 && use->mode != JOINT_RESIDENT)
			effect.state.place[to] |= BIT_HBM;
		if (to >= 0 && use->mode == JOINT_MOVED)
			set_view(&effect.state, to, use->view);
		if (use->mode != JOINT_RESIDENT)
			note_used(bounding, &before, use->tensor, &effect);
	}
	for (int i = 0; i < option->out_count; i++) {
		const struct joint_out *out = &option->outs[i];
		if (in_place >> i & 1) {
			int t = option->uses[out->in_place].tensor;
			int to = plan_cut_find(cut_of(bounding, &effect.state), t);
			if (to >= 0)
				set_view(&effect.state, to, -1);
		}
		if (out->view < 0)
			note_used(bounding, &before, out->tensor, &effect);
	}
	make_outs(bounding, option, &effect.state);
	for (int a = 0; a < option->argument_count; a++)
		note_used(bounding, &before, option->arguments[a], &effect);
	drop_dead(bounding, &effect.state);
	effect.state.must_begin = option->ends_bundle;
	effect.alone = option->alone;
	effect_take(bounding, from, &effect);
}

/* True if every use finds its tensor; `kept` is what must stay in LX, `cleared` what must not be there. */
static bool finds_all(const struct bounding *bounding, const struct bound_state *before,
	const struct joint_option *option, uint16_t *kept, uint16_t *cleared)
{
	*kept = *cleared = 0;
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		const struct joint_tensor *tensor = &bounding->space->tensors[use->tensor];
		int k = plan_cut_find(cut_of(bounding, before), use->tensor);
		bool hbm = k < 0 ? tensor->producer < 0 : before->place[k] & BIT_HBM;
		int view = k < 0 ? -1 : bound_state_view(before, k);
		if (use->mode != JOINT_RESIDENT && !hbm)
			return false;
		if (use->mode == JOINT_RESIDENT &&
			(view < 0 || !tensor->serves[view * tensor->view_count + use->view]))
			return false;
		if (use->mode == JOINT_RESIDENT)
			*kept |= (uint16_t)(1u << k);
		if (use->mode == JOINT_MOVED && k >= 0)
			*cleared |= (uint16_t)(1u << k);
	}
	return true;
}

/* Bytes that the option needs beside what is there; less where outs in `in_place` take over what a use has. */
static int64_t bounding_room(struct bounding *bounding, const struct bound_state *before,
	const struct joint_option *option, unsigned in_place)
{
	const struct joint_space *space = bounding->space;
	int64_t room = option->room;
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].mode == JOINT_MOVED)
			room = checked_add(&bounding->fits, room,
				space->tensors[option->uses[u].tensor].bytes[option->uses[u].view]);
	for (int i = 0; i < option->out_count; i++) {
		const struct joint_out *out = &option->outs[i];
		if (out->view < 0)
			continue;
		int64_t made = space->tensors[out->tensor].bytes[out->view], had = 0;
		if (in_place >> i & 1) {
			const struct joint_use *use = &option->uses[out->in_place];
			int k = plan_cut_find(cut_of(bounding, before), use->tensor);
			int view =
				use->mode == JOINT_MOVED ? use->view : bound_state_view(before, k);
			had = space->tensors[use->tensor].bytes[view];
		}
		room = checked_add(&bounding->fits, room, made > had ? made - had : 0);
	}
	return room;
}

/* Outs that can take over the bytes of a use; in *free those whose use no later op needs. */
static unsigned can_take_over(const struct bounding *bounding, const struct bound_state *before,
	const struct joint_option *option, unsigned *free)
{
	unsigned can = 0;
	*free = 0;
	for (int i = 0; i < option->out_count; i++) {
		const struct joint_out *out = &option->outs[i];
		if (out->view < 0 || out->in_place < 0 ||
			option->uses[out->in_place].mode == JOINT_HBM)
			continue;
		int t = option->uses[out->in_place].tensor,
		    k = plan_cut_find(cut_of(bounding, before), t);
		if (option->uses[out->in_place].mode == JOINT_RESIDENT &&
			bound_state_view(before, k) != option->uses[out->in_place].view)
			continue;
		can |= 1u << i;
		if (!bounding_is_needed(
			    bounding, t, k < 0 || before->place[k] & BIT_HBM, option->end))
			*free |= 1u << i;
	}
	return can;
}

static bool touches_lx(const struct joint_option *option)
{
	bool touches = false;
	for (int u = 0; u < option->use_count; u++)
		touches |= option->uses[u].mode != JOINT_HBM;
	for (int i = 0; i < option->out_count; i++)
		touches |= option->outs[i].view >= 0;
	return touches;
}

/* Drops as little as the option leaves no room for, in every way.  Whether it has room for all. */
static bool drop_and_carry_out(struct bounding *bounding, uint32_t from,
	const struct bound_state *before, size_t number, unsigned in_place, unsigned free)
{
	const struct joint_option *option = &bounding->space->options[number];
	int64_t room =
		bounding->space->capacity - bounding_room(bounding, before, option, in_place);
	struct bound_bytes bytes;
	unsigned dropped = 0;
	bytes_in_lx(bounding, before, &bytes);
	do {
		if (is_least_drop(&bytes, dropped, room)) {
			struct bound_state left = *before;
			bound_state_forget(&left, dropped);
			carry_out(bounding, from, left, number, in_place);
		}
		dropped = next_drop(&bytes, dropped, free, room);
	} while (dropped);
	return bytes.sum <= room;
}

static void take_option(struct bounding *bounding, uint32_t from, size_t number)
{
	struct bound_state before = bounding->nodes.at[from].state;
	const struct joint_option *option = &bounding->space->options[number];
	uint16_t kept, cleared;
	unsigned free;
	if (!finds_all(bounding, &before, option, &kept, &cleared))
		return;
	if (option->empties) {
		if (touches_lx(option))
			return;
		cleared = in_lx(bounding, &before);
	}
	for (int k = 0; k < cut_of(bounding, &before)->count; k++)
		if (!(kept >> k & 1) &&
			!bounding_is_needed(bounding, cut_of(bounding, &before)->tensors[k],
				before.place[k] & BIT_HBM, option->end))
			cleared |= (uint16_t)(1u << k);
	bound_state_forget(&before, cleared);
	unsigned rest = can_take_over(bounding, &before, option, &free) & ~free, more = 0;
	unsigned droppable = in_lx(bounding, &before) & ~(unsigned)kept;
	while (!drop_and_carry_out(bounding, from, &before, number, free | more, droppable)) {
		more = next_set(more, rest);
		if (!more)
			break;
	}
}

/* All steps from a node. */
static void bound_steps(struct bounding *bounding, uint32_t node)
{
	struct bound_state state = bounding->nodes.at[node].state;
	for (int k = 0; k < cut_of(bounding, &state)->count; k++)
		if (bound_state_view(&state, k) >= 0) {
			int t = cut_of(bounding, &state)->tensors[k];
			bounding_evict(bounding, node, k);
			for (int to = 0; to < bounding->space->tensors[t].view_count; to++)
				bounding_relay(bounding, node, k, to);
		}
	if (state.cut == bounding->space->op_count)
		return;
	const size_t *first = &bounding->space->first_option[state.cut];
	for (size_t o = first[0]; o < first[1]; o++)
		take_option(bounding, node, o);
}

static bool is_end(const struct bounding *bounding, const struct bound_state *state)
{
	const struct plan_cut *cut = cut_of(bounding, state);
	bool end = state->cut == bounding->space->op_count;
	for (int k = 0; k < cut->count; k++)
		end = end && state->place[k] & BIT_HBM;
	return end;
}

static struct joint_answer bounding_trace(
	const struct bounding *bounding, uint32_t end, struct arena *arena)
{
	struct joint_answer answer = {.value = bounding->nodes.at[end].value};
	for (uint32_t i = end + 1; bounding->nodes.at[i - 1].from;
		i = bounding->nodes.at[i - 1].from)
		answer.count++;
	struct joint_step *steps = arena_array(arena, struct joint_step, answer.count);
	size_t at = answer.count;
	for (uint32_t i = end + 1; at; i = bounding->nodes.at[i - 1].from)
		steps[--at] = bounding->nodes.at[i - 1].step;
	answer.steps = steps;
	return answer;
}

/* An answer below the claim: whether it is one in truth. */
static void bounding_judge(
	struct bounding *bounding, uint32_t end, struct arena *arena, struct plan_bound *bound)
{
	const char *why = NULL;
	struct joint_answer answer = bounding_trace(bounding, end, arena);
	bound->answer = VERDICT_OPEN;
	int64_t value = joint_value(bounding->space, &answer, arena, &why);
	if (why || value != answer.value) {
		bound->why = arena_format(bounding->arena, "an answer below the claim is none: %s",
			why ? why : "it costs more");
		return;
	}
	bool packed = true;
	if (bounding->space->graph)
		packed = joint_pack(bounding->space, &answer, NULL, PACK_TICKS, arena).status ==
			 VERDICT_YES;
	bound->why = "an answer below the claim fits by its bytes, but no addresses were found";
	bound->witness = answer;
	if (packed)
		bound->answer = VERDICT_NO;
}

static void bounding_search(
	struct bounding *bounding, struct arena *arena, struct plan_bound *bound)
{
	uint64_t most = bounding->question->budget ? bounding->question->budget : PLAN_BOUND_STATES;
	bound->answer = VERDICT_YES;
	while (bounding->heap.count && bounding->fits) {
		struct bound_open open = bounding_pop(bounding);
		struct bound_node *node = &bounding->nodes.at[open.node];
		if (node->done || is_beaten(bounding, node))
			continue;
		bound->bound =
			(open.least + bounding->relaxed->scale - 1) / bounding->relaxed->scale;
		bound->states = bounding->nodes.count;
		if (bound->states > most || stopper_stops(&bounding->question->stopper)) {
			bound->answer = VERDICT_OPEN;
			bound->why = bound->states > most ? "the budget of states ended"
							  : "it was asked to stop";
			return;
		}
		node->done = node->was_done = true;
		if (is_end(bounding, &node->state)) {
			bounding_judge(bounding, open.node, arena, bound);
			return;
		}
		bound_steps(bounding, open.node);
	}
	bound->bound = bounding->question->claim;
	bound->states = bounding->nodes.count;
}

/* True if all numbers of the space fit into those of a state. */
static bool is_small(const struct joint_space *space)
{
	bool small = space->op_count <= NUMBERS_MOST;
	for (int t = 0; t < space->tensor_count; t++)
		small &= space->tensors[t].view_count <= NUMBERS_MOST;
	for (size_t o = 0; o < space->option_count; o++)
		small &= space->options[o].cores <= NUMBERS_MOST;
	return small;
}

struct plan_bound plan_bound_find(const struct plan_bound_question *question, struct arena *arena)
{
	struct plan_bound bound = {.answer = VERDICT_OPEN};
	struct bounding bounding = {.question = question,
		.space = question->space,
		.arena = arena_open(),
		.fits = true};
	bound.why = "it has more ops, views or cores than the check can number";
	int64_t scale = question->space->bundle_most ? question->space->bundle_most : 1;
	bounding.limit = checked_mul(&bounding.fits, question->claim, scale);
	if (is_small(question->space) && bounding.fits)
		bounding.relaxed = plan_relaxed_make(question->space,
			question->entries ? question->entries : PLAN_ENTRIES_MOST,
			&question->stopper, bounding.arena, &bound.why);
	if (bounding.relaxed) {
		bound.why = NULL;
		struct bound_state start;
		memset(&start, 0, sizeof start);
		start.must_begin = 1;
		bound_reach(&bounding, 0, &start, 0, (struct joint_step){0});
		bounding_search(&bounding, arena, &bound);
	}
	if (!bounding.fits)
		bound = (struct plan_bound){
			.answer = VERDICT_OPEN, .why = "a sum does not fit into 64 bits"};
	if (bound.why)
		bound.why = arena_text(arena, bound.why);
	arena_close(bounding.arena);
	return bound;
}
