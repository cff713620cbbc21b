#include "solvers/place/spill/climb.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "solvers/place/orders.h"
#include "solvers/place/packing.h"
#include "solvers/place/spill/options.h"

#include <math.h>
#include <stdlib.h>

struct spill_prices spill_prices_make(struct arena *arena, const struct spill_set *set)
{
	const struct spill_model *model = set->model;
	struct spill_prices prices = {.model = model,
		.margin = 1 + SPILL_MARGIN_PERCENT / 100.0 * (double)model->room,
		.price = arena_array(arena, double, model->row_count)};
	double load = 1;
	for (int r = 0; r < model->row_count; r++)
		load += (double)set->load[r];
	prices.unit = (1 + (double)set->gain) / load;
	for (int r = 0; r < model->row_count; r++)
		prices.price[r] = prices.unit;
	return prices;
}

static double cost(const struct spill_prices *prices, int row, int64_t load)
{
	double left = (double)number_max(0, prices->model->room - load);
	return prices->price[row] * prices->margin * prices->margin / (prices->margin + left);
}

double spill_prices_cost(
	const struct spill_prices *prices, const struct spill_set *set, int row, int row_end)
{
	double all = 0;
	for (int r = row; r < row_end; r++)
		all += cost(prices, r, set->load[r]);
	return all;
}

double spill_prices_change(const struct spill_prices *prices, const struct spill_set *set, int item)
{
	const struct spill_item *it = &prices->model->items[item];
	int64_t more = set->kept[item] ? -it->size : it->size;
	double change = 0;
	for (int r = it->row; r < it->row_end; r++)
		change += cost(prices, r, set->load[r] + more) - cost(prices, r, set->load[r]);
	return change;
}

void spill_prices_raise(struct spill_prices *prices, int row)
{
	double step = SPILL_PRICE_STEP_PERCENT / 100.0 * prices->unit;
	prices->price[row] += step;
	if (row > 0)
		prices->price[row - 1] += step / 2;
	if (row + 1 < prices->model->row_count)
		prices->price[row + 1] += step / 2;
}

void spill_prices_scale(struct spill_prices *prices, int percent)
{
	for (int r = 0; r < prices->model->row_count; r++)
		prices->price[r] *= percent / 100.0;
}

double spill_prices_mean(const struct spill_prices *prices)
{
	double sum = 0;
	for (int r = 0; r < prices->model->row_count; r++)
		sum += prices->price[r];
	return sum * prices->margin / number_max(1, prices->model->row_count);
}

static const double NOISE_LEAST = SPILL_NOISE_LEAST_PERCENT / 100.0;

static double noise(struct spill_moves *moves)
{
	double part = (double)run_random(moves->run, 1 << 20) / (1 << 20);
	double most = SPILL_NOISE_MOST_PERCENT / 100.0;
	return NOISE_LEAST + (most - NOISE_LEAST) * part;
}

static void sort_by_row(struct spill_moves *moves)
{
	const struct spill_model *model = moves->model;
	moves->beginning = arena_array(moves->arena, int, model->item_count);
	moves->begins = arena_array(moves->arena, int, model->row_count + 1);
	int count = 0;
	for (int r = 0; r < model->row_count; r++) {
		moves->begins[r] = count;
		for (int k = 0; k < model->rows[r].item_count; k++) {
			int i = model->rows[r].items[k];
			if (model->items[i].row == r)
				moves->beginning[count++] = i;
		}
	}
	moves->begins[model->row_count] = count;
}

struct spill_moves spill_moves_make(
	struct run *run, struct arena *arena, const struct spill_model *model)
{
	struct spill_moves moves = {
		.run = run,
		.model = model,
		.now = spill_set_make(arena, model),
		.pick = spill_set_make(arena, model),
		.worth = arena_array(arena, double, model->item_count),
		.pinned = arena_array(arena, int64_t, model->item_count),
		.ranks = arena_array(arena, struct spill_rank, model->item_count),
		.arena = arena,
	};
	for (int i = 0; i < model->item_count; i++) {
		const struct spill_item *item = &model->items[i];
		double gain = (double)item->gain, rows = item->row_end - item->row;
		if (item->version >= 0) {
			const struct spill_version *version = &model->versions[item->version];
			gain += (double)version->gain / (version->item_end - version->item);
		}
		moves.worth[i] = gain / (1 + (double)item->size * rows);
		moves.has_tied |= item->tied;
	}
	sort_by_row(&moves);
	return moves;
}

