#include "search/claim/plan_state.h"

#include <string.h>

struct effect {
	struct bound_state state;
	uint16_t used;          /* of the tensors at the cut behind it: what it uses in HBM */
	int gone, again, cores; /* others that it uses; again: some that the bundle has counted */
	int64_t value;
	bool alone; /* nothing that it uses counts */
	struct joint_step step;
};

/* In the bundle that there is, and in one that begins. */
static void take(struct bounding *bounding, uint32_t from, const struct effect *effect)
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

static int64_t bytes_of(const struct bounding *bounding, const struct bound_state *state, int k)
{
	int view = view_of(state, k);
	return view < 0 ? 0
			: bounding->space->tensors[cut_of(bounding, state)->tensors[k]].bytes[view];
}

static int64_t bytes_but(
	const struct bounding *bounding, const struct bound_state *state, unsigned dropped)
{
	int64_t bytes = 0;
	for (int k = 0; k < cut_of(bounding, state)->count; k++)
		if (!(dropped >> k & 1))
			bytes += bytes_of(bounding, state, k);
	return bytes;
}

/* True if `room` bytes hold what is left without some tensors, and with any one of these do not. */
static bool is_least_drop(const struct bounding *bounding, const struct bound_state *state,
	unsigned dropped, int64_t room)
{
	bool least = bytes_but(bounding, state, dropped) <= room;
	for (unsigned left = dropped; left && least; left &= left - 1)
		least = bytes_but(bounding, state, dropped & ~(left & -left)) > room;
	return least;
}

/* The next set of tensors of `all` behind one, the empty one at last. */
static unsigned next_set(unsigned set, unsigned all)
{
	return (set - all) & all;
}

static uint16_t in_lx(const struct bounding *bounding, const struct bound_state *state)
{
	unsigned set = 0;
	for (int k = 0; k < cut_of(bounding, state)->count; k++)
		if (view_of(state, k) >= 0)
			set |= 1u << k;
	return (uint16_t)set;
}

static void forget(struct bound_state *state, unsigned dropped)
{
	for (int k = 0; k < PLAN_CROSSING_MOST; k++)
		if (dropped >> k & 1)
			set_view(state, k, -1);
}

/* --- evictions and relays */

static void evict(struct bounding *bounding, uint32_t from, int k)
{
	struct bound_state before = bounding->nodes.at[from].state;
	int t = cut_of(bounding, &before)->tensors[k], view = view_of(&before, k);
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
	take(bounding, from, &effect);
}

static void relay(struct bounding *bounding, uint32_t from, int k, int to)
{
	struct bound_state before = bounding->nodes.at[from].state;
	int t = cut_of(bounding, &before)->tensors[k], view = view_of(&before, k);
	const struct joint_tensor *tensor = &bounding->space->tensors[t];
	int64_t value = tensor->relay[view * tensor->view_count + to];
	int64_t room = bounding->space->capacity - tensor->bytes[to];
	unsigned free = in_lx(bounding, &before) & ~(1u << k), dropped = 0;
	if (to == view || value == JOINT_NEVER)
		return;
	do {
		struct effect effect = {.state = before,
			.cores = tensor->cores[view] > tensor->cores[to] ? tensor->cores[view]
									 : tensor->cores[to],
			.value = value,
			.step = {.kind = JOINT_RELAY, .tensor = t, .view = to}};
		forget(&effect.state, dropped);
		set_view(&effect.state, k, to);
		effect.state.must_begin = 0;
		if (is_least_drop(bounding, &before, dropped, room))
			take(bounding, from, &effect);
		dropped = next_set(dropped, free);
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

/* What is used in HBM: of the tensors behind the step, and of those that nobody needs then. */
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
		if (!is_needed(bounding, cut->tensors[k], state->place[k] & BIT_HBM, state->cut))
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
	take(bounding, from, &effect);
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
		int view = k < 0 ? -1 : view_of(before, k);
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
static int64_t room_of(struct bounding *bounding, const struct bound_state *before,
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
			int view = use->mode == JOINT_MOVED ? use->view : view_of(before, k);
			had = space->tensors[use->tensor].bytes[view];
		}
		room = checked_add(&bounding->fits, room, made > had ? made - had : 0);
	}
	return room;
}

/* Outs that can take over the bytes of a use; in *free those whose use nobody needs afterwards. */
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
			view_of(before, k) != option->uses[out->in_place].view)
			continue;
		can |= 1u << i;
		if (!is_needed(bounding, t, k < 0 || before->place[k] & BIT_HBM, option->end))
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
	int64_t room = bounding->space->capacity - room_of(bounding, before, option, in_place);
	unsigned dropped = 0;
	do {
		struct bound_state left = *before;
		forget(&left, dropped);
		if (is_least_drop(bounding, before, dropped, room))
			carry_out(bounding, from, left, number, in_place);
		dropped = next_set(dropped, free);
	} while (dropped);
	return bytes_but(bounding, before, 0) <= room;
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
		if (!(kept >> k & 1) && !is_needed(bounding, cut_of(bounding, &before)->tensors[k],
						before.place[k] & BIT_HBM, option->end))
			cleared |= (uint16_t)(1u << k);
	forget(&before, cleared);
	unsigned rest = can_take_over(bounding, &before, option, &free) & ~free, more = 0;
	unsigned droppable = in_lx(bounding, &before) & ~(unsigned)kept;
	while (!drop_and_carry_out(bounding, from, &before, number, free | more, droppable)) {
		more = next_set(more, rest);
		if (!more)
			break;
	}
}

/* --- all */

void bound_steps(struct bounding *bounding, uint32_t node)
{
	struct bound_state state = bounding->nodes.at[node].state;
	for (int k = 0; k < cut_of(bounding, &state)->count; k++)
		if (view_of(&state, k) >= 0) {
			int t = cut_of(bounding, &state)->tensors[k];
			evict(bounding, node, k);
			for (int to = 0; to < bounding->space->tensors[t].view_count; to++)
				relay(bounding, node, k, to);
		}
	if (state.cut == bounding->space->op_count)
		return;
	const size_t *first = &bounding->space->first_option[state.cut];
	for (size_t o = first[0]; o < first[1]; o++)
		take_option(bounding, node, o);
}
