#include "solvers/joint/cut_dp/step.h"

#include "base/arena.h"
#include "solvers/joint/cut_dp/menu.h"

#include <string.h>

/* What options of a cut find in LX. */
struct demand {
	bool is_made;
	uint64_t in_lx; /* slots */
	bool **asked;   /* by slot, then view: one that serves it */
};

struct steps {
	const struct frame *frame;
	int64_t capacity;
	bool lazy, roomless;
	struct demand *demands; /* by cut */
	uint64_t *readers;      /* sets of moves that read in LX what is relayed */
	struct menus *menus;
	int8_t **
		sources; /* [from * cut_count + to][slot at to]: the slot at `from`; made when asked for */
};

/* A step that is being made, with what may be dropped for it. */
struct making {
	struct steps *steps;
	int cut;
	const uint16_t *codes;
	int64_t bytes; /* in LX while it runs, if nothing is dropped */
	int droppable_count;
	int droppable[CUT_SLOTS_MOST];
	const struct menu_move *move; /* NULL: a relay */
	int slot;                     /* of a relay */
	struct cut_step *step;
	step_visit *visit;
	void *context;
};

struct steps *steps_open(const struct frame *frame, struct arena *arena)
{
	struct steps *steps = arena_new(arena, struct steps);
	steps->frame = frame;
	steps->capacity = frame->space->capacity;
	steps->menus = menus_open(frame, arena);
	size_t most = 0;
	for (int c = 0; c < frame->space->op_count; c++)
		if (menus_words(steps->menus, c) > most)
			most = menus_words(steps->menus, c);
	steps->readers = arena_array(arena, uint64_t, (STEP_RELAYS_MOST + 1) * most);
	steps->demands = arena_array(arena, struct demand, frame->cut_count);
	steps->sources =
		arena_array(arena, int8_t *, (size_t)frame->cut_count * (size_t)frame->cut_count);
	return steps;
}

static const int8_t *sources_of(const struct steps *steps, int from, int to)
{
	const struct frame *frame = steps->frame;
	int8_t **sources = &steps->sources[(size_t)from * (size_t)frame->cut_count + (size_t)to];
	const struct cut *cut = &frame->cuts[to];
	if (*sources)
		return *sources;
	*sources = arena_array(frame->arena, int8_t, cut->slot_count + 1);
	for (int s = 0; s < cut->slot_count; s++)
		(*sources)[s] = (int8_t)frame_slot(frame, from, cut->tensors[s]);
	return *sources;
}

uint64_t steps_slots(const struct steps *steps, int from, int to, uint64_t slots)
{
	if (from == to || !slots)
		return slots;
	const int8_t *sources = sources_of(steps, from, to);
	uint64_t result = 0;
	for (int s = 0; s < steps->frame->cuts[to].slot_count; s++)
		if (sources[s] != CUT_NO_SLOT && slots >> sources[s] & 1)
			result |= UINT64_C(1) << s;
	return result;
}

static const struct joint_tensor *tensor_at(const struct making *making, int slot)
{
	const struct frame *frame = making->steps->frame;
	return &frame->space->tensors[frame->cuts[making->cut].tensors[slot]];
}

/* The codes where the step leads to. */
static void place_codes(struct making *making, uint64_t dropped)
{
	const struct frame *frame = making->steps->frame;
	struct cut_step *step = making->step;
	const struct cut *to = &frame->cuts[step->cut];
	const int8_t *sources = sources_of(making->steps, making->cut, step->cut);
	for (int s = 0; s < to->slot_count; s++) {
		uint16_t code = 0;
		if (sources[s] == CUT_NO_SLOT)
			code = cut_code(frame->space->tensors[to->tensors[s]].producer < 0, -1);
		else if (dropped >> sources[s] & 1)
			code = making->codes[sources[s]] & CUT_VALID;
		else
			code = making->codes[sources[s]];
		step->codes[s] = to->kept[s][code];
	}
	for (int e = 0; making->move && e < making->move->effect_count; e++)
		step->codes[making->move->effects[e].slot] = making->move->effects[e].code;
	if (!making->move)
		step->codes[making->slot] = to->kept[making->slot][cut_code(
			making->codes[making->slot] & CUT_VALID, step->view)];
}

/* Drops some of the tensors from the i-th on; `least`: the fewest bytes of one that is dropped. */
static bool drop_some(struct making *making, int i, uint64_t dropped, int64_t least)
{
	int64_t capacity = making->steps->capacity;
	if (making->bytes <= capacity) {
		if (dropped && making->bytes + least <= capacity)
			return true; /* one of them need not be dropped */
		place_codes(making, dropped);
		return making->visit(making->context, making->step);
	}
	for (; i < making->droppable_count; i++) {
		int slot = making->droppable[i];
		int64_t bytes = cut_bytes(tensor_at(making, slot), making->codes[slot]);
		making->bytes -= bytes;
		bool goes_on = drop_some(making, i + 1, dropped | UINT64_C(1) << slot,
			bytes < least ? bytes : least);
		making->bytes += bytes;
		if (!goes_on)
			return false;
	}
	return true;
}

