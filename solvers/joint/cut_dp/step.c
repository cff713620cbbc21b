#include "solvers/joint/cut_dp/cut_dp.h"

#include "base/arena.h"
#include "base/array.h"
#include "solvers/joint/cut_dp/moves.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Which options can be taken from a state, without those that another one does as well: the same effects for no
 * more value, room and cores.  That depends on the codes of few slots only, those that options of the cut use.
 *
 * For each code of a slot there is the set of moves that it allows; a menu is the intersection of these sets.
 */
struct menu {
	size_t count;
	const uint32_t *moves; /* their numbers on the card */
};

/* The menu of one cut. */
struct card {
	bool is_made;
	struct moves moves;
	size_t words; /* of a set of moves */
	int slot_count;
	int slots[CUT_SLOTS_MOST];         /* that its options use */
	uint64_t *readers[CUT_SLOTS_MOST]; /* moves that read it in LX */
	uint64_t *allowed[CUT_SLOTS_MOST]; /* by the i-th of them, then code: a set of moves */
};

struct made_menus array(struct menu);

struct menus {
	const struct frame *frame;
	struct arena *arena;
	struct card *cards; /* by cut */

	/* menus of one cut */
	int cut;
	struct arena *kept;
	struct cut_layer *asked; /* codes of the slots that its options use, those of others 0 */
	struct made_menus made;  /* by state of it */
	uint32_t *moves;         /* of the menu that is being made, with room for all */
	int64_t *bytes;          /* by the same: in LX, beside those of the state */
};

static struct menus *menus_open(const struct frame *frame, struct arena *arena)
{
	struct menus *menus = arena_new(arena, struct menus);
	menus->frame = frame;
	menus->arena = arena;
	menus->cards = arena_array(arena, struct card, frame->cut_count);
	menus->cut = -1;
	return menus;
}

static void menus_close(struct menus *menus)
{
	arena_close(menus->kept);
}

static uint64_t find_used(const struct menus *menus, int cut)
{
	const struct joint_space *space = menus->frame->space;
	uint64_t used = 0;
	for (size_t i = space->first_option[cut]; i < space->first_option[cut + 1]; i++)
		for (int u = 0; u < space->options[i].use_count; u++) {
			int slot = frame_slot(menus->frame, cut, space->options[i].uses[u].tensor);
			used |= slot == CUT_NO_SLOT ? 0 : UINT64_C(1) << slot;
		}
	return used;
}

/* Adds the words of a set to another one. */
static void step_unite(uint64_t *set, const uint64_t *other, size_t words)
{
	for (size_t w = 0; w < words; w++)
		set[w] |= other[w];
}

/* Returns a new set, or the one that is there. */
static uint64_t *set_of(uint64_t **set, size_t words, struct arena *arena)
{
	if (!*set)
		*set = arena_array(arena, uint64_t, words);
	return *set;
}

/*
 * Finds the moves that each code of a slot allows.  A move without a use of the tensor is allowed by all codes, one
 * that streams it or moves it in by those valid in HBM.  One that finds it in LX is allowed by the views that serve
 * its own; if it drops the tensor, by its own view beside a valid copy.
 */
static uint64_t *find_allowed(
	const struct frame *frame, int cut, const struct card *card, int slot, struct arena *arena)
{
	int t = frame->cuts[cut].tensors[slot];
	const struct joint_tensor *tensor = &frame->space->tensors[t];
	int views = tensor->view_count;
	size_t words = card->words;
	struct arena *scratch = arena_open();
	uint64_t *allowed = arena_array(arena, uint64_t, 2 * (size_t)(views + 1) * words);
	uint64_t *always = arena_array(scratch, uint64_t, words);
	uint64_t *valid = arena_array(scratch, uint64_t, words);
	uint64_t **served = arena_array(scratch, uint64_t *, views + 1); /* by view */
	for (size_t m = 0; m < card->moves.count; m++) {
		const struct menu_move *move = &card->moves.at[m];
		const struct joint_use *use = joint_use_of(&frame->space->options[move->option], t);
		uint64_t *set = always;
		if (use && use->mode != JOINT_RESIDENT)
			set = valid;
		else if (use && move_drops(frame, move, t))
			set = allowed + (size_t)cut_code(true, use->view) * words;
		else if (use)
			set = set_of(&served[use->view], words, scratch);
		set[m / 64] |= UINT64_C(1) << m % 64;
	}
	for (int code = 0; code < 2 * (views + 1); code++) {
		uint64_t *set = allowed + (size_t)code * words;
		int held = cut_view((uint16_t)code);
		step_unite(set, always, words);
		if (code & CUT_VALID)
			step_unite(set, valid, words);
		for (int v = 0; v < views && held >= 0; v++)
			if (served[v] && tensor->serves[held * views + v])
				step_unite(set, served[v], words);
	}
	arena_close(scratch);
	return allowed;
}

