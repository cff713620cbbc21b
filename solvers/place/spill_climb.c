#include "solvers/place/spill_climb.h"

#include "base/arena.h"
#include "solvers/place/spill_finish.h"
#include "solvers/place/spill_fit.h"

#include <string.h>

enum {
	ASK_NODES = 1000, /* of the packer, at least; which length serves best differs */
	ASK_LENGTHS = 7,  /* each twice the one before */
	START_NODES = 20000,
	EASY_LEAST = 667, /* easy is what takes no more than such a part of the room, */
	EASY_MORE = 217,  /* and at most such a part more, */
	EASY_SPARE = 20,  /* and up to so many hundredths of what its fullest row leaves; */
	EASY_ASKED = 4,   /* one question of so many is about it, too, */
	EASY_FUTILE = 16, /* and so many after it found no place */
	MOVES = 1000,     /* in a step */
	MOVE_WORK = 3,    /* of each, in nodes */
};

/* What pressure is multiplied with after a set that packs, and when none gains more; and after one
 * that does not pack, until one did. */
#define AFTER_SUCCESS 0.8
#define AFTER_NOTHING 0.9
#define AT_FIRST 1.3

/* What the size of an easy item counts for, times, if it found no place; what stays of more than
 * once when what is not easy does not pack. */
#define FAILED_MORE 2
#define STUBBORN_STAYS 0.95

