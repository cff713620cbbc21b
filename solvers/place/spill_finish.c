#include "solvers/place/spill_finish.h"

#include "base/arena.h"
#include "solvers/place/spill_fit.h"
#include "solvers/place/spill_mend.h"

#include <string.h>

/* Orders of first fit, and tries to make a place for an item. */
enum { ORDERS = 10, MENDS = 10 };

static void forget_others(const struct spill_set *set, int64_t *at)
{
	for (int i = 0; i < set->model->item_count; i++)
		if (!set->kept[i])
			at[i] = UNPLACED;
}

/* The most of what is wanted that first fit finds places for, in some orders. */
static void fit_wanted(
	struct run *run, const struct spill_set *wanted, struct spill_set *set, int64_t *at)
{
	struct arena *arena = arena_open();
	const struct spill_model *model = set->model;
	size_t size = (size_t)model->item_count * sizeof *at;
	struct spill_set trial = spill_set_make(arena, model);
	int64_t *known = arena_copy(arena, at, size);
	int64_t *trial_at = arena_array(arena, int64_t, model->item_count);
	for (int k = 0; k < ORDERS && set->gain < wanted->gain && run_go_on(run, 1); k++) {
		spill_set_copy(&trial, wanted);
		spill_fit(run, &trial, k ? SPILL_ABOUT_BY_WORTH : SPILL_BY_WORTH, known, trial_at);
		if (trial.gain <= set->gain)
			continue;
		spill_set_copy(set, &trial);
		memcpy(at, trial_at, size);
	}
	arena_close(arena);
}

/* What gains something and has room in the rows; of what is wanted, or of all. */
static void mend(
	struct run *run, const struct spill_set *wanted, struct spill_set *set, int64_t *at)
{
	const struct spill_model *model = set->model;
	for (int i = 0; i < model->item_count && run_go_on(run, 1); i++)
		if (!set->kept[i] && model->items[i].gain > 0 && (!wanted || wanted->kept[i]) &&
			spill_set_has_room(set, i))
			spill_mend(run, set, at, i, MENDS);
}

static void fit_more(struct run *run, struct spill_moves *moves, struct spill_set *set, int64_t *at)
{
	forget_others(set, at);
	spill_moves_fill(moves, set);
	spill_fit(run, set, SPILL_BY_WORTH, at, at);
}

void spill_finish(struct run *run, struct spill_moves *moves, const struct spill_set *wanted,
	struct spill_set *set, int64_t *at)
{
	if (set->model->pair_count || !run_go_on(run, 1))
		return;
	forget_others(set, at);
	fit_wanted(run, wanted, set, at);
	mend(run, wanted, set, at);
	fit_more(run, moves, set, at);
	mend(run, NULL, set, at);
}
