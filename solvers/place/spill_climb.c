#include "solvers/place/spill_climb.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum {
	KEYS = 1 << 14,   /* a power of two */
	TRY_NODES = 1500, /* of the packer, for a move */
	START_NODES = 20000,
	COOLING = 400, /* steps from warm to cold */
};

/* Of the mean gain of an item: what a warm step may lose. */
#define WARMTH 0.5

static double noise(struct spill_climb *climb)
{
	return 0.6 + 0.8 * (double)run_random(climb->run, 1 << 20) / (1 << 20);
}

struct spill_climb spill_climb_make(
	struct run *run, struct arena *arena, const struct spill_model *model)
{
	size_t count = (size_t)model->item_count;
	struct spill_climb climb = {.run = run,
		.model = model,
		.arena = arena,
		.now = spill_set_make(arena, model),
		.next = spill_set_make(arena, model),
		.best = spill_set_make(arena, model),
		.ranks = arena_array(arena, struct spill_rank, count),
		.pinned = arena_array(arena, bool, count),
		.worth = arena_array(arena, double, count),
		.keys = arena_array(arena, uint64_t, KEYS),
		.codes = arena_array(arena, uint64_t, count)};
	for (int i = 0; i < model->item_count; i++) {
		const struct spill_item *item = &model->items[i];
		double gain = (double)item->gain, rows = item->row_end - item->row;
		if (item->version >= 0) {
			const struct spill_version *version = &model->versions[item->version];
			gain += (double)version->gain / (version->item_end - version->item);
		}
		climb.worth[i] = gain / (1 + (double)item->size * rows);
		climb.codes[i] = run_random(run, UINT64_MAX);
	}
	return climb;
}

static uint64_t key_of(const struct spill_climb *climb, const struct spill_set *set)
{
	uint64_t key = 1;
	for (int i = 0; i < climb->model->item_count; i++)
		if (set->kept[i])
			key += climb->codes[i];
	return key ? key : 1;
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
			int64_t over = set->load[r] - set->room;
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
		while (set->load[r] > set->room) {
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
		if (!set->kept[i] && climb->model->items[i].gain > 0)
			climb->ranks[count++] =
				(struct spill_rank){climb->worth[i] * noise(climb), i};
	qsort(climb->ranks, (size_t)count, sizeof *climb->ranks, by_worth);
	for (int k = 0; k < count; k++) {
		int i = climb->ranks[k].item;
		if (spill_set_has_room(set, i))
			spill_set_turn(set, i);
	}
}

static enum pack_status ask(struct spill_climb *climb, const struct spill_set *set, uint64_t nodes)
{
	struct arena *arena = arena_open();
	struct spill_question question = spill_question_make(arena, climb->model, set->kept);
	struct pack_question asked = {.packing = &question.packing,
		.capacity = question.packing.capacity,
		.nodes = nodes};
	struct pack_answer answer = pack(climb->run, &asked, arena);
	climb->packed++;
	if (answer.status == PACK_FITS && set->gain > climb->best.gain) {
		spill_set_copy(&climb->best, set);
		climb->placement =
			spill_question_answer(run_arena(climb->run), &question, answer.placement);
		climb->better = true;
	}
	arena_close(arena);
	return answer.status;
}

bool spill_climb_try(struct spill_climb *climb, const bool *kept, uint64_t nodes)
{
	struct spill_set *next = &climb->next;
	spill_set_copy(next, &climb->now);
	for (int i = 0; i < climb->model->item_count; i++)
		if (next->kept[i] != kept[i])
			spill_set_turn(next, i);
	if (next->gain <= climb->best.gain || ask(climb, next, nodes) != PACK_FITS)
		return false;
	spill_set_copy(&climb->now, next);
	return true;
}

void spill_climb_start(struct spill_climb *climb)
{
	for (int percent = 100; percent > 0; percent -= percent > 80 ? 2 : 10) {
		struct spill_set *next = &climb->next;
		spill_set_clear(next);
		next->room = climb->model->room * percent / 100;
		fill(climb, next);
		next->room = climb->model->room;
		if (ask(climb, next, START_NODES) == PACK_FITS) {
			spill_set_copy(&climb->now, next);
			return;
		}
	}
}

/* Something that is not kept, with a parent if it needs one; false if everything is. */
static bool pin(struct spill_climb *climb, struct spill_set *set)
{
	int count = climb->model->item_count, at = (int)run_random(climb->run, (uint64_t)count);
	for (int k = 0; k < count; k++, at = (at + 1) % count) {
		const struct spill_item *item = &climb->model->items[at];
		if (set->kept[at] || (item->tied && !item->parent_count))
			continue;
		spill_set_turn(set, at);
		climb->pinned[at] = true;
		if (item->tied) {
			int p = item->parents[run_random(climb->run, (uint64_t)item->parent_count)];
			climb->pinned[p] = true;
			if (!set->kept[p])
				spill_set_turn(set, p);
		}
		return true;
	}
	return false;
}

void spill_climb_step(struct spill_climb *climb)
{
	const struct spill_model *model = climb->model;
	struct spill_set *next = &climb->next;
	memset(climb->pinned, 0, (size_t)model->item_count * sizeof *climb->pinned);
	spill_set_copy(next, &climb->now);
	climb->steps++;
	if (!pin(climb, next) || !relieve(climb, next))
		return;
	fill(climb, next);
	double warm = 1 - (double)(climb->steps % COOLING) / COOLING;
	double allowed = warm * WARMTH * (double)model->total / model->item_count;
	if ((double)next->gain < (double)climb->now.gain - allowed)
		return;
	uint64_t key = key_of(climb, next), *slot = &climb->keys[key % KEYS];
	if (*slot == key)
		return;
	*slot = key;
	if (ask(climb, next, TRY_NODES) == PACK_FITS)
		spill_set_copy(&climb->now, next);
}