static void make_card(struct menus *menus, int cut)
{
	const struct frame *frame = menus->frame;
	struct card *card = &menus->cards[cut];
	uint64_t used = find_used(menus, cut);
	card->is_made = true;
	card->moves = moves_make(frame, cut, menus->arena);
	card->words = card->moves.count / 64 + 1;
	for (int s = 0; s < frame->cuts[cut].slot_count; s++) {
		if (!(used >> s & 1))
			continue;
		uint64_t *readers = arena_array(menus->arena, uint64_t, card->words);
		for (size_t m = 0; m < card->moves.count; m++)
			if ((card->moves.at[m].held & ~card->moves.at[m].replaced) >> s & 1)
				readers[m / 64] |= UINT64_C(1) << m % 64;
		card->readers[card->slot_count] = readers;
		card->allowed[card->slot_count] = find_allowed(frame, cut, card, s, menus->arena);
		card->slots[card->slot_count++] = s;
	}
}

/* --- one menu */

static int64_t bytes_from(
	const struct frame *frame, int cut, const struct menu_move *move, const uint16_t *codes)
{
	const struct cut *at = &frame->cuts[cut];
	int64_t bytes = move->bytes;
	for (uint64_t left = move->replaced; left; left &= left - 1) {
		int slot = __builtin_ctzll(left);
		bytes -= cut_bytes(&frame->space->tensors[at->tensors[slot]], codes[slot]);
	}
	for (int i = 0; i < move->saving_count; i++)
		if (codes[move->savings[i].slot] == move->savings[i].code)
			bytes -= move->savings[i].bytes;
	return bytes;
}

/* Is one of the last moves of the menu, which all have the same effects, as good as another such move? */
static bool is_displaced(const struct menus *menus, const struct card *card, size_t group,
	size_t count, const struct menu_move *move, int64_t bytes)
{
	for (size_t k = group; k < count; k++) {
		const struct menu_move *other = &card->moves.at[menus->moves[k]];
		if (other->value <= move->value && other->fresh <= move->fresh &&
			menus->bytes[k] <= bytes && other->cores <= move->cores)
			return true;
	}
	return false;
}

static struct menu make_menu(struct menus *menus, const struct card *card, const uint16_t *codes)
{
	size_t count = 0, group = 0; /* the first of the group of the last one */
	for (size_t w = 0; w < card->words; w++) {
		uint64_t left = ~UINT64_C(0);
		for (int i = 0; i < card->slot_count; i++)
			left &= card->allowed[i][codes[card->slots[i]] * card->words + w];
		if (w == card->words - 1)
			left &= (UINT64_C(1) << card->moves.count % 64) - 1;
		for (; left; left &= left - 1) {
			size_t m = w * 64 + (size_t)__builtin_ctzll(left);
			const struct menu_move *move = &card->moves.at[m];
			int64_t bytes = bytes_from(menus->frame, menus->cut, move, codes);
			if (count && card->moves.at[menus->moves[count - 1]].group != move->group)
				group = count;
			if (is_displaced(menus, card, group, count, move, bytes))
				continue;
			menus->moves[count] = (uint32_t)m;
			menus->bytes[count++] = bytes;
		}
	}
	return (struct menu){
		count, arena_copy(menus->kept, menus->moves, count * sizeof *menus->moves)};
}

/* --- all of a cut */

