#include "solvers/place/spill/climb.h"

#include "base/arena.h"
#include "base/bisect.h"
#include "solvers/place/orders.h"
#include "solvers/place/packing.h"
#include "solvers/place/spill/options.h"

#include <math.h>

static void keep(struct spill_climb *climb, const struct spill_set *set,
	const struct spill_question *question, const struct placement *placement)
{
	if (set->gain <= climb->best.gain)
		return;
	spill_question_answer(question, placement, climb->best_at);
	spill_set_copy(&climb->best, set);
	climb->better = true;
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

/* Does the trial pack?  Then it is the best if it gains more. */
static bool try_trial(struct spill_climb *climb, uint64_t nodes)
{
	struct arena *arena = arena_open();
	struct spill_question question =
		spill_question_make(arena, climb->model, climb->trial.kept);
	struct pack_answer answer = ask(climb, &question, nodes, arena);
	if (answer.status == VERDICT_YES)
		keep(climb, &climb->trial, &question, answer.placement);
	arena_close(arena);
	return answer.status == VERDICT_YES;
}

void spill_climb_keep(struct spill_climb *climb, const bool *kept,
	const struct spill_question *question, const struct placement *placement)
{
	spill_set_become(&climb->trial, kept);
	keep(climb, &climb->trial, question, placement);
}

void spill_climb_try(struct spill_climb *climb, const bool *kept, uint64_t nodes)
{
	spill_set_become(&climb->trial, kept);
	if (climb->trial.gain > climb->best.gain)
		try_trial(climb, nodes);
}

/* First fit, what gains most for its area first: what finds no place is no longer kept. */
static void fit(struct spill_climb *climb, struct spill_set *set)
{
	struct arena *arena = arena_open();
	struct spill_question question = spill_question_make(arena, set->model, set->kept);
	question.packing.goal = PACKING_SPILL;
	struct items *items = items_make(&question.packing, arena);
	struct orders *orders = orders_make(climb->run, items, arena);
	struct placement *placement = packing_open(climb->run, &question.packing);
	size_t count, *order = orders_all(orders, &count);
	orders_by(orders, order, count, ORDERS_WORTH);
	orders_try(orders, order, count, SHELF_FIRST, INFINITY, 0);
	items_place(items, orders->addresses, placement);
	for (size_t b = 0; b < question.packing.count; b++)
		for (int i = question.residences[b].first;
			placement->addresses[b] == UNPLACED && i <= question.residences[b].last;
			i++)
			spill_set_turn(set, i);
	spill_question_answer(&question, placement, climb->best_at);
	arena_close(arena);
}

struct spill_climb spill_climb_start(
	struct run *run, struct arena *arena, const struct spill_model *model)
{
	struct spill_climb climb = {.run = run,
		.model = model,
		.moves = spill_moves_make(run, arena, model),
		.trial = spill_set_make(arena, model),
		.best = spill_set_make(arena, model),
		.best_at = arena_array(arena, int64_t, model->item_count),
		.better = true}; /* nothing is kept, at worst */
	struct spill_set *trial = &climb.trial;
	spill_moves_fill(&climb.moves, trial);
	fit(&climb, trial);
	spill_set_copy(&climb.best, trial);
	for (int percent = 100; percent > 0; percent -= percent > 80 ? 2 : 10) {
		if (!run_spend(run, 1))
			break;
		spill_set_clear(trial);
		trial->room = model->room / 100 * percent + model->room % 100 * percent / 100;
		spill_moves_fill(&climb.moves, trial);
		if (try_trial(&climb, SPILL_START_NODES))
			break;
	}
	trial->room = model->room;
	spill_set_copy(&climb.moves.now, &climb.best);
	climb.moves.prices = spill_prices_make(arena, &climb.best);
	return climb;
}

static int row_at(const struct spill_model *model, int64_t time)
{
	size_t behind;
	bisect(behind, 1, model->row_count, model->rows[behind].time <= time);
	return (int)behind - 1;
}

/* Packs what the moves led to; the answer changes the prices. */
static void ask_moves(struct spill_climb *climb)
{
	struct arena *arena = arena_open();
	struct spill_prices *prices = &climb->moves.prices;
	uint64_t nodes = (uint64_t)SPILL_ASK_NODES << run_random(climb->run, SPILL_ASK_LENGTHS);
	spill_set_copy(&climb->trial, &climb->moves.now);
	struct spill_question question =
		spill_question_make(arena, climb->model, climb->trial.kept);
	struct pack_answer answer = ask(climb, &question, nodes, arena);
	if (answer.status == VERDICT_YES) {
		climb->has_packed = true;
		keep(climb, &climb->trial, &question, answer.placement);
		spill_prices_scale(prices, SPILL_AFTER_SUCCESS_PERCENT);
	} else if (climb->model->row_count) {
		if (!climb->has_packed)
			spill_prices_scale(prices, SPILL_AT_FIRST_PERCENT);
		spill_prices_raise(prices, row_at(climb->model, answer.hardest));
	}
	arena_close(arena);
}

void spill_climb_step(struct spill_climb *climb)
{
	struct spill_moves *moves = &climb->moves;
	spill_moves_anneal(moves, SPILL_MOVES, climb->best.gain);
	climb->work += SPILL_MOVES * SPILL_MOVE_WORK;
	if (moves->now.gain > climb->best.gain)
		ask_moves(climb);
	else
		spill_prices_scale(&moves->prices, SPILL_AFTER_NOTHING_PERCENT);
}
