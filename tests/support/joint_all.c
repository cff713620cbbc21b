#include "tests/support/joint_all.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"

#include <string.h>

enum { IN_HBM = 1, VIEW = 2 }; /* where a tensor is: a bit, and VIEW x (view + 1) of LX */

struct all_state {
	uint8_t place[JOINT_ALL_TENSORS];
	uint32_t used; /* in HBM, by the bundle */
	int16_t at, widest;
	int16_t step; /* of a given answer; else 0 */
	uint8_t must_begin, pad;
};

struct all_node {
	struct all_state state;
	int64_t value;
	size_t from; /* a node + 1; 0: the start */
	struct joint_step step;
	bool is_step; /* else something was dropped */
	bool done;
	size_t next; /* of the same hash, + 1 */
};

struct all_open {
	int64_t value;
	size_t node;
};

struct searching {
	const struct joint_space *space;
	const struct joint_answer *given; /* only its steps are taken; NULL: all */
	struct arena *arena;
	struct array(struct all_node) nodes;
	struct array(struct all_open) heap;
	size_t *slots; /* by hash: a node + 1 */
	size_t slot_count;
};

/* --- the heap, by value, then by node */

static bool is_less(struct all_open a, struct all_open b)
{
	return a.value != b.value ? a.value < b.value : a.node < b.node;
}

