#include "search/joint/joint_making.h"

#include <stdlib.h>

static int compare_numbers(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Zero if ops, uses and outs are the same.  Early moves are uses, of any tensors, so their number differs. */
static int compare_places(const struct joint_draft *a, const struct joint_draft *b)
{
	const struct joint_option *x = &a->option, *y = &b->option;
	int order = compare_numbers(x->end, y->end);
	order = order ? order : compare_numbers(x->use_count, y->use_count);
	order = order ? order : compare_numbers(x->out_count, y->out_count);
	for (int u = 0; u < x->use_count && !order; u++) {
		order = compare_numbers(x->uses[u].tensor, y->uses[u].tensor);
		order = order ? order : compare_numbers(x->uses[u].mode, y->uses[u].mode);
		if (!order && !(a->dying >> u & 1))
			order = compare_numbers(x->uses[u].view, y->uses[u].view);
	}
	for (int i = 0; i < x->out_count && !order; i++) {
		order = compare_numbers(x->outs[i].tensor, y->outs[i].tensor);
		order = order ? order : compare_numbers(x->outs[i].view, y->outs[i].view);
		order = order ? order : compare_numbers(x->outs[i].in_place, y->outs[i].in_place);
	}
	return order;
}

static int compare_drafts(const void *left, const void *right)
{
	const struct joint_draft *a = left, *b = right;
	int order = compare_places(a, b);
	order = order ? order : compare_numbers(a->option.value, b->option.value);
	order = order ? order : compare_numbers(a->option.room, b->option.room);
	order = order ? order : compare_numbers(a->option.cores, b->option.cores);
	order = order ? order : compare_numbers(a->dying_bytes, b->dying_bytes);
	return order ? order : compare_numbers((int64_t)a->number, (int64_t)b->number);
}

/* The loops that are cut. */
static const struct tile_run *copy_loops(const struct tile_run *loops, struct arena *arena)
{
	struct tile_run *run = arena_copy(arena, loops, sizeof *loops);
	run->loop_count = 0;
	for (int k = 0; k < loops->loop_count; k++)
		if (loops->loops[k].tiles > 1)
			run->loops[run->loop_count++] = loops->loops[k];
	return run;
}

static void keep(struct joint_making *making, const struct joint_draft *draft)
{
	struct arena *arena = making->arena;
	const struct joint_run *run = draft->run;
	struct joint_option *option = array_add(arena, &making->options);
	int ops = draft->option.end - draft->option.first;
	struct joint_part *parts = arena_copy(arena, draft->parts, (size_t)ops * sizeof *parts);
	struct joint_choice *choice = arena_new(arena, struct joint_choice);
	for (int i = 0; i < ops; i++)
		if (parts[i].tiles)
			parts[i].tiles = arena_copy(arena, parts[i].tiles, sizeof *parts[i].tiles);
	choice->parts = parts;
	choice->inside_count = draft->inside_count;
	choice->inside = draft->inside;
	if (run) {
		choice->run = copy_loops(&run->loops, arena);
		choice->inside_count = run->inside_count;
		choice->inside = run->inside;
	}
	*option = draft->option;
	option->uses = arena_copy(
		arena, draft->option.uses, (size_t)option->use_count * sizeof *option->uses);
	option->outs = arena_copy(
		arena, draft->option.outs, (size_t)option->out_count * sizeof *option->outs);
	option->choice = choice;
}

void joint_drafts_keep(struct joint_making *making, struct joint_drafts *drafts)
{
	struct joint_draft *at = drafts->at;
	size_t first = 0, kept = 0; /* of those with equal places, at the front of drafts */
	if (drafts->count)
		qsort(at, drafts->count, sizeof *at, compare_drafts);
	for (size_t i = 0; i < drafts->count; i++) {
		bool beaten = false;
		if (kept == first || compare_places(&at[i], &at[first]))
			first = kept;
		for (size_t k = first; k < kept && !beaten; k++)
			beaten = at[k].option.room <= at[i].option.room &&
				 at[k].option.cores <= at[i].option.cores &&
				 at[k].dying_bytes <= at[i].dying_bytes;
		if (!beaten)
			at[kept++] = at[i];
	}
	for (size_t i = 0; i < kept; i++)
		keep(making, &at[i]);
}
