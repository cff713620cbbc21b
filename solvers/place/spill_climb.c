#include "solvers/place/spill_climb.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum {
	TRY_NODES = 1000, /* of the packer, at least */
	START_NODES = 20000,
	KINDS = 6,  /* of beginnings; the first two are in all the room */
	MOVES = 20, /* between two questions to the packer, at least */
};

static double noise(struct spill_climb *climb)
{
	return 0.6 + 0.8 * (double)run_random(climb->run, 1 << 20) / (1 << 20);
}

struct spill_climb spill_climb_make(
	struct run *run, struct arena *arena, const struct spill_model *model)
{
	size_t count = (size_t)model->item_count;
	struct spill_climb climb = {
		.run = run,
		.model = model,
		.now = spill_set_make(arena, model),
		.trial = spill_set_make(arena, model),
		.best = spill_set_make(arena, model),
		.top = spill_set_make(arena, model),
		.addresses = arena_array(arena, int64_t, count),
		.best_at = arena_array(arena, int64_t, count),
		.ranks = arena_array(arena, struct spill_rank, count),
		.pinned = arena_array(arena, bool, count),
		.worth = arena_array(arena, double, count),
	};
	for (int i = 0; i < model->item_count; i++) {
		const struct spill_item *item = &model->items[i];
		double gain = (double)item->gain, rows = item->row_end - item->row;
		if (item->version >= 0) {
			const struct spill_version *version = &model->versions[item->version];
			gain += (double)version->gain / (version->item_end - version->item);
		}
		climb.worth[i] = gain / (1 + (double)item->size * rows);
	}
	return climb;
}

/* Tied items need a parent; one that loses its last goes, too. */
static void drop_orphans(struct spill_set *set)
{
	const struct spill_model *model = set->model;
	for (bool again = true; again;) {
		again = false;
		for (int i = 0; i < model->item_count; i++) {
			const struct spill_item *item = &model->items[i];
			bool good = !item->tied;
			for (int k = 0; k < item->parent_count && !good; k++)
				good = set->kept[item->parents[k]];
			if (set->kept[i] && !good) {
				spill_set_turn(set, i);
				again = true;
			}
		}
	}
}

/* What costs least for what it frees in a row that is too full; -1: there is nothing. */
static int cheapest(struct spill_climb *climb, struct spill_set *set, int row)
{
	const struct spill_row *full = &climb->model->rows[row];
	int found = -1;
	double least = 0;
	for (int k = 0; k < full->item_count; k++) {
		int i = full->items[k];
		const struct spill_item *item = &climb->model->items[i];
		if (!set->kept[i] || climb->pinned[i] || !item->size)
			continue;
		double freed = 0;
		for (int r = item->row; r < item->row_end; r++) {
			int64_t over = set->load[r] - set->room[r];
			if (over > 0)
				freed += (double)(over < item->size ? over : item->size);
		}
		double cost = -(double)spill_set_change(set, i) / (freed + 1e-9) * noise(climb);
		if (found < 0 || cost < least) {
			found = i;
			least = cost;
		}
	}
	return found;
}

/* False if pinned items alone are too much. */
static bool relieve(struct spill_climb *climb, struct spill_set *set)
{
	for (int r = 0; r < climb->model->row_count; r++)
		while (set->load[r] > set->room[r]) {
			int i = cheapest(climb, set, r);
			if (i < 0)
				return false;
			spill_set_turn(set, i);
		}
	drop_orphans(set);
	return true;
}

static int by_worth(const void *a, const void *b)
{
	const struct spill_rank *x = a, *y = b;
	if (x->worth != y->worth)
		return x->worth < y->worth ? 1 : -1;
	return x->item - y->item;
}

static void fill(struct spill_climb *climb, struct spill_set *set)
{
	int count = 0;
	for (int i = 0; i < climb->model->item_count; i++)
		if (!set->kept[i] && climb->model->items[i].gain > 0 && spill_set_has_room(set, i))
			climb->ranks[count++] =
				(struct spill_rank){climb->worth[i] * noise(climb), i};
	qsort(climb->ranks, (size_t)count, sizeof *climb->ranks, by_worth);
	for (int k = 0; k < count; k++) {
		int i = climb->ranks[k].item;
		if (spill_set_has_room(set, i))
			spill_set_turn(set, i);
	}
}

static void keep(struct spill_climb *climb, const struct spill_set *set,
	const struct spill_question *question, const struct placement *placement)
{
	if (climb->any && set->gain <= climb->best.gain)
		return;
	spill_question_answer(question, placement, climb->best_at);
	spill_set_copy(&climb->best, set);
	climb->better = climb->any = true;
}

/* Does the set pack?  It is the best if it is worth more. */
static struct pack_answer ask(
	struct spill_climb *climb, const struct spill_set *set, uint64_t nodes)
{
	struct arena *arena = arena_open();
	struct spill_question question = spill_question_make(arena, climb->model, set->kept);
	struct pack_question asked = {.packing = &question.packing,
		.capacity = question.packing.capacity,
		.nodes = nodes};
	struct pack_answer answer = pack(climb->run, &asked, arena);
	climb->work += answer.nodes;
	if (answer.status == PACK_FITS)
		keep(climb, set, &question, answer.placement);
	arena_close(arena);
	return answer;
}

