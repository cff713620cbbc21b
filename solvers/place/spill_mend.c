#include "solvers/place/spill_mend.h"

#include "base/arena.h"
#include "solvers/place/spill_pack.h"

/* Nodes of a try, what it takes besides, and rows on each side of one of the item's. */
enum { NODES = 400, TRY_WORK = 100, REACH_MOST = 8 };

struct window {
	int low, high; /* rows, half-open */
	int kind;
};

/* Which live near: wholly there, or begin there, or end there, or live there at all. */
enum { WITHIN, BEGINS, ENDS, LIVES, KINDS };

static bool is_near(const struct window *window, int first, int end)
{
	switch (window->kind) {
	case WITHIN:
		return first >= window->low && end <= window->high;
	case BEGINS:
		return first >= window->low && first < window->high;
	case ENDS:
		return end > window->low && end <= window->high;
	default:
		return first < window->high && end > window->low;
	}
}

static bool try_window(struct run *run, const struct spill_set *set, int64_t *at,
	const struct window *window, uint64_t *work)
{
	struct arena *arena = arena_open();
	const struct spill_item *items = set->model->items;
	struct spill_question question = spill_question_make(arena, set->model, set->kept);
	int64_t *order = arena_array(arena, int64_t, question.packing.count);
	for (size_t r = 0; r < question.packing.count; r++) {
		const struct spill_residence *residence = &question.residences[r];
		int first = items[residence->first].row, end = items[residence->last].row_end;
		order[r] = is_near(window, first, end) ? UNPLACED : at[residence->first];
		for (int i = residence->first; i <= residence->last; i++)
			if (at[i] != at[residence->first])
				order[r] = UNPLACED;
	}
	struct pack_question asked = {.packing = &question.packing,
		.capacity = question.packing.capacity,
		.nodes = NODES,
		.varied = true,
		.order = order};
	struct pack_answer answer = pack(run, &asked, arena);
	*work += TRY_WORK + answer.nodes;
	if (answer.status == PACK_FITS)
		spill_question_answer(&question, answer.placement, at);
	arena_close(arena);
	return answer.status == PACK_FITS;
}

bool spill_mend(
	struct run *run, struct spill_set *set, int64_t *at, int item, int tries, uint64_t *work)
{
	const struct spill_item *it = &set->model->items[item];
	int rows = it->row_end - it->row;
	spill_set_turn(set, item);
	at[item] = UNPLACED;
	for (int k = 0; k < tries && run_spend(run, 1); k++) {
		int row = it->row + (rows ? (int)run_random(run, (uint64_t)rows) : 0);
		int reach = (int)run_random(run, REACH_MOST);
		struct window window = {row - reach, row + reach + 1, (int)run_random(run, KINDS)};
		if (try_window(run, set, at, &window, work))
			return true;
	}
	spill_set_turn(set, item);
	return false;
}