/* What is valid in HBM, or needed no more behind the step. */
static void find_droppable(struct making *making, uint64_t held)
{
	const struct frame *frame = making->steps->frame;
	const struct cut *cut = &frame->cuts[making->cut];
	making->droppable_count = 0;
	for (int s = 0; s < cut->slot_count; s++) {
		if (cut_view(making->codes[s]) < 0 || held >> s & 1)
			continue;
		if (making->codes[s] & CUT_VALID ||
			frame_slot(frame, making->step->cut, cut->tensors[s]) == CUT_NO_SLOT)
			making->droppable[making->droppable_count++] = s;
	}
}

/* An opaque op leaves nothing in LX. */
static bool drop_all(struct making *making)
{
	const struct cut *cut = &making->steps->frame->cuts[making->cut];
	uint64_t dropped = 0;
	int held = 0;
	for (int s = 0; s < cut->slot_count; s++)
		held += cut_view(making->codes[s]) >= 0;
	if (held > making->droppable_count || making->move->bytes > making->steps->capacity)
		return true;
	for (int i = 0; i < making->droppable_count; i++)
		dropped |= UINT64_C(1) << making->droppable[i];
	place_codes(making, dropped);
	return making->visit(making->context, making->step);
}

static void demand_uses(const struct frame *frame, int cut, const struct joint_option *option,
	struct demand *demand)
{
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		const struct joint_tensor *tensor = &frame->space->tensors[use->tensor];
		int slot = frame_slot(frame, cut, use->tensor), n = tensor->view_count;
		if (slot == CUT_NO_SLOT || use->mode != JOINT_RESIDENT)
			continue;
		demand->in_lx |= UINT64_C(1) << slot;
		for (int v = 0; v < n; v++)
			demand->asked[slot][v] |= tensor->serves[v * n + use->view];
	}
}

static const struct demand *demand_at(struct steps *steps, int cut)
{
	const struct frame *frame = steps->frame;
	const struct joint_space *space = frame->space;
	struct demand *demand = &steps->demands[cut];
	if (demand->is_made || cut == space->op_count)
		return demand;
	demand->is_made = true;
	demand->asked = arena_array(frame->arena, bool *, frame->cuts[cut].slot_count + 1);
	for (int s = 0; s < frame->cuts[cut].slot_count; s++)
		demand->asked[s] = arena_array(frame->arena, bool,
			space->tensors[frame->cuts[cut].tensors[s]].view_count + 1);
	for (size_t i = space->first_option[cut]; i < space->first_option[cut + 1]; i++)
		demand_uses(frame, cut, &space->options[i], demand);
	return demand;
}

static bool take_move(struct making *making, const struct menu_entry *entry, int64_t bytes)
{
	const struct menu_move *move = entry->move;
	struct cut_step *step = making->step;
	making->move = move;
	making->bytes = cut_add(bytes, entry->bytes);
	step->which = move->option;
	step->value = move->value;
	step->fresh = move->fresh;
	for (int r = 0; r < step->relay_count; r++)
		step->value = cut_add(step->value, step->relays[r].value);
	step->cores = move->cores;
	step->ends_bundle = move->ends_bundle;
	step->alone = move->alone;
	step->args = move->args;
	step->args_before = move->args_before;
	step->args_after = move->args_after;
	step->cut = move->end;
	find_droppable(making, move->held);
	return move->empties ? drop_all(making) : drop_some(making, 0, 0, INT64_MAX / 2);
}

/* All options of the menu that read in LX all that was relayed. */
static bool take_menu(struct making *making, int64_t bytes)
{
	const struct menu *menu = menus_find(making->steps->menus, making->cut, making->codes);
	uint64_t relayed = 0;
	for (int r = 0; r < making->step->relay_count; r++)
		relayed |= UINT64_C(1) << making->step->relays[r].slot;
	for (size_t i = 0; i < menu->count; i++) {
		const struct menu_move *move = menu->entries[i].move;
		if (!(relayed & ~(move->held & ~move->replaced)) &&
			!take_move(making, &menu->entries[i], bytes))
			return false;
	}
	return true;
}

/* Lazy relays of tensors in slots from this one on, to views that options of the cut ask for; `both`: the
 * bytes while they run. */
static bool relay_some(struct making *making, uint16_t *codes, int slot, int64_t bytes,
	int64_t both, const uint64_t *readers)
{
	struct steps *steps = making->steps;
	struct cut_step *step = making->step;
	const struct demand *demand = demand_at(steps, making->cut);
	if (slot == steps->frame->cuts[making->cut].slot_count)
		return (!steps->roomless && step->relay_count && both > steps->capacity) ||
		       take_menu(making, bytes);
	if (!relay_some(making, codes, slot + 1, bytes, both, readers))
		return false;
	int from = cut_view(codes[slot]);
	if (from < 0 || !(demand->in_lx >> slot & 1) || step->relay_count == STEP_RELAYS_MOST)
		return true;
	const struct joint_tensor *tensor = tensor_at(making, slot);
	uint16_t before = codes[slot];
	bool goes_on = true;
	size_t words = menus_words(steps->menus, making->cut);
	uint64_t *left = steps->readers + (size_t)step->relay_count * words;
	for (int to = 0; to < tensor->view_count && goes_on; to++) {
		int64_t value = tensor->relay[from * tensor->view_count + to];
		uint16_t code = cut_code(before & CUT_VALID, to);
		if (to == from || value == JOINT_NEVER || !demand->asked[slot][to] ||
			!menus_read(steps->menus, making->cut, slot, code, readers, left))
			continue;
		int wider = tensor->cores[from] > tensor->cores[to] ? from : to;
		step->relays[step->relay_count++] =
			(struct step_relay){slot, to, tensor->cores[wider], value};
		codes[slot] = code;
		goes_on = relay_some(making, codes, slot + 1,
			bytes + tensor->bytes[to] - tensor->bytes[from], both + tensor->bytes[to],
			left);
		codes[slot] = before;
		step->relay_count--;
	}
	return goes_on;
}

