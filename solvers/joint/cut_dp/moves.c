#include "solvers/joint/cut_dp/moves.h"

#include "base/arena.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct growing_moves array(struct menu_move);

/* A move that is being made of an option. */
struct move_making {
	const struct frame *frame;
	struct arena *arena;
	int cut;
	const struct joint_option *option;
	struct menu_move *move;
	int fresh;
};

static const struct joint_tensor *tensor_of(const struct move_making *making, int tensor)
{
	return &making->frame->space->tensors[tensor];
}

static void move_making_add_tensor(struct move_making *making, int tensor)
{
	int before = frame_slot(making->frame, making->cut, tensor);
	int after = frame_slot(making->frame, making->option->end, tensor);
	if (making->option->alone)
		return;
	making->move->args++;
	making->move->args_before |= before == CUT_NO_SLOT ? 0 : UINT64_C(1) << before;
	making->move->args_after |= after == CUT_NO_SLOT ? 0 : UINT64_C(1) << after;
	making->fresh += frame_is_fresh(making->frame, making->cut, tensor);
}

/* Returns a code at the end of the move. */
static uint16_t kept_of(const struct move_making *making, int tensor, uint16_t code)
{
	int slot = frame_slot(making->frame, making->option->end, tensor);
	return slot == CUT_NO_SLOT ? 0 : making->frame->cuts[making->option->end].kept[slot][code];
}

/* Sets a code, or adds to it for a tensor that has two outs. */
static void move_making_affect(struct move_making *making, int tensor, uint16_t code, bool adds)
{
	struct menu_move *move = making->move;
	int slot = frame_slot(making->frame, move->end, tensor);
	if (slot == CUT_NO_SLOT)
		return;
	int at = move->effect_count;
	while (at > 0 && move->effects[at - 1].slot > slot)
		at--;
	if (at > 0 && move->effects[at - 1].slot == slot) {
		struct menu_effect *effect = &move->effects[at - 1];
		effect->code = kept_of(making, tensor, adds ? effect->code | code : code);
		return;
	}
	memmove(&move->effects[at + 1], &move->effects[at],
		(size_t)(move->effect_count++ - at) * sizeof *move->effects);
	move->effects[at] = (struct menu_effect){(uint16_t)slot, kept_of(making, tensor, code)};
}

/* False: the move can never be made. */
static bool take_use(struct move_making *making, const struct joint_use *use)
{
	struct menu_move *move = making->move;
	int slot = frame_slot(making->frame, making->cut, use->tensor);
	if (slot == CUT_NO_SLOT &&
		(use->mode == JOINT_RESIDENT || tensor_of(making, use->tensor)->producer >= 0))
		return false;
	uint64_t bit = slot == CUT_NO_SLOT ? 0 : UINT64_C(1) << slot;
	if (use->mode != JOINT_RESIDENT)
		move_making_add_tensor(making, use->tensor);
	if (use->mode != JOINT_HBM)
		move->held |= bit;
	if (use->mode != JOINT_MOVED)
		return true;
	move->replaced |= bit;
	move->bytes = cut_add(move->bytes, tensor_of(making, use->tensor)->bytes[use->view]);
	move_making_affect(making, use->tensor, cut_code(true, use->view), false);
	return true;
}

/* The bytes that an out takes over if the used tensor is dropped. */
static int64_t taken_over(const struct move_making *making, const struct joint_out *out)
{
	const struct joint_use *use = &making->option->uses[out->in_place];
	int64_t made = tensor_of(making, out->tensor)->bytes[out->view];
	int64_t held = tensor_of(making, use->tensor)->bytes[use->view];
	return made < held ? made : held;
}