static void turn_to(struct menus *menus, int cut)
{
	arena_close(menus->kept);
	menus->kept = arena_open();
	menus->cut = cut;
	menus->asked = layer_open(menus->frame, cut, menus->kept);
	menus->made = (struct made_menus){0};
	if (!menus->cards[cut].is_made)
		make_card(menus, cut);
	size_t most = menus->cards[cut].moves.count;
	menus->moves = arena_array(menus->kept, uint32_t, most);
	menus->bytes = arena_array(menus->kept, int64_t, most);
}

static const struct card *card_at(struct menus *menus, int cut)
{
	if (cut != menus->cut)
		turn_to(menus, cut);
	return &menus->cards[cut];
}

/* Good until another menu is asked for: those of a cut are kept while they take little memory. */
static const struct menu *menus_find(struct menus *menus, int cut, const uint16_t *codes)
{
	const struct card *card = card_at(menus, cut);
	if (arena_used(menus->kept) >> 20 > (size_t)CUT_MENUS_MIB)
		turn_to(menus, cut);
	uint16_t asked[CUT_SLOTS_MOST] = {0};
	for (int i = 0; i < card->slot_count; i++)
		asked[card->slots[i]] = codes[card->slots[i]];
	uint32_t state = layer_state(menus->asked, asked);
	if (state == menus->made.count) {
		struct menu menu = make_menu(menus, card, codes);
		*array_add(menus->kept, &menus->made) = menu;
	}
	return &menus->made.at[state];
}

/* --- sets of moves */

/* Can a move read in LX all of these slots, if they have these codes?  *left: a set of moves, all at first
 * (menus_all), less those that cannot read this slot so.  False: none is left. */
static size_t menus_words(struct menus *menus, int cut)
{
	return card_at(menus, cut)->words;
}

static void menus_all(struct menus *menus, int cut, uint64_t *left)
{
	memset(left, 0xff, card_at(menus, cut)->words * sizeof *left);
}

static bool menus_read(struct menus *menus, int cut, int slot, uint16_t code,
	const uint64_t *before, uint64_t *left)
{
	const struct card *card = card_at(menus, cut);
	uint64_t any = 0;
	int i = 0;
	while (card->slots[i] != slot)
		i++;
	for (size_t w = 0; w < card->words; w++) {
		left[w] =
			before[w] & card->readers[i][w] & card->allowed[i][code * card->words + w];
		any |= left[w];
	}
	return any;
}

/* The tensors that options of a cut read in LX. */
struct demand {
	bool is_made;
	uint64_t in_lx; /* slots */
	bool **asked;   /* by slot, then view: one that serves it */
};

struct steps {
	const struct frame *frame;
	int64_t capacity;
	bool lazy, roomless, borrows; /* the menus are of other steps */
	struct demand *demands;       /* by cut */
	uint64_t *readers;            /* sets of moves that read in LX what is relayed */
	struct menus *menus;
	int8_t **
		sources; /* [from * cut_count + to][slot at to]: the slot at `from`; made when asked for */
};

/* A step that is being made, with what may be dropped for it. */
struct step_making {
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

struct steps *steps_open(const struct frame *frame, const struct steps *own, struct arena *arena)
{
	struct steps *steps = arena_new(arena, struct steps);
	steps->frame = frame;
	steps->capacity = frame->space->capacity;
	steps->borrows = own && own->frame == frame;
	steps->menus = steps->borrows ? own->menus : menus_open(frame, arena);
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

static const struct joint_tensor *step_tensor_at(const struct step_making *making, int slot)
{
	const struct frame *frame = making->steps->frame;
	return &frame->space->tensors[frame->cuts[making->cut].tensors[slot]];
}

/* The codes where the step leads to. */
static void place_codes(struct step_making *making, uint64_t dropped)
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
		/* a tensor that is needed from here on has a copy, or is not made yet */
		assert(code || sources[s] == CUT_NO_SLOT || !making->codes[sources[s]]);
		step->codes[s] = to->kept[s][code];
	}
	for (int e = 0; making->move && e < making->move->effect_count; e++)
		assert(making->move->effects[e].slot < to->slot_count);
	for (int e = 0; making->move && e < making->move->effect_count; e++)
		step->codes[making->move->effects[e].slot] = making->move->effects[e].code;
	if (!making->move)
		step->codes[making->slot] = to->kept[making->slot][cut_code(
			making->codes[making->slot] & CUT_VALID, step->view)];
}

