#include "solvers/joint/cut_dp/menu.h"

#include "base/arena.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Of one cut: menus by the codes of the slots that its options use. */
struct row {
	const uint16_t *codes;
	struct menu menu;
};

struct rows array(struct row);

struct card {
	int slot_count;
	int slots[CUT_SLOTS_MOST];
	struct rows rows;
	uint32_t *table; /* row + 1, by hash */
	size_t table_size;
};

struct moves array(struct menu_move);

struct menus {
	const struct frame *frame;
	struct arena *arena;
	struct card *cards; /* by cut */
};

static void find_slots(struct menus *menus, int cut)
{
	const struct joint_space *space = menus->frame->space;
	struct card *card = &menus->cards[cut];
	uint64_t used = 0;
	for (size_t i = space->first_option[cut]; i < space->first_option[cut + 1]; i++) {
		const struct joint_option *option = &space->options[i];
		for (int u = 0; u < option->use_count; u++) {
			int slot = frame_slot(menus->frame, cut, option->uses[u].tensor);
			used |= slot == CUT_NO_SLOT ? 0 : UINT64_C(1) << slot;
		}
	}
	for (int s = 0; s < menus->frame->cuts[cut].slot_count; s++)
		if (used >> s & 1)
			card->slots[card->slot_count++] = s;
}

struct menus *menus_open(const struct frame *frame, struct arena *arena)
{
	struct menus *menus = arena_new(arena, struct menus);
	menus->frame = frame;
	menus->arena = arena;
	menus->cards = arena_array(arena, struct card, frame->cut_count);
	for (int c = 0; c < frame->space->op_count; c++)
		find_slots(menus, c);
	return menus;
}

/* --- one option */

struct filling {
	const struct frame *frame;
	struct arena *arena;
	int cut;
	const uint16_t *codes; /* of the state */
	const struct joint_option *option;
	struct menu_move *move;
};

static uint16_t code_before(const struct filling *filling, int tensor)
{
	int slot = frame_slot(filling->frame, filling->cut, tensor);
	if (slot != CUT_NO_SLOT)
		return filling->codes[slot];
	return cut_code(filling->frame->space->tensors[tensor].producer < 0, -1);
}

static void mention(struct filling *filling, int tensor)
{
	int before = frame_slot(filling->frame, filling->cut, tensor);
	int after = frame_slot(filling->frame, filling->option->end, tensor);
	filling->move->args++;
	filling->move->args_before |= before == CUT_NO_SLOT ? 0 : UINT64_C(1) << before;
	filling->move->args_after |= after == CUT_NO_SLOT ? 0 : UINT64_C(1) << after;
}

/* Adds to what there is, for a tensor that has two outs. */
static void affect(struct filling *filling, int tensor, uint16_t code)
{
	struct menu_move *move = filling->move;
	int slot = frame_slot(filling->frame, move->end, tensor);
	if (slot == CUT_NO_SLOT)
		return;
	int at = move->effect_count;
	while (at > 0 && move->effects[at - 1].slot > slot)
		at--;
	const uint16_t *kept = filling->frame->cuts[move->end].kept[slot];
	if (at > 0 && move->effects[at - 1].slot == slot) {
		move->effects[at - 1].code = kept[move->effects[at - 1].code | code];
		return;
	}
	memmove(&move->effects[at + 1], &move->effects[at],
		(size_t)(move->effect_count++ - at) * sizeof *move->effects);
	move->effects[at] = (struct menu_effect){slot, kept[code]};
}

static bool take_use(struct filling *filling, const struct joint_use *use)
{
	const struct joint_tensor *tensor = &filling->frame->space->tensors[use->tensor];
	uint16_t code = code_before(filling, use->tensor);
	int slot = frame_slot(filling->frame, filling->cut, use->tensor), held = cut_view(code);
	uint64_t bit = slot == CUT_NO_SLOT ? 0 : UINT64_C(1) << slot;
	if (use->mode == JOINT_RESIDENT) {
		filling->move->held |= bit;
		return held >= 0 && tensor->serves[held * tensor->view_count + use->view];
	}
	mention(filling, use->tensor);
	if (!(code & CUT_VALID))
		return false;
	if (use->mode == JOINT_HBM)
		return true;
	filling->move->held |= bit;
	filling->move->bytes =
		cut_add(filling->move->bytes, tensor->bytes[use->view]) - cut_bytes(tensor, code);
	affect(filling, use->tensor, cut_code(true, use->view));
	return true;
}

/* The bytes that an out takes over if the used tensor is dropped. */
static int64_t taken_over(const struct filling *filling, const struct joint_out *out)
{
	if (out->view < 0 || out->in_place < 0)
		return 0;
	const struct joint_tensor *tensors = filling->frame->space->tensors;
	const struct joint_use *use = &filling->option->uses[out->in_place];
	int view =
		use->mode == JOINT_MOVED ? use->view : cut_view(code_before(filling, use->tensor));
	int64_t made = tensors[out->tensor].bytes[out->view],
		held = tensors[use->tensor].bytes[view];
	return made < held ? made : held;
}