/* Savings from a tensor that lies under the very view asked for, and that nothing needs in LX any more. */
static void move_making_save(struct move_making *making, const struct joint_out *out)
{
	const struct joint_use *use = &making->option->uses[out->in_place];
	struct menu_move *move = making->move;
	int64_t bytes = taken_over(making, out);
	int slot = frame_slot(making->frame, making->cut, use->tensor);
	for (int valid = 0; valid < 2; valid++) {
		uint16_t code = cut_code(valid, use->view);
		if (cut_view(kept_of(making, use->tensor, code)) >= 0)
			continue;
		if (use->mode == JOINT_RESIDENT)
			move->savings[move->saving_count++] =
				(struct menu_saving){slot, code, bytes};
		else if (valid)
			move->bytes -= bytes;
	}
}

static bool take_outs(struct move_making *making)
{
	const struct joint_option *option = making->option;
	struct menu_move *move = making->move;
	for (int o = 0; o < option->out_count; o++) {
		const struct joint_out *out = &option->outs[o];
		if (out->view < 0)
			move_making_add_tensor(making, out->tensor);
		else
			move->bytes = cut_add(
				move->bytes, tensor_of(making, out->tensor)->bytes[out->view]);
		move_making_affect(making, out->tensor, cut_code(out->view < 0, out->view), true);
		if (out->view < 0 || out->in_place < 0)
			continue;
		if (option->uses[out->in_place].mode == JOINT_HBM)
			return false;
		move_making_save(making, out);
	}
	return true;
}

/* An opaque op has nothing in LX. */
static bool keeps_out_of_lx(const struct joint_option *option)
{
	for (int o = 0; o < option->out_count; o++)
		if (option->outs[o].view >= 0)
			return false;
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].mode != JOINT_HBM)
			return false;
	return true;
}

static bool menu_make_move(struct move_making *making)
{
	const struct joint_option *option = making->option;
	struct menu_move *move = making->move;
	*move = (struct menu_move){.option = (uint32_t)(option - making->frame->space->options),
		.end = option->end,
		.value = option->value,
		.bytes = option->room,
		.cores = option->cores,
		.ends_bundle = option->ends_bundle,
		.alone = option->alone,
		.empties = option->empties,
		.effects = arena_array(making->arena, struct menu_effect,
			option->use_count + 2 * option->out_count),
		.savings = arena_array(making->arena, struct menu_saving, 2 * option->out_count)};
	for (int u = 0; u < option->use_count; u++)
		if (!take_use(making, &option->uses[u]))
			return false;
	if (!take_outs(making) || (option->empties && !keeps_out_of_lx(option)))
		return false;
	for (int a = 0; a < option->argument_count; a++)
		move_making_add_tensor(making, option->arguments[a]);
	move->fresh = (uint16_t)making->fresh;
	int most = making->frame->args_most;
	return !most || move->args <= most;
}

/* --- moves that drop what their outs take over */

/* The outs that could, for tensors that are kept otherwise. */
static int find_droppers(const struct move_making *making, int *outs)
{
	const struct joint_option *option = making->option;
	int count = 0;
	for (int o = 0; o < option->out_count; o++) {
		const struct joint_out *out = &option->outs[o];
		if (out->view < 0 || out->in_place < 0 || taken_over(making, out) <= 0)
			continue;
		const struct joint_use *use = &option->uses[out->in_place];
		uint16_t after = kept_of(making, use->tensor, cut_code(true, use->view));
		if (cut_view(after) >= 0 && after & CUT_VALID && count < 16)
			outs[count++] = o;
	}
	return count;
}

/* The codes that such a move demands are in its savings; it saves nothing with others. */
static void make_dropping(struct move_making *making, const struct menu_move *kept, const int *outs,
	int count, struct arena *arena, struct growing_moves *moves)
{
	const struct joint_option *option = making->option;
	for (uint64_t set = 1; count && set < UINT64_C(1) << count; set++) {
		struct menu_move *move = array_add(arena, moves);
		*move = *kept;
		move->drops = true;
		move->effects = arena_array(making->arena, struct menu_effect,
			option->use_count + 2 * option->out_count);
		memcpy(move->effects, kept->effects,
			(size_t)kept->effect_count * sizeof *kept->effects);
		making->move = move;
		for (int i = 0; i < count; i++) {
			const struct joint_out *out = &option->outs[outs[i]];
			if (!(set >> i & 1))
				continue;
			move->bytes -= taken_over(making, out);
			move_making_affect(
				making, option->uses[out->in_place].tensor, CUT_VALID, false);
		}
	}
}