/* Drops some of the tensors from the i-th on; `least`: the fewest bytes of one that is dropped. */
static bool drop_some(struct step_making *making, int i, uint64_t dropped, int64_t least)
{
	int64_t capacity = making->steps->capacity;
	assert(making->bytes >= 0); /* beside those that are dropped */
	if (making->bytes <= capacity) {
		if (dropped && making->bytes + least <= capacity)
			return true; /* one of them need not be dropped */
		place_codes(making, dropped);
		return making->visit(making->context, making->step);
	}
	for (; i < making->droppable_count; i++) {
		int slot = making->droppable[i];
		int64_t bytes = cut_bytes(step_tensor_at(making, slot), making->codes[slot]);
		making->bytes -= bytes;
		bool goes_on = drop_some(making, i + 1, dropped | UINT64_C(1) << slot,
			bytes < least ? bytes : least);
		making->bytes += bytes;
		if (!goes_on)
			return false;
	}
	return true;
}

/* Finds tensors that are valid in HBM, or not needed behind the step. */
static void find_droppable(struct step_making *making, uint64_t held)
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
static bool drop_all(struct step_making *making)
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

static bool take_move(struct step_making *making, const struct menu_move *move, int64_t bytes)
{
	struct cut_step *step = making->step;
	making->move = move;
	making->bytes =
		cut_add(bytes, bytes_from(making->steps->frame, making->cut, move, making->codes));
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
	assert(step->cut > making->cut);
	assert(__builtin_popcountll(step->args_before) <= step->args &&
		__builtin_popcountll(step->args_after) <= step->args);
	find_droppable(making, move->held);
	return move->empties ? drop_all(making) : drop_some(making, 0, 0, INT64_MAX / 2);
}

/* All options of the menu that read in LX all that was relayed. */
static bool take_menu(struct step_making *making, int64_t bytes)
{
	const struct menu *menu = menus_find(making->steps->menus, making->cut, making->codes);
	const struct card *card = card_at(making->steps->menus, making->cut);
	uint64_t relayed = 0;
	for (int r = 0; r < making->step->relay_count; r++)
		relayed |= UINT64_C(1) << making->step->relays[r].slot;
	for (size_t i = 0; i < menu->count; i++) {
		const struct menu_move *move = &card->moves.at[menu->moves[i]];
		if (!(relayed & ~(move->held & ~move->replaced)) && !take_move(making, move, bytes))
			return false;
	}
	return true;
}

/* Lazy relays of tensors in slots from this one on, to views that options of the cut ask for; `both`: the
 * bytes while they run. */
static bool relay_some(struct step_making *making, uint16_t *codes, int slot, int64_t bytes,
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
	const struct joint_tensor *tensor = step_tensor_at(making, slot);
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
		assert(step->relay_count >= 0);
	}
	return goes_on;
}

bool steps_options(struct steps *steps, int cut, const uint16_t *codes, int64_t bytes,
	step_visit *visit, void *context)
{
	struct cut_step step = {.kind = JOINT_OPTION};
	uint16_t relayed[CUT_SLOTS_MOST];
	struct step_making making = {.steps = steps,
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

static bool step_making_evict(struct step_making *making, int slot)
{
	const struct joint_tensor *tensor = step_tensor_at(making, slot);
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

static bool step_making_relay(struct step_making *making, int slot, int64_t bytes)
{
	const struct joint_tensor *tensor = step_tensor_at(making, slot);
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
	struct step_making making = {.steps = steps,
		.cut = cut,
		.codes = codes,
		.step = &step,
		.visit = visit,
		.context = context};
	for (int s = 0; s < steps->frame->cuts[cut].slot_count; s++)
		if (cut_view(codes[s]) >= 0 &&
			(!step_making_evict(&making, s) || !step_making_relay(&making, s, bytes)))
			return false;
	return true;
}

void steps_close(struct steps *steps)
{
	if (!steps->borrows)
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