struct spill_climb spill_climb_make(
	struct run *run, struct arena *arena, const struct spill_model *model)
{
	double *stubborn = arena_array(arena, double, model->item_count);
	for (int i = 0; i < model->item_count; i++)
		stubborn[i] = 1;
	return (struct spill_climb){
		.run = run,
		.model = model,
		.moves = spill_moves_make(run, arena, model),
		.trial = spill_set_make(arena, model),
		.best = spill_set_make(arena, model),
		.best_at = arena_array(arena, int64_t, model->item_count),
		.full = spill_set_make(arena, model),
		.full_at = arena_array(arena, int64_t, model->item_count),
		.easy = arena_array(arena, bool, model->item_count),
		.failed = arena_array(arena, bool, model->item_count),
		.stubborn = stubborn,
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

static struct pack_answer ask(struct spill_climb *climb, const struct spill_question *question,
	uint64_t nodes, struct arena *arena)
{
	struct pack_question asked = {.packing = &question->packing,
		.capacity = question->packing.capacity,
		.nodes = nodes,
		.varied = true};
	struct pack_answer answer = pack(climb->run, &asked, arena);
	climb->work += answer.nodes;
	return answer;
}

/* Does the set pack?  It is the best if it is worth more. */
static bool packs(struct spill_climb *climb, const struct spill_set *set, uint64_t nodes)
{
	struct arena *arena = arena_open();
	struct spill_question question = spill_question_make(arena, climb->model, set->kept);
	struct pack_answer answer = ask(climb, &question, nodes, arena);
	if (answer.status == PACK_FITS)
		keep(climb, set, &question, answer.placement);
	arena_close(arena);
	return answer.status == PACK_FITS;
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
	return trial->gain > climb->best.gain && packs(climb, trial, nodes);
}

/* What first fit finds a place for, of this set, is the first best. */
static void keep_fitting(struct spill_climb *climb, struct spill_set *set)
{
	spill_fit(climb->run, set, NULL, climb->best_at);
	spill_set_copy(&climb->best, set);
}

/* From the best, with pressure as at first. */
static void set_out(struct spill_climb *climb)
{
	spill_set_copy(&climb->moves.now, &climb->best);
	climb->moves.pressure = spill_pressure_make(climb->moves.arena, &climb->best);
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
		if (packs(climb, trial, START_NODES))
			break;
	}
	set_out(climb);
}

void spill_climb_follow(struct spill_climb *climb, const struct spill_climb *other)
{
	if (!climb->any || other->best.gain > climb->best.gain) {
		size_t size = (size_t)climb->model->item_count * sizeof *climb->best_at;
		spill_set_copy(&climb->best, &other->best);
		memcpy(climb->best_at, other->best_at, size);
		climb->better = true;
	}
	if (!climb->any)
		set_out(climb);
	climb->any = true;
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

/* All but what is easy, of those that rows are about. */
static void leave_easy(struct spill_climb *climb, struct spill_set *set)
{
	const struct spill_model *model = climb->model;
	uint64_t more = (uint64_t)(model->room / EASY_MORE);
	int64_t small = model->room / EASY_LEAST + (int64_t)run_random(climb->run, 1 + more);
	double part = (double)run_random(climb->run, 1 + EASY_SPARE) / 100;
	for (int i = 0; i < model->item_count; i++) {
		const struct spill_item *item = &model->items[i];
		double spare = (double)spill_set_spare(set, i);
		climb->easy[i] =
			set->kept[i] && item->row < item->row_end &&
			(double)item->size * climb->stubborn[i] <= (double)small + part * spare;
	}
	for (int i = 0; i < model->item_count; i++)
		if (climb->easy[i])
			spill_set_turn(set, i);
}

/* What lies in place of others is not taken apart. */
static bool asks_all(struct spill_climb *climb)
{
	if (climb->futile > 0) {
		climb->futile--;
		return true;
	}
	return climb->model->pair_count || run_random(climb->run, EASY_ASKED) == 0;
}

static void keep_full(struct spill_climb *climb)
{
	size_t size = (size_t)climb->model->item_count * sizeof *climb->full_at;
	memcpy(climb->best_at, climb->full_at, size);
	spill_set_copy(&climb->best, &climb->full);
	climb->better = climb->any = climb->found = true;
}

struct outcome {
	bool fits;
	int64_t hardest; /* unless it fits: a step at which it failed */
};

/* The addresses are in full_at, if it fits. */
static struct outcome ask_packer(struct spill_climb *climb)
{
	struct arena *arena = arena_open();
	struct spill_question question = spill_question_make(arena, climb->model, climb->full.kept);
	uint64_t nodes = (uint64_t)ASK_NODES << run_random(climb->run, ASK_LENGTHS);
	struct pack_answer answer = ask(climb, &question, nodes, arena);
	if (answer.status == PACK_FITS)
		spill_question_answer(&question, answer.placement, climb->full_at);
	arena_close(arena);
	return (struct outcome){answer.status == PACK_FITS, answer.hardest};
}

/* All that is easy, and whatever else has room, finds its place now; the best that comes of it is
 * kept. */
static void finish(struct spill_climb *climb)
{
	const struct spill_model *model = climb->model;
	struct spill_finishing finishing = {
		.wanted = &climb->moves.now, .least = climb->best.gain, .failed = climb->failed};
	memset(climb->failed, 0, (size_t)model->item_count * sizeof *climb->failed);
	spill_finish(climb->run, &climb->moves, &finishing, &climb->full, climb->full_at);
	climb->work += finishing.work;
	for (int i = 0; i < model->item_count; i++)
		if (climb->failed[i])
			climb->stubborn[i] *= FAILED_MORE;
	if (climb->full.gain > climb->best.gain)
		keep_full(climb);
	else
		climb->futile = EASY_FUTILE;
}

static void soften(struct spill_climb *climb)
{
	for (int i = 0; i < climb->model->item_count; i++)
		climb->stubborn[i] = 1 + (climb->stubborn[i] - 1) * STUBBORN_STAYS;
}

/* What the packer said about where the moves led, and what came later, moves the pressure. */
static void learn(struct spill_climb *climb, struct outcome outcome, bool all)
{
	int64_t before = climb->best.gain;
	struct spill_pressure *pressure = &climb->moves.pressure;
	if (outcome.fits) {
		finish(climb);
		if (climb->best.gain > before)
			spill_pressure_scale(pressure, AFTER_SUCCESS);
		return;
	}
	if (!all)
		soften(climb);
	if (!climb->found)
		spill_pressure_scale(pressure, AT_FIRST);
	if (climb->model->row_count)
		spill_pressure_raise(pressure, row_at(climb->model, outcome.hardest));
}

/* Packs what the moves led to. */
static void ask_moves(struct spill_climb *climb)
{
	bool all = asks_all(climb);
	spill_moves_ask(&climb->moves);
	spill_set_copy(&climb->full, &climb->moves.now);
	if (!all)
		leave_easy(climb, &climb->full);
	learn(climb, ask_packer(climb), all);
}

void spill_climb_step(struct spill_climb *climb)
{
	struct spill_moves *moves = &climb->moves;
	spill_moves_anneal(moves, MOVES, climb->best.gain);
	climb->work += MOVES * MOVE_WORK;
	if (moves->now.gain > climb->best.gain)
		ask_moves(climb);
	else
		spill_pressure_scale(&moves->pressure, AFTER_NOTHING);
}