/* --- their order */

static int compare_counts(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_effects(const struct menu_move *a, const struct menu_move *b)
{
	int order = compare_counts((uint64_t)a->end, (uint64_t)b->end);
	order = order ? order : compare_counts(a->ends_bundle, b->ends_bundle);
	order = order ? order : compare_counts(a->alone, b->alone);
	order = order ? order : compare_counts(a->empties, b->empties);
	order = order ? order : compare_counts((uint64_t)a->args, (uint64_t)b->args);
	order = order ? order : compare_counts(a->args_before, b->args_before);
	order = order ? order : compare_counts(a->args_after, b->args_after);
	order = order ? order : compare_counts(a->held, b->held);
	order = order ? order
		      : compare_counts((uint64_t)a->effect_count, (uint64_t)b->effect_count);
	for (int e = 0; e < a->effect_count && !order; e++) {
		order = compare_counts((uint64_t)a->effects[e].slot, (uint64_t)b->effects[e].slot);
		order = order ? order : compare_counts(a->effects[e].code, b->effects[e].code);
	}
	return order;
}

static int compare_moves(const void *left, const void *right)
{
	const struct menu_move *a = left, *b = right;
	int order = compare_effects(a, b);
	order = order ? order : compare_counts((uint64_t)a->value, (uint64_t)b->value);
	order = order ? order : compare_counts((uint64_t)a->cores, (uint64_t)b->cores);
	order = order ? order : compare_counts(a->option, b->option);
	return order ? order : compare_counts(a->drops, b->drops);
}

/* Copies the effects and savings of a move. */
static void menu_settle(struct menu_move *move, struct arena *arena)
{
	size_t effects = move->effect_count * sizeof *move->effects;
	size_t savings = move->saving_count * sizeof *move->savings;
	move->effects = effects ? arena_copy(arena, move->effects, effects) : NULL;
	move->savings = savings ? arena_copy(arena, move->savings, savings) : NULL;
}

struct moves moves_make(const struct frame *frame, int cut, struct arena *arena)
{
	const struct joint_space *space = frame->space;
	struct arena *scratch = arena_open(); /* of what grows */
	struct arena *trial = arena_open();   /* of the moves of one option */
	struct growing_moves moves = {0};
	for (size_t i = space->first_option[cut]; i < space->first_option[cut + 1]; i++) {
		struct menu_move move;
		struct arena_mark mark = arena_mark(trial);
		size_t first = moves.count;
		struct move_making making = {.frame = frame,
			.arena = trial,
			.cut = cut,
			.option = &space->options[i],
			.move = &move};
		if (menu_make_move(&making)) {
			*array_add(scratch, &moves) = move;
			int outs[16];
			int count = find_droppers(&making, outs);
			make_dropping(&making, &move, outs, count, scratch, &moves);
		}
		for (size_t m = first; m < moves.count; m++)
			menu_settle(&moves.at[m], arena);
		arena_release(trial, mark);
	}
	if (moves.count)
		qsort(moves.at, moves.count, sizeof *moves.at, compare_moves);
	for (size_t i = 1; i < moves.count; i++)
		moves.at[i].group = moves.at[i - 1].group +
				    (compare_effects(&moves.at[i - 1], &moves.at[i]) != 0);
	struct moves made = {
		moves.count, arena_copy(arena, moves.at, moves.count * sizeof *moves.at)};
	arena_close(trial);
	arena_close(scratch);
	return made;
}

bool move_drops(const struct frame *frame, const struct menu_move *move, int tensor)
{
	int slot = frame_slot(frame, move->end, tensor);
	for (int e = 0; move->drops && e < move->effect_count; e++)
		if (move->effects[e].slot == slot)
			return cut_view(move->effects[e].code) < 0;
	return false;
}