static void turn(struct spill_moves *moves, int item)
{
	const struct spill_item *it = &moves->model->items[item];
	struct spill_set *now = &moves->now;
	moves->cost -= spill_prices_cost(&moves->prices, now, it->row, it->row_end);
	spill_set_turn(now, item);
	moves->cost += spill_prices_cost(&moves->prices, now, it->row, it->row_end);
	*array_add(moves->arena, &moves->turned) = item;
	if (it->row < it->row_end) {
		moves->row = (int)number_min(moves->row, it->row);
		moves->row_end = (int)number_max(moves->row_end, it->row_end);
	}
}

static void take_back(struct spill_moves *moves)
{
	while (moves->turned.count)
		spill_set_turn(&moves->now, moves->turned.at[--moves->turned.count]);
}

static void keep_pinned(struct spill_moves *moves, int item)
{
	const struct spill_item *it = &moves->model->items[item];
	moves->pinned[item] = moves->move;
	for (int i = it->rival; i < it->rival_end; i++)
		if (moves->now.kept[i])
			turn(moves, i);
	if (!moves->now.kept[item])
		turn(moves, item);
}

/* Something that is not kept, with a parent if it needs one; false: everything is. */
static bool pin(struct spill_moves *moves)
{
	int count = moves->model->item_count;
	int at = count ? (int)run_random(moves->run, (uint64_t)count) : 0;
	for (int k = 0; k < count; k++, at = (at + 1) % count) {
		const struct spill_item *item = &moves->model->items[at];
		if (moves->now.kept[at] || (item->tied && !item->parent_count))
			continue;
		if (item->tied)
			keep_pinned(moves, item->parents[run_random(
						   moves->run, (uint64_t)item->parent_count)]);
		keep_pinned(moves, at);
		return true;
	}
	return false;
}

/* What costs least for what it frees in this row, which is too full, and later ones; -1: there is
 * nothing. */
static int cheapest(struct spill_moves *moves, int row)
{
	const struct spill_model *model = moves->model;
	const struct spill_set *now = &moves->now;
	int found = -1;
	double least = 0;
	for (int k = 0; k < model->rows[row].item_count; k++) {
		int i = model->rows[row].items[k];
		const struct spill_item *item = &model->items[i];
		if (!now->kept[i] || moves->pinned[i] == moves->move || !item->size)
			continue;
		double freed = 0;
		for (int r = row; r < item->row_end && r < moves->row_end; r++)
			freed += (double)number_min(
				number_max(0, now->load[r] - now->room), item->size);
		double cost = -(double)spill_set_change(now, i), most = least * freed;
		if (found >= 0 && cost * NOISE_LEAST >= most)
			continue;
		cost *= noise(moves);
		if (found >= 0 && cost >= most)
			continue;
		found = i;
		least = cost / freed;
	}
	return found;
}

/* False if pinned items alone are too much. */
static bool relieve(struct spill_moves *moves)
{
	for (int r = moves->row; r < moves->row_end; r++)
		while (moves->now.load[r] > moves->now.room) {
			int i = cheapest(moves, r);
			if (i < 0)
				return false;
			turn(moves, i);
		}
	return true;
}

/* Tied items need a parent; one that loses its last goes, too. */
static void drop_orphans(struct spill_moves *moves)
{
	const struct spill_model *model = moves->model;
	for (bool again = moves->has_tied; again;) {
		again = false;
		for (int i = 0; i < model->item_count; i++) {
			const struct spill_item *item = &model->items[i];
			bool good = !item->tied || !moves->now.kept[i];
			for (int k = 0; k < item->parent_count && !good; k++)
				good = moves->now.kept[item->parents[k]];
			if (!good) {
				turn(moves, i);
				again = true;
			}
		}
	}
}

/* Some items that gain less than their price. */
static void drop_some(struct spill_moves *moves)
{
	const struct spill_set *now = &moves->now;
	for (int k = 0; k < SPILL_DROPS; k++) {
		int i = (int)run_random(moves->run, (uint64_t)moves->model->item_count);
		if (!now->kept[i] || moves->pinned[i] == moves->move)
			continue;
		double saved = -spill_prices_change(&moves->prices, now, i);
		if (saved + (double)spill_set_change(now, i) > 0)
			turn(moves, i);
	}
}

