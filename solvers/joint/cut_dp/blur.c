#include "solvers/joint/cut_dp/blur.h"

#include "base/arena.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

struct blur_life {
	int tensor, first, last; /* cuts */
};

static int compare_lives(const void *left, const void *right)
{
	const struct blur_life *a = left, *b = right;
	int order = (a->last - a->first) - (b->last - b->first);
	return order ? order : a->tensor - b->tensor;
}

static int find_lives(const struct frame *frame, struct blur_life *lives)
{
	int count = 0;
	for (int t = 0; t < frame->space->tensor_count; t++) {
		struct blur_life life = {t, frame->cut_count, -1};
		for (int c = 0; c < frame->cut_count; c++)
			if (frame_slot(frame, c, t) != CUT_NO_SLOT) {
				life.first = life.last < 0 ? c : life.first;
				life.last = c;
			}
		if (life.last >= 0 && frame->space->tensors[t].view_count > 1)
			lives[count++] = life;
	}
	return count;
}

/* What was told apart before still is. */
static bool *choose(
	const struct frame *frame, const struct blur *before, double states, struct arena *arena)
{
	struct blur_life *lives = arena_array(arena, struct blur_life, frame->space->tensor_count);
	bool *is_blurred = arena_array(arena, bool, frame->space->tensor_count);
	double *product = arena_array(arena, double, frame->cut_count);
	int count = find_lives(frame, lives);
	for (int c = 0; c < frame->cut_count; c++)
		product[c] = 1;
	if (count)
		qsort(lives, (size_t)count, sizeof *lives, compare_lives);
	for (int again = 0; again < 2; again++)
		for (int i = 0; i < count; i++) {
			const struct blur_life *life = &lives[i];
			bool known = before && !before->is_blurred[life->tensor];
			double views = 1 + frame->space->tensors[life->tensor].view_count;
			if (known == again)
				continue;
			for (int c = life->first; c <= life->last && again; c++)
				is_blurred[life->tensor] |= product[c] * views > states;
			for (int c = life->first; c <= life->last && !is_blurred[life->tensor]; c++)
				product[c] *= views;
		}
	return is_blurred;
}

static void blur_tensor(struct joint_tensor *tensor, struct arena *arena)
{
	const struct joint_tensor from = *tensor;
	int64_t *bytes = arena_array(arena, int64_t, 1), *evict = arena_array(arena, int64_t, 1);
	int64_t *relay = arena_array(arena, int64_t, 1);
	int *cores = arena_array(arena, int, 1);
	bool *serves = arena_array(arena, bool, 1);
	if (!from.view_count)
		return;
	*evict = *relay = JOINT_NEVER;
	*cores = from.cores[0];
	*serves = true;
	for (int v = 0; v < from.view_count; v++) {
		*evict = number_min(*evict, from.evict[v]);
		*cores = from.cores[v] < *cores ? from.cores[v] : *cores;
	}
	tensor->view_count = 1;
	tensor->bytes = bytes;
	tensor->evict = evict;
	tensor->relay = relay;
	tensor->cores = cores;
	tensor->serves = serves;
}

static void blur_option(const struct joint_space *space, const bool *is_blurred,
	struct joint_option *option, struct arena *arena)
{
	struct joint_use *uses =
		arena_copy(arena, option->uses, (size_t)option->use_count * sizeof *uses);
	struct joint_out *outs =
		arena_copy(arena, option->outs, (size_t)option->out_count * sizeof *outs);
	for (int u = 0; u < option->use_count; u++)
		if (is_blurred[uses[u].tensor] && uses[u].view >= 0)
			uses[u].view = 0;
	for (int o = 0; o < option->out_count; o++)
		if (is_blurred[outs[o].tensor] && outs[o].view >= 0)
			outs[o].view = 0;
	option->uses = uses;
	option->outs = outs;
}

struct blur blur_make(
	const struct frame *frame, const struct blur *before, double states, struct arena *arena)
{
	const char *why;
	const bool *is_blurred = choose(frame, before, states, arena);
	const struct joint_space *space = frame->space;
	struct joint_space *blurred = arena_copy(arena, space, sizeof *space);
	struct joint_tensor *tensors =
		arena_copy(arena, space->tensors, (size_t)space->tensor_count * sizeof *tensors);
	struct joint_option *options =
		arena_copy(arena, space->options, space->option_count * sizeof *options);
	for (int t = 0; t < space->tensor_count; t++)
		if (is_blurred[t])
			blur_tensor(&tensors[t], arena);
	for (size_t i = 0; i < space->option_count; i++)
		blur_option(space, is_blurred, &options[i], arena);
	blurred->tensors = tensors;
	blurred->options = options;
	struct frame *made = arena_copy(arena, frame_make(blurred, arena, &why), sizeof *made);
	made->over = frame->over;
	made->width_most = frame->width_most;
	made->rank_count = frame->rank_count;
	made->widths = frame->widths;
	made->ranks = frame->ranks;
	struct blur blur = {.frame = made, .is_blurred = is_blurred};
	for (int t = 0; t < space->tensor_count; t++)
		blur.told_apart += !is_blurred[t];
	return blur;
}

void blur_codes(const struct blur *blur, int cut, const uint16_t *codes, uint16_t *blurred)
{
	const struct cut *at = &blur->frame->cuts[cut];
	for (int s = 0; s < at->slot_count; s++) {
		bool blurs = blur->is_blurred && blur->is_blurred[at->tensors[s]];
		uint16_t code = codes[s];
		if (blurs && cut_view(code) > 0)
			code = cut_code(code & CUT_VALID, 0);
		blurred[s] = at->kept[s][code];
	}
}

struct lesser {
	const struct blur *blur;
	int cut;
	uint16_t codes[CUT_SLOTS_MOST];
	blur_visit *visit;
	void *context;
};

static void visit_less(struct lesser *lesser, int slot, bool is_less)
{
	const struct cut *at = &lesser->blur->frame->cuts[lesser->cut];
	if (slot == at->slot_count) {
		if (is_less)
			lesser->visit(lesser->context, lesser->codes);
		return;
	}
	uint16_t code = lesser->codes[slot];
	visit_less(lesser, slot + 1, is_less);
	if (cut_view(code) < 0 ||
		!(code & CUT_VALID || lesser->blur->is_blurred[at->tensors[slot]]))
		return;
	lesser->codes[slot] = code & CUT_VALID;
	visit_less(lesser, slot + 1, true);
	lesser->codes[slot] = code;
}

void blur_less(
	const struct blur *blur, int cut, const uint16_t *codes, blur_visit *visit, void *context)
{
	struct lesser lesser = {.blur = blur, .cut = cut, .visit = visit, .context = context};
	size_t slots = (size_t)blur->frame->cuts[cut].slot_count;
	memcpy(lesser.codes, codes, slots * sizeof *codes);
	if (blur->is_blurred)
		visit_less(&lesser, 0, false);
}
