#include "solvers/place/spill/fit.h"

#include "base/arena.h"
#include "solvers/place/shelf.h"
#include "solvers/place/spill/question.h"

#include <math.h>
#include <stdlib.h>

struct density {
	double worth;
	size_t item;
};

static int by_density(const void *a, const void *b)
{
	const struct density *x = a, *y = b;
	if (x->worth != y->worth)
		return x->worth < y->worth ? 1 : -1;
	return (x->item > y->item) - (x->item < y->item);
}

/* What is there at one address is worth as much as all of it, for what it takes. */
static struct density *rank_items(const struct spill_model *model, const struct items *items,
	const struct spill_question *question, struct arena *arena)
{
	struct density *ranks = arena_array(arena, struct density, items->count);
	for (size_t k = 0; k < items->count; k++)
		ranks[k].item = k;
	for (size_t b = 0; b < question->packing.count; b++)
		for (int i = question->residences[b].first;
			items->of[b] >= 0 && i <= question->residences[b].last; i++)
			ranks[items->of[b]].worth += (double)model->items[i].gain;
	for (size_t k = 0; k < items->count; k++)
		ranks[k].worth =
			items_fixed(items, k) ? INFINITY : ranks[k].worth / (1 + items->at[k].area);
	qsort(ranks, items->count, sizeof *ranks, by_density);
	return ranks;
}

/* What is there already stays there. */
static void fix(struct spill_question *question, const int64_t *known, struct arena *arena)
{
	size_t count = question->packing.count;
	struct buffer *buffers =
		arena_copy(arena, question->packing.buffers, count * sizeof *buffers);
	for (size_t b = 0; b < count; b++) {
		int64_t address = known[question->residences[b].first];
		if (address == UNPLACED)
			continue;
		buffers[b].is_fixed = true;
		buffers[b].address = address;
	}
	question->packing.buffers = buffers;
}

void spill_fit(struct run *run, struct spill_set *set, const int64_t *known, int64_t *at)
{
	struct arena *arena = arena_open();
	struct spill_question question = spill_question_make(arena, set->model, set->kept);
	question.packing.goal = PACKING_SPILL;
	if (known)
		fix(&question, known, arena);
	struct items *items = items_make(&question.packing, arena);
	struct density *ranks = rank_items(set->model, items, &question, arena);
	struct shelf *shelf = shelf_make(items, arena);
	shelf_clear(shelf);
	for (size_t k = 0; k < items->count; k++) {
		if (!items_fixed(items, ranks[k].item) && !run_go_on(run, 1))
			break;
		if (!items_range(items, ranks[k].item))
			shelf_put(shelf, ranks[k].item, SHELF_FIRST, question.packing.capacity);
	}
	struct placement placement = {question.packing.count,
		arena_array(arena, int64_t, question.packing.count), NULL, 0, NULL};
	items_place(items, shelf_addresses(shelf), &placement);
	for (size_t b = 0; b < question.packing.count; b++)
		for (int i = question.residences[b].first;
			placement.addresses[b] == UNPLACED && i <= question.residences[b].last; i++)
			spill_set_turn(set, i);
	spill_question_answer(&question, &placement, at);
	arena_close(arena);
}