static void push(struct searching *searching, struct all_open open)
{
	array_add(searching->arena, &searching->heap);
	struct all_open *heap = searching->heap.at;
	size_t i = searching->heap.count - 1;
	for (; i && is_less(open, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = open;
}

static struct all_open pop(struct searching *searching)
{
	struct all_open *heap = searching->heap.at, top = heap[0];
	size_t count = --searching->heap.count, i = 0;
	struct all_open last = heap[count];
	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && is_less(heap[child + 1], heap[child]))
			child++;
		if (!is_less(heap[child], last))
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
	return top;
}

/* --- states */

static size_t *slot_of(const struct searching *searching, const struct all_state *state)
{
	const unsigned char *bytes = (const unsigned char *)state;
	uint64_t hash = HASH_START;
	uint32_t word;
	for (size_t i = 0; i < sizeof *state; i += sizeof word) {
		memcpy(&word, bytes + i, sizeof word);
		hash = hash_add(hash, word);
	}
	return &searching->slots[(size_t)(hash >> 20) & (searching->slot_count - 1)];
}

static void list_all_node(struct searching *searching, size_t i)
{
	size_t *slot = slot_of(searching, &searching->nodes.at[i].state);
	searching->nodes.at[i].next = *slot;
	*slot = i + 1;
}

static void grow_slots(struct searching *searching)
{
	searching->slot_count = searching->slot_count ? 4 * searching->slot_count : 1 << 8;
	searching->slots = arena_array(searching->arena, size_t, searching->slot_count);
	for (size_t i = 0; i < searching->nodes.count; i++)
		list_all_node(searching, i);
}

static void reach(struct searching *searching, size_t from, const struct all_state *state,
	int64_t value, const struct joint_step *step)
{
	if (searching->nodes.count >= searching->slot_count)
		grow_slots(searching);
	size_t i = *slot_of(searching, state);
	while (i && memcmp(&searching->nodes.at[i - 1].state, state, sizeof *state) != 0)
		i = searching->nodes.at[i - 1].next;
	if (i && searching->nodes.at[i - 1].value <= value)
		return;
	if (!i) {
		struct all_node *made = array_add(searching->arena, &searching->nodes);
		made->state = *state;
		i = searching->nodes.count;
		list_all_node(searching, i - 1);
	}
	struct all_node *node = &searching->nodes.at[i - 1];
	if (node->done)
		BUG("a step has a negative cost");
	node->value = value;
	node->from = from;
	node->is_step = step != NULL;
	if (step)
		node->step = *step;
	push(searching, (struct all_open){value, i - 1});
}

static int held(const struct all_state *state, int tensor)
{
	return state->place[tensor] / VIEW - 1;
}

static void hold(struct all_state *state, int tensor, int view)
{
	state->place[tensor] = (uint8_t)((state->place[tensor] & IN_HBM) | VIEW * (view + 1));
}

static int64_t bytes_held(const struct joint_space *space, const struct all_state *state)
{
	int64_t bytes = 0;
	for (int t = 0; t < space->tensor_count; t++)
		if (held(state, t) >= 0)
			bytes += space->tensors[t].bytes[held(state, t)];
	return bytes;
}

static int count_bits(uint32_t bits)
{
	int count = 0;
	for (; bits; bits &= bits - 1)
		count++;
	return count;
}

/* --- steps */

static bool is_given(const struct searching *searching, size_t from, const struct joint_step *step)
{
	size_t i = (size_t)searching->nodes.at[from].state.step;
	if (i == searching->given->count)
		return false;
	const struct joint_step *given = &searching->given->steps[i];
	return step->kind == given->kind && step->begins_bundle == given->begins_bundle &&
	       (step->kind == JOINT_OPTION ? step->option == given->option
					   : step->tensor == given->tensor) &&
	       (step->kind != JOINT_RELAY || step->view == given->view);
}

/* A step of `cores` that uses these tensors in HBM and leads to `after`: of the same bundle, and of one
 * of its own. */
static void take(struct searching *searching, size_t from, const struct all_state *after,
	int64_t value, uint32_t used, int cores, bool alone, struct joint_step step)
{
	const struct joint_space *space = searching->space;
	const struct all_node *node = &searching->nodes.at[from];
	bool must = node->state.must_begin;
	value += node->value;
	for (int begins = must || alone; begins <= 1; begins++) {
		struct all_state state = *after;
		int widest = begins ? 0 : state.widest;
		state.used = (begins ? 0 : state.used) | used;
		state.widest = (int16_t)(cores > widest ? cores : widest);
		if (alone)
			state.used = 0;
		else if (space->bundle_most && count_bits(state.used) > space->bundle_most)
			continue;
		step.begins_bundle = begins;
		if (searching->given && !is_given(searching, from, &step))
			continue;
		state.step = (int16_t)(state.step + (searching->given != NULL));
		reach(searching, from + 1, &state,
			value + (begins ? space->bundle_value : 0) +
				space->core_value * (state.widest - widest),
			&step);
	}
}

static void drop(struct searching *searching, size_t from)
{
	for (int t = 0; t < searching->space->tensor_count; t++) {
		struct all_state state = searching->nodes.at[from].state;
		if (held(&state, t) < 0)
			continue;
		hold(&state, t, -1);
		reach(searching, from + 1, &state, searching->nodes.at[from].value, NULL);
	}
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static void relay_and_evict(struct searching *searching, size_t from)
{
	const struct joint_space *space = searching->space;
	struct all_state before = searching->nodes.at[from].state;
	int64_t bytes = bytes_held(space, &before);
	before.must_begin = 0;
	for (int t = 0; t < space->tensor_count; t++) {
		const struct joint_tensor *tensor = &space->tensors[t];
		int view = held(&before, t);
		if (view < 0)
			continue;
		for (int to = 0; to < tensor->view_count; to++) {
			struct all_state after = before;
			int64_t value = tensor->relay[view * tensor->view_count + to];
			if (to == view || value == JOINT_NEVER ||
				bytes + tensor->bytes[to] > space->capacity)
				continue;
			hold(&after, t, to);
			take(searching, from, &after, value, 0,
				larger(tensor->cores[view], tensor->cores[to]), false,
				(struct joint_step){.kind = JOINT_RELAY, .tensor = t, .view = to});
		}
		if (!(before.place[t] & IN_HBM) && tensor->evict[view] != JOINT_NEVER) {
			struct all_state after = before;
			after.place[t] |= IN_HBM;
			take(searching, from, &after, tensor->evict[view], (uint32_t)1 << t,
				tensor->cores[view], false,
				(struct joint_step){.kind = JOINT_EVICT, .tensor = t});
		}
	}
}

/* Applies the option, and sets *room to the bytes of LX that it needs; false if it cannot be taken.
 * The outs in `place` take over the bytes of uses that are dropped with the step. */
static bool apply(const struct joint_space *space, const struct joint_option *option,
	unsigned place, struct all_state *state, int64_t *room, uint32_t *used)
{
	*used = 0;
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		const struct joint_tensor *tensor = &space->tensors[use->tensor];
		int view = held(state, use->tensor);
		if (use->mode == JOINT_RESIDENT) {
			if (view < 0 || !tensor->serves[view * tensor->view_count + use->view])
				return false;
			continue;
		}
		if (!(state->place[use->tensor] & IN_HBM))
			return false;
		*used |= (uint32_t)1 << use->tensor;
		if (use->mode == JOINT_MOVED && view >= 0)
			return false; /* it is dropped first */
		if (use->mode == JOINT_MOVED)
			hold(state, use->tensor, use->view);
	}
	*room = bytes_held(space, state) + option->room;
	for (int o = 0; o < option->out_count; o++) {
		const struct joint_out *out = &option->outs[o];
		if (out->view < 0) {
			state->place[out->tensor] |= IN_HBM;
			*used |= (uint32_t)1 << out->tensor;
			continue;
		}
		int64_t bytes = space->tensors[out->tensor].bytes[out->view];
		*room += bytes;
		if (place & 1u << o) {
			const struct joint_use *use = &option->uses[out->in_place];
			int t = use->tensor, view = held(state, t);
			if (view != use->view)
				return false;
			int64_t old = space->tensors[t].bytes[view];
			*room -= old < bytes ? old : bytes;
			hold(state, t, -1);
		}
		hold(state, out->tensor, out->view);
	}
	for (int a = 0; a < option->argument_count; a++)
		*used |= (uint32_t)1 << option->arguments[a];
	return true;
}

static bool is_empty(const struct joint_space *space, const struct all_state *state)
{
	for (int t = 0; t < space->tensor_count; t++)
		if (held(state, t) >= 0)
			return false;
	return true;
}

static unsigned places(const struct joint_option *option)
{
	unsigned can = 0;
	for (int o = 0; o < option->out_count; o++)
		if (option->outs[o].view >= 0 && option->outs[o].in_place >= 0)
			can |= 1u << o;
	return can;
}

static void take_options(struct searching *searching, size_t from)
{
	const struct joint_space *space = searching->space;
	int at = searching->nodes.at[from].state.at;
	if (at == space->op_count)
		return;
	for (size_t i = space->first_option[at]; i < space->first_option[at + 1]; i++) {
		const struct joint_option *option = &space->options[i];
		unsigned can = places(option);
		for (unsigned place = 0; place <= can; place++) {
			struct all_state state = searching->nodes.at[from].state;
			int64_t room;
			uint32_t used;
			if ((place & ~can) || (option->empties && !is_empty(space, &state)) ||
				!apply(space, option, place, &state, &room, &used) ||
				room > space->capacity ||
				(option->empties && !is_empty(space, &state)))
				continue;
			state.at = (int16_t)option->end;
			state.must_begin = option->ends_bundle;
			take(searching, from, &state, option->value, used, option->cores,
				option->alone,
				(struct joint_step){.kind = JOINT_OPTION, .option = i});
		}
	}
}

/* --- the search */

static bool is_end(const struct searching *searching, const struct all_state *state)
{
	const struct joint_space *space = searching->space;
	if (state->at < space->op_count)
		return false;
	if (searching->given && (size_t)state->step < searching->given->count)
		return false;
	for (int t = 0; t < space->tensor_count; t++)
		if (space->tensors[t].output && !(state->place[t] & IN_HBM))
			return false;
	return true;
}

static struct joint_answer trace(const struct searching *searching, size_t end, struct arena *arena)
{
	struct joint_answer answer = {.value = searching->nodes.at[end].value};
	for (size_t i = end + 1; i; i = searching->nodes.at[i - 1].from)
		answer.count += searching->nodes.at[i - 1].is_step;
	struct joint_step *steps = arena_array(arena, struct joint_step, answer.count);
	size_t at = answer.count;
	for (size_t i = end + 1; i; i = searching->nodes.at[i - 1].from)
		if (searching->nodes.at[i - 1].is_step)
			steps[--at] = searching->nodes.at[i - 1].step;
	answer.steps = steps;
	return answer;
}

static void start(struct searching *searching)
{
	const struct joint_space *space = searching->space;
	struct all_state state;
	if (space->tensor_count > JOINT_ALL_TENSORS)
		BUG("%d tensors are more than %d", space->tensor_count, JOINT_ALL_TENSORS);
	memset(&state, 0, sizeof state);
	state.must_begin = 1;
	for (int t = 0; t < space->tensor_count; t++)
		if (space->tensors[t].producer < 0)
			state.place[t] = IN_HBM;
	reach(searching, 0, &state, 0, NULL);
}

static struct joint_all search(struct searching *searching, size_t most, struct arena *arena)
{
	struct joint_all all = {.known = true};
	searching->arena = arena_open();
	start(searching);
	while (searching->heap.count && !all.found && all.known) {
		struct all_open open = pop(searching);
		struct all_node *node = &searching->nodes.at[open.node];
		if (node->done)
			continue;
		node->done = true;
		all.known = all.states++ < most;
		all.found = is_end(searching, &node->state);
		if (all.found)
			all.answer = trace(searching, open.node, arena);
		drop(searching, open.node);
		relay_and_evict(searching, open.node);
		take_options(searching, open.node);
	}
	arena_close(searching->arena);
	return all;
}

struct joint_all joint_all(const struct joint_space *space, size_t most, struct arena *arena)
{
	return search(&(struct searching){.space = space}, most, arena);
}

int64_t joint_all_value(const struct joint_space *space, const struct joint_answer *answer)
{
	struct arena *arena = arena_open();
	struct searching searching = {.space = space, .given = answer};
	struct joint_all all = search(&searching, SIZE_MAX, arena);
	arena_close(arena);
	return all.found ? all.answer.value : JOINT_NEVER;
}