bool steps_options(struct steps *steps, int cut, const uint16_t *codes, int64_t bytes,
	step_visit *visit, void *context)
{
	struct cut_step step = {.kind = JOINT_OPTION};
	uint16_t relayed[CUT_SLOTS_MOST];
	struct making making = {.steps = steps,
		.cut = cut,
		.codes = steps->lazy ? relayed : codes,
		.step = &step,
		.visit = visit,
		.context = context};
	if (!steps->lazy)
		return take_menu(&making, bytes);
	memcpy(relayed, codes, (size_t)steps->frame->cuts[cut].slot_count * sizeof *relayed);
	menus_all(steps->menus, cut,
		steps->readers + STEP_RELAYS_MOST * menus_words(steps->menus, cut));
	return relay_some(&making, relayed, 0, bytes, bytes,
		steps->readers + STEP_RELAYS_MOST * menus_words(steps->menus, cut));
}

static bool evict(struct making *making, int slot)
{
	const struct joint_tensor *tensor = tensor_at(making, slot);
	struct cut_step *step = making->step;
	int view = cut_view(making->codes[slot]);
	if (making->codes[slot] & CUT_VALID || tensor->evict[view] == JOINT_NEVER)
		return true;
	step->kind = JOINT_EVICT;
	step->which = (uint32_t)making->steps->frame->cuts[making->cut].tensors[slot];
	step->value = tensor->evict[view];
	step->cores = tensor->cores[view];
	step->args = 1;
	step->fresh = making->steps->frame->argued_from[step->which] > making->cut;
	step->args_before = step->args_after = UINT64_C(1) << slot;
	memcpy(step->codes, making->codes,
		(size_t)making->steps->frame->cuts[making->cut].slot_count * sizeof *step->codes);
	const uint16_t *kept = making->steps->frame->cuts[making->cut].kept[slot];
	step->codes[slot] = kept[making->codes[slot] | CUT_VALID];
	return step->codes[slot] == making->codes[slot] || making->visit(making->context, step);
}

static bool relay(struct making *making, int slot, int64_t bytes)
{
	const struct joint_tensor *tensor = tensor_at(making, slot);
	struct cut_step *step = making->step;
	int from = cut_view(making->codes[slot]);
	step->kind = JOINT_RELAY;
	step->which = (uint32_t)making->steps->frame->cuts[making->cut].tensors[slot];
	step->args = step->fresh = 0;
	step->args_before = step->args_after = 0;
	making->slot = slot;
	if (making->steps->lazy)
		return true;
	find_droppable(making, UINT64_C(1) << slot);
	const uint16_t *kept = making->steps->frame->cuts[making->cut].kept[slot];
	for (int to = 0; to < tensor->view_count; to++) {
		int64_t value = tensor->relay[from * tensor->view_count + to];
		uint16_t code = cut_code(making->codes[slot] & CUT_VALID, to);
		if (to == from || value == JOINT_NEVER || cut_view(kept[code]) != to)
			continue;
		step->value = value;
		step->view = to;
		step->cores = tensor->cores[from] > tensor->cores[to] ? tensor->cores[from]
								      : tensor->cores[to];
		making->bytes = cut_add(bytes, tensor->bytes[to]);
		if (!drop_some(making, 0, 0, INT64_MAX / 2))
			return false;
	}
	return true;
}

bool steps_changes(struct steps *steps, int cut, const uint16_t *codes, int64_t bytes,
	step_visit *visit, void *context)
{
	struct cut_step step = {.cut = cut};
	struct making making = {.steps = steps,
		.cut = cut,
		.codes = codes,
		.step = &step,
		.visit = visit,
		.context = context};
	for (int s = 0; s < steps->frame->cuts[cut].slot_count; s++)
		if (cut_view(codes[s]) >= 0 && (!evict(&making, s) || !relay(&making, s, bytes)))
			return false;
	return true;
}

void steps_close(struct steps *steps)
{
	menus_close(steps->menus);
}

void steps_leave_room(struct steps *steps, int64_t capacity)
{
	steps->capacity = capacity;
}

void steps_be_lazy(struct steps *steps, bool lazy, bool roomless)
{
	steps->lazy = lazy;
	steps->roomless = roomless;
}
