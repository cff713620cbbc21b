#include "solvers/place/spill_finish.h"

#include "base/arena.h"
#include "solvers/place/spill_fit.h"
#include "solvers/place/spill_mend.h"

#include <stdlib.h>

/* Tries to make a place for an item; rounds of all that are wanted.  If they are more than so many,
 * first fit comes first. */
enum { MENDS = 10, ROUNDS = 2, MANY = 100 };

/* A round ends it all once it lost so many times what may be lost: what comes later brings some of
 * that back. */
#define LOST_MOST 1.5

static void forget_others(const struct spill_set *set, int64_t *at)
{
	for (int i = 0; i < set->model->item_count; i++)
		if (!set->kept[i])
			at[i] = UNPLACED;
}

/* What is to get a place, and what the fullest of its rows leaves once all that is wanted is there:
 * where that is least, places are rarest. */
struct missing {
	int64_t spare;
	int item;
};

static int by_spare(const void *a, const void *b)
{
	const struct missing *x = a, *y = b;
	if (x->spare != y->spare)
		return x->spare < y->spare ? -1 : 1;
	return x->item - y->item;
}

/* Fills the list, unless it is NULL; returns how many there are. */
static int find_missing(
	const struct spill_set *wanted, const struct spill_set *set, struct missing *missing)
{
	int count = 0;
	for (int i = 0; i < set->model->item_count; i++) {
		if (!wanted->kept[i] || set->kept[i])
			continue;
		if (missing)
			missing[count] = (struct missing){spill_set_spare(wanted, i), i};
		count++;
	}
	return count;
}

static void fit_wanted(
	struct run *run, const struct spill_set *wanted, struct spill_set *set, int64_t *at)
{
	for (int i = 0; i < set->model->item_count; i++)
		if (wanted->kept[i] && !set->kept[i])
			spill_set_turn(set, i);
	spill_fit(run, set, at, at);
}

/* False: so much was lost that it is not worth while to go on. */
static bool mend_wanted(
	struct run *run, struct spill_finishing *finishing, struct spill_set *set, int64_t *at)
{
	struct arena *arena = arena_open();
	const struct spill_set *wanted = finishing->wanted;
	int count = find_missing(wanted, set, NULL);
	struct missing *missing = arena_array(arena, struct missing, count);
	double most = LOST_MOST * (double)(wanted->gain - finishing->least), lost = 0;
	find_missing(wanted, set, missing);
	if (count)
		qsort(missing, (size_t)count, sizeof *missing, by_spare);
	for (int64_t k = 0; k < (int64_t)ROUNDS * count && lost <= most && run_go_on(run, 1); k++) {
		int item = missing[k % count].item;
		if (k % count == 0)
			lost = 0;
		if (set->kept[item])
			continue;
		bool there = spill_mend(run, set, at, item, MENDS, &finishing->work);
		finishing->failed[item] = !there;
		if (!there)
			lost += (double)set->model->items[item].gain;
	}
	arena_close(arena);
	return lost <= most;
}

/* Whatever gains something and has room in the rows. */
static void mend_more(struct run *run, struct spill_set *set, int64_t *at, uint64_t *work)
{
	const struct spill_model *model = set->model;
	for (int i = 0; i < model->item_count && run_go_on(run, 1); i++)
		if (!set->kept[i] && model->items[i].gain > 0 && spill_set_has_room(set, i))
			spill_mend(run, set, at, i, MENDS, work);
}

static void fit_more(struct run *run, struct spill_moves *moves, struct spill_set *set, int64_t *at)
{
	forget_others(set, at);
	spill_moves_fill(moves, set);
	spill_fit(run, set, at, at);
}

void spill_finish(struct run *run, struct spill_moves *moves, struct spill_finishing *finishing,
	struct spill_set *set, int64_t *at)
{
	if (set->model->pair_count || !run_go_on(run, 1))
		return;
	forget_others(set, at);
	if (find_missing(finishing->wanted, set, NULL) > MANY)
		fit_wanted(run, finishing->wanted, set, at);
	if (!mend_wanted(run, finishing, set, at))
		return;
	fit_more(run, moves, set, at);
	mend_more(run, set, at, &finishing->work);
}