/* What the used tensor is after the step, if it is kept. */
static uint16_t code_after(const struct filling *filling, const struct joint_use *use)
{
	int slot = frame_slot(filling->frame, filling->option->end, use->tensor);
	if (slot == CUT_NO_SLOT)
		return 0;
	uint16_t code = use->mode == JOINT_MOVED ? cut_code(true, use->view)
						 : code_before(filling, use->tensor);
	return filling->frame->cuts[filling->option->end].kept[slot][code];
}

static bool take_outs(struct filling *filling)
{
	const struct joint_option *option = filling->option;
	struct menu_move *move = filling->move;
	for (int o = 0; o < option->out_count; o++) {
		const struct joint_out *out = &option->outs[o];
		if (out->view < 0)
			mention(filling, out->tensor);
		else
			move->bytes = cut_add(move->bytes,
				filling->frame->space->tensors[out->tensor].bytes[out->view]);
		affect(filling, out->tensor, cut_code(out->view < 0, out->view));
		/* what nothing needs in LX any more is dropped anyway */
		if (out->view >= 0 && out->in_place >= 0) {
			const struct joint_use *use = &option->uses[out->in_place];
			if (use->mode == JOINT_HBM)
				return false;
			if (cut_view(code_after(filling, use)) < 0)
				move->bytes -= taken_over(filling, out);
		}
	}
	return true;
}

static bool fill(struct filling *filling)
{
	const struct joint_option *option = filling->option;
	struct menu_move *move = filling->move;
	int most = option->use_count + 2 * option->out_count;
	*move = (struct menu_move){.option = (uint32_t)(option - filling->frame->space->options),
		.end = option->end,
		.value = option->value,
		.bytes = option->room,
		.unless = -1,
		.cores = option->cores,
		.ends_bundle = option->ends_bundle,
		.effects = arena_array(filling->arena, struct menu_effect, most)};
	for (int u = 0; u < option->use_count; u++)
		if (!take_use(filling, &option->uses[u]))
			return false;
	if (!take_outs(filling))
		return false;
	for (int a = 0; a < option->argument_count; a++)
		mention(filling, option->arguments[a]);
	bool in_lx = move->held != 0;
	for (int o = 0; o < option->out_count; o++)
		in_lx |= option->outs[o].view >= 0;
	for (int u = 0; u < option->use_count; u++)
		in_lx |= option->uses[u].mode != JOINT_HBM;
	return !(option->ends_bundle && in_lx);
}

/* The same, with used tensors dropped whose bytes outs take over: for each set of such. */
static void fill_dropping(struct filling *filling, struct moves *moves, size_t kept)
{
	const struct joint_option *option = filling->option;
	int candidates[CUT_SLOTS_MOST], count = 0;
	for (int o = 0; o < option->out_count && count < CUT_SLOTS_MOST; o++) {
		const struct joint_out *out = &option->outs[o];
		if (taken_over(filling, out) <= 0)
			continue;
		uint16_t after = code_after(filling, &option->uses[out->in_place]);
		if (cut_view(after) >= 0 && after & CUT_VALID)
			candidates[count++] = o;
	}
	for (uint64_t set = 1; count && set < UINT64_C(1) << count; set++) {
		struct menu_move *move = array_add(filling->arena, moves);
		*move = moves->at[kept];
		move->unless = move->bytes;
		move->effects = arena_array(filling->arena, struct menu_effect,
			option->use_count + 2 * option->out_count);
		memcpy(move->effects, moves->at[kept].effects,
			(size_t)move->effect_count * sizeof *move->effects);
		filling->move = move;
		for (int i = 0; i < count; i++) {
			if (!(set >> i & 1))
				continue;
			const struct joint_out *out = &option->outs[candidates[i]];
			int tensor = option->uses[out->in_place].tensor;
			int slot = frame_slot(filling->frame, move->end, tensor);
			move->bytes -= taken_over(filling, out);
			affect(filling, tensor, 0);
			for (int e = 0; e < move->effect_count; e++)
				if (move->effects[e].slot == slot)
					move->effects[e].code = filling->frame->cuts[move->end]
									.kept[slot][CUT_VALID];
		}
	}
}

/* --- what another one does as well */

