#include "solvers/place/spill_climb.h"

#include "base/arena.h"
#include "solvers/place/shelf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	ASK_NODES = 1000, /* of the packer, at least; which length serves best differs */
	ASK_LENGTHS = 7,  /* each twice the one before */
	START_NODES = 20000,
	MOVES_FIRST = 50, /* in a step, as much as a node each; more in each, up to the most */
	MOVES_MOST = 1000,
};

/* What pressure is multiplied with after a set that packs, when none gains more, and after one that
 * does not pack, until one did. */
#define AFTER_SUCCESS 0.8
#define AFTER_NOTHING 0.9
#define AT_FIRST 1.08

struct spill_climb spill_climb_make(
	struct run *run, struct arena *arena, const struct spill_model *model)
{
	return (struct spill_climb){
		.run = run,
		.model = model,
		.moves = spill_moves_make(run, arena, model),
		.trial = spill_set_make(arena, model),
		.best = spill_set_make(arena, model),
		.best_at = arena_array(arena, int64_t, model->item_count),
	};
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
	return trial->gain > climb->best.gain && ask(climb, trial, nodes).status == PACK_FITS;
}

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
static struct density *rank_items(struct spill_climb *climb, const struct items *items,
	const struct spill_question *question, struct arena *arena)
{
	struct density *ranks = arena_array(arena, struct density, items->count);
	for (size_t k = 0; k < items->count; k++)
		ranks[k].item = k;
	for (size_t b = 0; b < question->packing.count; b++)
		for (int i = question->residences[b].first;
			items->of[b] >= 0 && i <= question->residences[b].last; i++)
			ranks[items->of[b]].worth += (double)climb->model->items[i].gain;
	for (size_t k = 0; k < items->count; k++)
		ranks[k].worth =
			items_fixed(items, k) ? INFINITY : ranks[k].worth / (1 + items->at[k].area);
	qsort(ranks, items->count, sizeof *ranks, by_density);
	return ranks;
}

/* What first fit finds a place for, of this set, is the first best. */
static void keep_fitting(struct spill_climb *climb, struct spill_set *set)
{
	struct arena *arena = arena_open();
	struct spill_question question = spill_question_make(arena, climb->model, set->kept);
	question.packing.goal = PACKING_SPILL;
	struct items *items = items_make(&question.packing, arena);
	struct density *ranks = rank_items(climb, items, &question, arena);
	struct shelf *shelf = shelf_make(items, arena);
	shelf_clear(shelf);
	for (size_t k = 0; k < items->count && run_go_on(climb->run, 1); k++)
		if (!items_range(items, ranks[k].item))
			shelf_put(shelf, ranks[k].item, SHELF_FIRST, question.packing.capacity);
	struct placement placement = {question.packing.count,
		arena_array(arena, int64_t, question.packing.count), NULL, 0, NULL};
	items_place(items, shelf_addresses(shelf), &placement);
	for (size_t b = 0; b < question.packing.count; b++)
		for (int i = question.residences[b].first;
			placement.addresses[b] == UNPLACED && i <= question.residences[b].last; i++)
			spill_set_turn(set, i);
	keep(climb, set, &question, &placement);
	arena_close(arena);
}

void spill_climb_start(struct spill_climb *climb)
{
	struct spill_set *trial = &climb->trial;
	int64_t room = climb->model->room;
	climb->any = climb->better = true; /* nothing, at worst */
	spill_moves_fill(&climb->moves, trial);
	keep_fitting(climb, trial);
	for (int percent = 100; percent > 0; percent -= percent > 80 ? 2 : 10) {
		if (!run_spend(climb->run, 1))
			break;
		spill_set_clear(trial);
		trial->room = room / 100 * percent + room % 100 * percent / 100;
		spill_moves_fill(&climb->moves, trial);
		if (ask(climb, trial, START_NODES).status == PACK_FITS)
			break;
	}
	spill_set_copy(&climb->moves.now, &climb->best);
	climb->moves.pressure = spill_pressure_make(climb->moves.arena, &climb->best);
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

static int moves_of(struct spill_climb *climb)
{
	int64_t moves = MOVES_FIRST + (int64_t)climb->steps * MOVES_FIRST;
	climb->steps += moves < MOVES_MOST;
	return moves < MOVES_MOST ? (int)moves : MOVES_MOST;
}

void spill_climb_step(struct spill_climb *climb)
{
	struct spill_moves *moves = &climb->moves;
	int count = moves_of(climb);
	spill_moves_run(moves, count);
	climb->work += (uint64_t)count;
	if (moves->now.gain <= climb->best.gain) {
		spill_pressure_scale(&moves->pressure, AFTER_NOTHING);
		return;
	}
	uint64_t nodes = (uint64_t)ASK_NODES << run_random(climb->run, ASK_LENGTHS);
	struct pack_answer answer = ask(climb, &moves->now, nodes);
	if (answer.status == PACK_FITS) {
		spill_pressure_scale(&moves->pressure, AFTER_SUCCESS);
		climb->found = true;
	} else if (climb->model->row_count) {
		spill_pressure_scale(&moves->pressure, climb->found ? 1 : AT_FIRST);
		spill_pressure_raise(&moves->pressure, row_at(climb->model, answer.hardest));
	}
}