static int by_worth(const void *a, const void *b)
{
	const struct spill_rank *x = a, *y = b;
	if (x->worth != y->worth)
		return x->worth < y->worth ? 1 : -1;
	return x->item - y->item;
}

void spill_moves_fill(struct spill_moves *moves, struct spill_set *set)
{
	int count = 0;
	for (int i = 0; i < moves->model->item_count; i++)
		if (!set->kept[i] && moves->model->items[i].gain > 0 && spill_set_has_room(set, i))
			moves->ranks[count++] =
				(struct spill_rank){moves->worth[i] * noise(moves), i};
	qsort(moves->ranks, (size_t)count, sizeof *moves->ranks, by_worth);
	for (int k = 0; k < count; k++)
		if (spill_set_has_room(set, moves->ranks[k].item))
			spill_set_turn(set, moves->ranks[k].item);
}

/* What is left of its gain after the price. */
static double rest_of(const struct spill_moves *moves, int item)
{
	return (double)moves->model->items[item].gain -
	       spill_prices_change(&moves->prices, &moves->now, item);
}

static void rank_item(struct spill_moves *moves, int item, int *count)
{
	double gain = (double)moves->model->items[item].gain;
	if (moves->now.kept[item] || gain <= 0 || !spill_set_has_room(&moves->now, item))
		return;
	double part = rest_of(moves, item) / gain;
	if (part > 0)
		moves->ranks[(*count)++] =
			(struct spill_rank){moves->worth[item] * part * noise(moves), item};
}

/* What may be chosen anew: items that live in the rows that were touched. */
static int rank(struct spill_moves *moves)
{
	int count = 0;
	if (moves->row >= moves->row_end)
		return 0;
	const struct spill_row *first = &moves->model->rows[moves->row];
	for (int k = 0; k < first->item_count; k++)
		rank_item(moves, first->items[k], &count);
	for (int k = moves->begins[moves->row + 1]; k < moves->begins[moves->row_end]; k++)
		rank_item(moves, moves->beginning[k], &count);
	qsort(moves->ranks, (size_t)count, sizeof *moves->ranks, by_worth);
	return count;
}

static void fill(struct spill_moves *moves)
{
	int count = rank(moves);
	for (int k = 0; k < count; k++) {
		int i = moves->ranks[k].item;
		if (spill_set_has_room(&moves->now, i) && rest_of(moves, i) > 0)
			turn(moves, i);
	}
}

/* One move, unless that is worse by more than allowed; it is in `turned`.  False: nothing is left to
 * keep. */
static bool make_move(struct spill_moves *moves, double allowed)
{
	int64_t gain = moves->now.gain;
	moves->turned.count = 0;
	moves->cost = 0;
	moves->row = moves->model->row_count;
	moves->row_end = 0;
	moves->move++;
	if (!pin(moves))
		return false;
	bool good = relieve(moves);
	if (good) {
		drop_orphans(moves);
		drop_some(moves);
		fill(moves);
	}
	if (!good || (double)(moves->now.gain - gain) < moves->cost - allowed)
		take_back(moves);
	return true;
}

/* How much worse a move may be after this part of them; drawn anew for each. */
static double draw_allowed(struct spill_moves *moves, double part)
{
	double first = SPILL_HEAT_FIRST_PERCENT / 100.0, last = SPILL_HEAT_LAST_PERCENT / 100.0;
	double drawn = (double)(1 + run_random(moves->run, 1 << 20)) / (1 << 20);
	return -log(drawn) * first * pow(last / first, part) * moves->prices.unit;
}

void spill_moves_anneal(struct spill_moves *moves, int count, int64_t least)
{
	const struct spill_set *now = &moves->now;
	double cost = spill_prices_cost(&moves->prices, now, 0, moves->model->row_count);
	double full = spill_prices_mean(&moves->prices), best = -INFINITY;
	for (int k = 0; k < count && run_spend(moves->run, 1); k++) {
		if (!make_move(moves, draw_allowed(moves, (double)k / count)))
			break;
		if (moves->turned.count)
			cost += moves->cost;
		if (now->gain <= least)
			continue;
		double good = (double)now->gain - cost + full * log((double)(now->gain - least));
		if (good > best) {
			best = good;
			spill_set_copy(&moves->pick, now);
		}
	}
	if (best > -INFINITY)
		spill_set_copy(&moves->now, &moves->pick);
}

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