/* By what they lead to; then the cheapest first. */
static int compare_effects(const struct menu_move *a, const struct menu_move *b)
{
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->ends_bundle != b->ends_bundle)
		return a->ends_bundle ? 1 : -1;
	if (a->args != b->args)
		return a->args < b->args ? -1 : 1;
	if (a->args_before != b->args_before)
		return a->args_before < b->args_before ? -1 : 1;
	if (a->args_after != b->args_after)
		return a->args_after < b->args_after ? -1 : 1;
	if (a->held != b->held)
		return a->held < b->held ? -1 : 1;
	if (a->effect_count != b->effect_count)
		return a->effect_count < b->effect_count ? -1 : 1;
	for (int e = 0; e < a->effect_count; e++) {
		if (a->effects[e].slot != b->effects[e].slot)
			return a->effects[e].slot < b->effects[e].slot ? -1 : 1;
		if (a->effects[e].code != b->effects[e].code)
			return a->effects[e].code < b->effects[e].code ? -1 : 1;
	}
	return 0;
}

static int compare_moves(const void *left, const void *right)
{
	const struct menu_move *a = left, *b = right;
	int effects = compare_effects(a, b);
	if (effects)
		return effects;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	if (a->cores != b->cores)
		return a->cores < b->cores ? -1 : 1;
	return a->option < b->option ? -1 : a->option > b->option;
}

static bool does_as_well(const struct menu_move *a, const struct menu_move *b)
{
	return a->value <= b->value && a->bytes <= b->bytes && a->cores <= b->cores;
}

static struct menu without_dominated(struct moves *moves, struct arena *arena)
{
	size_t kept = 0, group = 0;
	if (moves->count)
		qsort(moves->at, moves->count, sizeof *moves->at, compare_moves);
	for (size_t i = 0; i < moves->count; i++) {
		if (kept > group && compare_effects(&moves->at[group], &moves->at[i]))
			group = kept;
		bool dominated = false;
		for (size_t k = group; k < kept && !dominated; k++)
			dominated = does_as_well(&moves->at[k], &moves->at[i]);
		if (!dominated)
			moves->at[kept++] = moves->at[i];
	}
	struct menu_move *left = arena_copy(arena, moves->at, kept * sizeof *left);
	for (size_t i = 0; i < kept; i++)
		left[i].effects = arena_copy(arena, left[i].effects,
			(size_t)left[i].effect_count * sizeof *left[i].effects);
	return (struct menu){kept, left};
}

static struct menu make_menu(struct menus *menus, int cut, const uint16_t *codes)
{
	const struct joint_space *space = menus->frame->space;
	struct arena *scratch = arena_open();
	struct moves moves = {0};
	for (size_t i = space->first_option[cut]; i < space->first_option[cut + 1]; i++) {
		struct menu_move move;
		struct filling filling = {.frame = menus->frame,
			.arena = scratch,
			.cut = cut,
			.codes = codes,
			.option = &space->options[i],
			.move = &move};
		int most = menus->frame->args_most;
		if (!fill(&filling) || (most && move.args > most))
			continue;
		*array_add(scratch, &moves) = move;
		fill_dropping(&filling, &moves, moves.count - 1);
	}
	struct menu menu = without_dominated(&moves, menus->arena);
	arena_close(scratch);
	return menu;
}

/* --- the table */

static uint64_t hash_of(const struct card *card, const uint16_t *codes)
{
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < card->slot_count; i++) {
		hash = (hash ^ codes[card->slots[i]]) * UINT64_C(0xd6e8feb86659fd93);
		hash ^= hash >> 32;
	}
	return hash;
}

static bool same_codes(const struct card *card, const uint16_t *a, const uint16_t *b)
{
	for (int i = 0; i < card->slot_count; i++)
		if (a[card->slots[i]] != b[card->slots[i]])
			return false;
	return true;
}

static void grow(struct menus *menus, struct card *card)
{
	size_t size = card->table_size ? card->table_size * 2 : 16;
	card->table = arena_array(menus->arena, uint32_t, size);
	card->table_size = size;
	for (size_t i = 0; i < card->rows.count; i++) {
		size_t at = hash_of(card, card->rows.at[i].codes) & (size - 1);
		while (card->table[at])
			at = (at + 1) & (size - 1);
		card->table[at] = (uint32_t)i + 1;
	}
}

const struct menu *menus_find(struct menus *menus, int cut, const uint16_t *codes)
{
	struct card *card = &menus->cards[cut];
	if (2 * (card->rows.count + 1) > card->table_size)
		grow(menus, card);
	size_t at = hash_of(card, codes) & (card->table_size - 1);
	for (; card->table[at]; at = (at + 1) & (card->table_size - 1))
		if (same_codes(card, card->rows.at[card->table[at] - 1].codes, codes))
			return &card->rows.at[card->table[at] - 1].menu;
	struct row *row = array_add(menus->arena, &card->rows);
	row->codes = arena_copy(
		menus->arena, codes, (size_t)menus->frame->cuts[cut].slot_count * sizeof *codes);
	row->menu = make_menu(menus, cut, codes);
	card->table[at] = (uint32_t)card->rows.count;
	return &row->menu;
}
