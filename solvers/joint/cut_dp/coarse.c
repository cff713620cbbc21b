#include "solvers/joint/cut_dp/cut_dp.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

struct coarse_life {
	int tensor, first, last; /* cuts */
};

static int compare_lives(const void *left, const void *right)
{
	const struct coarse_life *a = left, *b = right;
	int order = (a->last - a->first) - (b->last - b->first);
	return order ? order : a->tensor - b->tensor;
}

static int find_lives(const struct frame *frame, struct coarse_life *lives)
{
	int count = 0;
	for (int t = 0; t < frame->space->tensor_count; t++) {
		struct coarse_life life = {t, frame->cut_count, -1};
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

/* Chooses the tensors whose views stay distinct, those of the coarser space among them. */
static bool *distinct_choose(const struct frame *frame, const struct coarse_space *before,
	double states, struct arena *arena)
{
	struct coarse_life *lives =
		arena_array(arena, struct coarse_life, frame->space->tensor_count);
	bool *is_coarse = arena_array(arena, bool, frame->space->tensor_count);
	double *product = arena_array(arena, double, frame->cut_count);
	int count = find_lives(frame, lives);
	for (int c = 0; c < frame->cut_count; c++)
		product[c] = 1;
	if (count)
		qsort(lives, (size_t)count, sizeof *lives, compare_lives);
	for (int again = 0; again < 2; again++)
		for (int i = 0; i < count; i++) {
			const struct coarse_life *life = &lives[i];
			bool known = before && !before->is_coarse[life->tensor];
			double views = 1 + frame->space->tensors[life->tensor].view_count;
			if (known == again)
				continue;
			for (int c = life->first; c <= life->last && again; c++)
				is_coarse[life->tensor] |= product[c] * views > states;
			for (int c = life->first; c <= life->last && !is_coarse[life->tensor]; c++)
				product[c] *= views;
		}
	return is_coarse;
}

static void coarse_tensor(struct joint_tensor *tensor, struct arena *arena)
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

/* An option with the views of a coarse space, while those of one op are compared. */
struct coarse_option {
	struct joint_option option;
	size_t next; /* number + 1 of one with the same hash; 0: none */
	bool is_displaced;
};

struct coarse_options {
	struct array(struct coarse_option) of_op;
	size_t *table; /* by hash: number + 1; 0: none */
	size_t size;   /* of the table, a power of two */
};

/* Joins the views of an option: its uses and outs become copies. */
static void join_views(const bool *is_coarse, struct joint_option *option, struct arena *arena)
{
	struct joint_use *uses =
		arena_copy(arena, option->uses, (size_t)option->use_count * sizeof *uses);
	struct joint_out *outs =
		arena_copy(arena, option->outs, (size_t)option->out_count * sizeof *outs);
	for (int u = 0; u < option->use_count; u++)
		if (is_coarse[uses[u].tensor] && uses[u].view >= 0)
			uses[u].view = 0;
	for (int o = 0; o < option->out_count; o++)
		if (is_coarse[outs[o].tensor] && outs[o].view >= 0)
			outs[o].view = 0;
	option->uses = uses;
	option->outs = outs;
}

static uint64_t hash_effects(const struct joint_option *option)
{
	uint64_t hash = hash_add(HASH_START, (uint64_t)option->end);
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		hash = hash_add(hash, (uint64_t)use->tensor << 2 | use->mode);
		hash = hash_add(hash, (uint64_t)(use->view + 1));
	}
	for (int o = 0; o < option->out_count; o++) {
		hash = hash_add(hash, (uint64_t)option->outs[o].tensor);
		hash = hash_add(hash, (uint64_t)(option->outs[o].view + 1));
	}
	return hash ^ hash >> 32;
}

/* True if two options of one op need and leave the same. */
static bool acts_alike(const struct joint_option *a, const struct joint_option *b)
{
	return a->end == b->end && a->ends_bundle == b->ends_bundle && a->alone == b->alone &&
	       a->empties == b->empties && a->use_count == b->use_count &&
	       a->out_count == b->out_count && a->argument_count == b->argument_count &&
	       !memcmp(a->uses, b->uses, (size_t)a->use_count * sizeof *a->uses) &&
	       !memcmp(a->outs, b->outs, (size_t)a->out_count * sizeof *a->outs) &&
	       (!a->argument_count || !memcmp(a->arguments, b->arguments,
					      (size_t)a->argument_count * sizeof *a->arguments));
}

/* True if no menu has `b`, because `a` is no worse and comes before it (step.c).  `is_first` says that `a` comes before `b`
 * where their values and cores are equal. */
static bool joint_option_displaces(
	const struct joint_option *a, const struct joint_option *b, bool is_first)
{
	return a->value <= b->value && a->room <= b->room && a->cores <= b->cores &&
	       (is_first || a->value < b->value || a->cores < b->cores);
}

/* Adds an option of the fine space, unless another one displaces it. */
static void join_option(struct coarse_options *options, const bool *is_coarse,
	const struct joint_option *fine, struct arena *arena, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(arena);
	struct joint_option option = *fine;
	join_views(is_coarse, &option, arena);
	size_t *head = &options->table[hash_effects(&option) & (options->size - 1)];
	bool is_known = false;
	for (size_t at = *head; at; at = options->of_op.at[at - 1].next) {
		struct coarse_option *other = &options->of_op.at[at - 1];
		if (!acts_alike(&other->option, &option))
			continue;
		if (!is_known) {
			arena_release(arena, mark);
			option.uses = other->option.uses;
			option.outs = other->option.outs;
		}
		is_known = true;
		if (joint_option_displaces(&other->option, &option, true))
			return;
		other->is_displaced |= joint_option_displaces(&option, &other->option, false);
	}
	*array_add(scratch, &options->of_op) = (struct coarse_option){option, *head, false};
	*head = options->of_op.count;
}

/*
 * Makes the options of a coarse space.  Many options of the fine space differ only in views that are joined: those
 * that no menu has beside the others are left out, and options that act alike share their uses and outs.
 */
static void join_options(const struct joint_space *space, const bool *is_coarse,
	struct joint_space *image, struct arena *arena)
{
	struct arena *scratch = arena_open();
	struct array(struct joint_option) kept = {0};
	size_t *first = arena_array(arena, size_t, space->op_count + 1);
	for (int o = 0; o < space->op_count; o++) {
		struct coarse_options options = {.size = 64};
		struct arena *of_op = arena_open();
		while (options.size < space->first_option[o + 1] - space->first_option[o])
			options.size *= 2;
		options.table = arena_array(of_op, size_t, options.size);
		for (size_t i = space->first_option[o]; i < space->first_option[o + 1]; i++)
			join_option(&options, is_coarse, &space->options[i], arena, of_op);
		for (size_t i = 0; i < options.of_op.count; i++)
			if (!options.of_op.at[i].is_displaced)
				*array_add(scratch, &kept) = options.of_op.at[i].option;
		first[o + 1] = kept.count;
		arena_close(of_op);
	}
	image->options = arena_copy(arena, kept.at, kept.count * sizeof *kept.at);
	image->option_count = kept.count;
	image->first_option = first;
	arena_close(scratch);
}

struct coarse_space coarse_make(const struct frame *frame, const struct coarse_space *before,
	double states, struct arena *arena)
{
	const char *why;
	const bool *is_coarse = distinct_choose(frame, before, states, arena);
	const struct joint_space *space = frame->space;
	struct joint_space *image = arena_copy(arena, space, sizeof *space);
	struct joint_tensor *tensors =
		arena_copy(arena, space->tensors, (size_t)space->tensor_count * sizeof *tensors);
	for (int t = 0; t < space->tensor_count; t++)
		if (is_coarse[t])
			coarse_tensor(&tensors[t], arena);
	join_options(space, is_coarse, image, arena);
	image->tensors = tensors;
	struct frame *made = arena_copy(arena, frame_make(image, arena, &why), sizeof *made);
	made->over = frame->over;
	made->width_most = frame->width_most;
	made->rank_count = frame->rank_count;
	made->widths = frame->widths;
	made->ranks = frame->ranks;
	struct coarse_space coarse = {.frame = made, .is_coarse = is_coarse};
	for (int t = 0; t < space->tensor_count; t++)
		coarse.distinct += !is_coarse[t];
	return coarse;
}

void coarse_codes(
	const struct coarse_space *coarse, int cut, const uint16_t *codes, uint16_t *image)
{
	const struct cut *at = &coarse->frame->cuts[cut];
	for (int s = 0; s < at->slot_count; s++) {
		bool merges = coarse->is_coarse && coarse->is_coarse[at->tensors[s]];
		uint16_t code = codes[s];
		if (merges && cut_view(code) > 0)
			code = cut_code(code & CUT_VALID, 0);
		image[s] = at->kept[s][code];
	}
}

struct lesser {
	const struct coarse_space *coarse;
	int cut;
	uint16_t codes[CUT_SLOTS_MOST];
	coarse_visit *visit;
	void *context;
};

static void visit_less(struct lesser *lesser, int slot, bool is_less)
{
	const struct cut *at = &lesser->coarse->frame->cuts[lesser->cut];
	if (slot == at->slot_count) {
		if (is_less)
			lesser->visit(lesser->context, lesser->codes);
		return;
	}
	uint16_t code = lesser->codes[slot];
	visit_less(lesser, slot + 1, is_less);
	if (cut_view(code) < 0 ||
		!(code & CUT_VALID || lesser->coarse->is_coarse[at->tensors[slot]]))
		return;
	lesser->codes[slot] = code & CUT_VALID;
	visit_less(lesser, slot + 1, true);
	lesser->codes[slot] = code;
}

void coarse_less(const struct coarse_space *coarse, int cut, const uint16_t *codes,
	coarse_visit *visit, void *context)
{
	struct lesser lesser = {.coarse = coarse, .cut = cut, .visit = visit, .context = context};
	size_t slots = (size_t)coarse->frame->cuts[cut].slot_count;
	memcpy(lesser.codes, codes, slots * sizeof *codes);
	if (coarse->is_coarse)
		visit_less(&lesser, 0, false);
}