static void set_trial(struct spill_climb *climb, const bool *kept)
{
	spill_set_clear(&climb->trial);
	for (int i = 0; i < climb->model->item_count; i++)
		if (kept[i])
			spill_set_turn(&climb->trial, i);
}

void spill_climb_keep(struct spill_climb *climb, const bool *kept,
	const struct spill_question *question, const struct placement *placement)
{
	set_trial(climb, kept);
	keep(climb, &climb->trial, question, placement);
}

bool spill_climb_try(struct spill_climb *climb, const bool *kept, uint64_t nodes)
{
	struct spill_set *trial = &climb->trial;
	set_trial(climb, kept);
	if (trial->gain > climb->top.gain) {
		spill_set_copy(&climb->top, trial);
		for (int r = 0; r < climb->model->row_count; r++)
			climb->top.room[r] = climb->model->room;
	}
	return trial->gain > climb->best.gain && ask(climb, trial, nodes).status == PACK_FITS;
}

void spill_climb_start(struct spill_climb *climb)
{
	climb->any = climb->better = true; /* nothing, at worst */
	for (int percent = 100; percent > 0; percent -= percent > 80 ? 2 : 10) {
		if (!run_spend(climb->run, 1))
			return;
		struct spill_set *trial = &climb->trial;
		spill_set_clear(trial);
		for (int r = 0; r < climb->model->row_count; r++)
			trial->room[r] = climb->model->room * percent / 100;
		fill(climb, trial);
		if (percent == 100)
			spill_set_copy(&climb->top, trial);
		if (ask(climb, trial, START_NODES).status == PACK_FITS)
			return;
	}
}

static void keep_pinned(struct spill_climb *climb, struct spill_set *set, int item)
{
	const struct spill_item *it = &climb->model->items[item];
	climb->pinned[item] = true;
	for (int i = it->rival; i < it->rival_end; i++)
		if (set->kept[i])
			spill_set_turn(set, i);
	if (!set->kept[item])
		spill_set_turn(set, item);
}

/* Something that is not kept, with a parent if it needs one; false: everything is. */
static bool pin(struct spill_climb *climb, struct spill_set *set)
{
	int count = climb->model->item_count, at = (int)run_random(climb->run, (uint64_t)count);
	memset(climb->pinned, 0, (size_t)count * sizeof *climb->pinned);
	for (int k = 0; k < count; k++, at = (at + 1) % count) {
		const struct spill_item *item = &climb->model->items[at];
		if (set->kept[at] || (item->tied && !item->parent_count))
			continue;
		if (item->tied)
			keep_pinned(climb, set,
				item->parents[run_random(
					climb->run, (uint64_t)item->parent_count)]);
		keep_pinned(climb, set, at);
		return true;
	}
	return false;
}

/* More gain in the rows' room: something is kept, what stands in its way is not. */
static void improve(struct spill_climb *climb, struct spill_set *set)
{
	struct spill_set *trial = &climb->trial;
	for (int move = 0; move < climb->moves; move++) {
		if (!run_spend(climb->run, 1))
			return;
		spill_set_copy(trial, set);
		if (!pin(climb, trial))
			return;
		if (!relieve(climb, trial))
			continue;
		fill(climb, trial);
		if (trial->gain >= set->gain)
			spill_set_copy(set, trial);
	}
}

static int row_at(const struct spill_model *model, int64_t time)
{
	int low = 0, high = model->row_count - 1;
	while (low < high) {
		int middle = (low + high + 1) / 2;
		if (model->rows[middle].time <= time)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* From the most valuable, or the best, in all the room; or from the best, with more room for some
 * time only. */
static void begin(struct spill_climb *climb)
{
	const struct spill_model *model = climb->model;
	struct spill_set *now = &climb->now;
	int from = 0, end = model->row_count;
	uint64_t kind = run_random(climb->run, KINDS);
	spill_set_copy(now, kind == 0 || !climb->any ? &climb->top : &climb->best);
	if (kind > 1 && end) {
		from = (int)run_random(climb->run, (uint64_t)end);
		end = from + 1 + (int)run_random(climb->run, (uint64_t)(end - from));
	}
	for (int r = from; r < end; r++)
		now->room[r] = model->room;
	climb->nodes = TRY_NODES << 2 * run_random(climb->run, 3);
	climb->moves = MOVES << run_random(climb->run, 4);
	climb->begun = true;
}

void spill_climb_step(struct spill_climb *climb)
{
	const struct spill_model *model = climb->model;
	struct spill_set *now = &climb->now;
	if (!climb->begun)
		begin(climb);
	improve(climb, now);
	climb->work += (uint64_t)climb->moves;
	if (now->gain > climb->top.gain)
		spill_set_copy(&climb->top, now);
	climb->begun = now->gain > climb->best.gain;
	if (!climb->begun)
		return;
	struct pack_answer answer = ask(climb, now, climb->nodes);
	climb->begun = answer.status != PACK_FITS;
	if (!climb->begun || !model->row_count)
		return;
	int row = answer.status == PACK_UNKNOWN
			  ? row_at(model, answer.hardest)
			  : (int)run_random(climb->run, (uint64_t)model->row_count);
	now->room[row] = now->load[row] - 1;
	memset(climb->pinned, 0, (size_t)model->item_count * sizeof *climb->pinned);
	relieve(climb, now);
	fill(climb, now);
}
