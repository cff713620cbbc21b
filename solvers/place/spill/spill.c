#include "solvers/place/spill/spill.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "search/engine/milp.h"
#include "solvers/place/orders.h"
#include "solvers/place/pack/pack.h"
#include "solvers/place/packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Local search for sets that pack.  Moves lead from set to set that the rows hold, towards more gain less the price
 * of nearly full rows.  When a set gains more than the best, the packer is asked.  If it packs, it is the best, and
 * all prices fall; if not, the price of the row at which the packer failed most rises.
 */
struct spill_climb {
	struct run *run;
	const struct spill_model *model;
	struct spill_moves moves;
	struct spill_set best, trial;
	int64_t *best_at; /* addresses, by item */
	bool has_packed;  /* a set that moves led to */
	bool better;      /* the best is new; its reader clears this */
	uint64_t work;    /* about, in nodes of the packer */
};

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

static double row_cost(const struct spill_prices *prices, int row, int64_t load)
{
	double left = (double)number_max(0, prices->model->room - load);
	return prices->price[row] * prices->margin * prices->margin / (prices->margin + left);
}

double spill_prices_cost(
	const struct spill_prices *prices, const struct spill_set *set, int row, int row_end)
{
	double all = 0;
	for (int r = row; r < row_end; r++)
		all += row_cost(prices, r, set->load[r]);
	return all;
}

double spill_prices_change(const struct spill_prices *prices, const struct spill_set *set, int item)
{
	const struct spill_item *it = &prices->model->items[item];
	int64_t more = set->kept[item] ? -it->size : it->size;
	double change = 0;
	for (int r = it->row; r < it->row_end; r++)
		change += row_cost(prices, r, set->load[r] + more) -
			  row_cost(prices, r, set->load[r]);
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

/* All prices become this many hundredths of what they are. */
static void spill_prices_scale(struct spill_prices *prices, int percent)
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

static double spill_moves_noise(struct spill_moves *moves)
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

static void spill_moves_turn(struct spill_moves *moves, int item)
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
			spill_moves_turn(moves, i);
	if (!moves->now.kept[item])
		spill_moves_turn(moves, item);
}

/* Something that is not kept, with a parent if it needs one; false: everything is. */
static bool spill_moves_pin(struct spill_moves *moves)
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

/* Returns the kept item of least cost for the room that it frees in
 * this row, which is too full, and later ones; -1: none. */
static int spill_moves_cheapest(struct spill_moves *moves, int row)
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
		double row_cost = -(double)spill_set_change(now, i), most = least * freed;
		if (found >= 0 && row_cost * NOISE_LEAST >= most)
			continue;
		row_cost *= spill_moves_noise(moves);
		if (found >= 0 && row_cost >= most)
			continue;
		found = i;
		least = row_cost / freed;
	}
	return found;
}

/* False if pinned items alone are too much. */
static bool spill_moves_relieve(struct spill_moves *moves)
{
	for (int r = moves->row; r < moves->row_end; r++)
		while (moves->now.load[r] > moves->now.room) {
			int i = spill_moves_cheapest(moves, r);
			if (i < 0)
				return false;
			spill_moves_turn(moves, i);
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
				spill_moves_turn(moves, i);
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
			spill_moves_turn(moves, i);
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
				(struct spill_rank){moves->worth[i] * spill_moves_noise(moves), i};
	qsort(moves->ranks, (size_t)count, sizeof *moves->ranks, by_worth);
	for (int k = 0; k < count; k++)
		if (spill_set_has_room(set, moves->ranks[k].item))
			spill_set_turn(set, moves->ranks[k].item);
}

/* Returns the gain less the price. */
static double spill_moves_rest(const struct spill_moves *moves, int item)
{
	return (double)moves->model->items[item].gain -
	       spill_prices_change(&moves->prices, &moves->now, item);
}

static void rank_item(struct spill_moves *moves, int item, int *count)
{
	double gain = (double)moves->model->items[item].gain;
	if (moves->now.kept[item] || gain <= 0 || !spill_set_has_room(&moves->now, item))
		return;
	double part = spill_moves_rest(moves, item) / gain;
	if (part > 0)
		moves->ranks[(*count)++] = (struct spill_rank){
			moves->worth[item] * part * spill_moves_noise(moves), item};
}

/* Ranks the items that may be chosen again: those that live in the rows that were touched. */
static int rank_items(struct spill_moves *moves)
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

static void fill_rows(struct spill_moves *moves)
{
	int count = rank_items(moves);
	for (int k = 0; k < count; k++) {
		int i = moves->ranks[k].item;
		if (spill_set_has_room(&moves->now, i) && spill_moves_rest(moves, i) > 0)
			spill_moves_turn(moves, i);
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
	if (!spill_moves_pin(moves))
		return false;
	bool good = spill_moves_relieve(moves);
	if (good) {
		drop_orphans(moves);
		drop_some(moves);
		fill_rows(moves);
	}
	if (!good || (double)(moves->now.gain - gain) < moves->cost - allowed)
		take_back(moves);
	return true;
}

/* Draws how much worse a move may be after this part of them. */
static double draw_allowed(struct spill_moves *moves, double part)
{
	double first = SPILL_HEAT_FIRST_PERCENT / 100.0, last = SPILL_HEAT_LAST_PERCENT / 100.0;
	double drawn = (double)(1 + run_random(moves->run, 1 << 20)) / (1 << 20);
	return -log(drawn) * first * pow(last / first, part) * moves->prices.unit;
}

void spill_moves_anneal(struct spill_moves *moves, int count, int64_t least)
{
	const struct spill_set *now = &moves->now;
	double row_cost = spill_prices_cost(&moves->prices, now, 0, moves->model->row_count);
	double full = spill_prices_mean(&moves->prices), best = -INFINITY;
	for (int k = 0; k < count && run_spend(moves->run, 1); k++) {
		if (!make_move(moves, draw_allowed(moves, (double)k / count)))
			break;
		if (moves->turned.count)
			row_cost += moves->cost;
		if (now->gain <= least)
			continue;
		double good =
			(double)now->gain - row_cost + full * log((double)(now->gain - least));
		if (good > best) {
			best = good;
			spill_set_copy(&moves->pick, now);
		}
	}
	if (best > -INFINITY)
		spill_set_copy(&moves->now, &moves->pick);
}

static void keep_best(struct spill_climb *climb, const struct spill_set *set,
	const struct spill_question *question, const struct placement *placement)
{
	if (set->gain <= climb->best.gain)
		return;
	spill_question_answer(question, placement, climb->best_at);
	spill_set_copy(&climb->best, set);
	climb->better = true;
}

static struct pack_answer ask_packer(struct spill_climb *climb,
	const struct spill_question *question, uint64_t nodes, struct arena *arena)
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
	struct pack_answer answer = ask_packer(climb, &question, nodes, arena);
	if (answer.status == VERDICT_YES)
		keep_best(climb, &climb->trial, &question, answer.placement);
	arena_close(arena);
	return answer.status == VERDICT_YES;
}

/* A set whose question was answered: it is the best if it gains more. */
static void spill_climb_keep(struct spill_climb *climb, const bool *kept,
	const struct spill_question *question, const struct placement *placement)
{
	spill_set_become(&climb->trial, kept);
	keep_best(climb, &climb->trial, question, placement);
}

/* Keeps this set as the best if it gains more and packs within this many nodes. */
static void spill_climb_try(struct spill_climb *climb, const bool *kept, uint64_t nodes)
{
	spill_set_become(&climb->trial, kept);
	if (climb->trial.gain > climb->best.gain)
		try_trial(climb, nodes);
}

/* First fit, what gains most for its area first: what finds no place is no longer kept. */
static void spill_climb_fit(struct spill_climb *climb, struct spill_set *set)
{
	struct arena *arena = arena_open();
	struct spill_question question = spill_question_make(arena, set->model, set->kept);
	question.packing.goal = PACKING_SPILL;
	struct items *items = items_make(&question.packing, arena);
	struct orders *orders = orders_make(climb->run, items, arena);
	struct placement *placement = packing_open(climb->run, &question.packing);
	size_t count, *order = orders_all(orders, &count);
	orders_by(orders, order, count, ORDERS_WORTH);
	orders_try(orders, order, count, FIT_TREE_FIRST, INFINITY, 0);
	items_place(items, orders->addresses, placement);
	for (size_t b = 0; b < question.packing.count; b++)
		for (int i = question.residences[b].first;
			placement->addresses[b] == UNPLACED && i <= question.residences[b].last;
			i++)
			spill_set_turn(set, i);
	spill_question_answer(&question, placement, climb->best_at);
	arena_close(arena);
}

/* Begins with a set that packs: what first fit keeps, within any budget, then what the packer
 * keeps of sets that leave some of the room free, less and less. */
static struct spill_climb spill_climb_start(
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
	spill_climb_fit(&climb, trial);
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
	struct pack_answer answer = ask_packer(climb, &question, nodes, arena);
	if (answer.status == VERDICT_YES) {
		climb->has_packed = true;
		keep_best(climb, &climb->trial, &question, answer.placement);
		spill_prices_scale(prices, SPILL_AFTER_SUCCESS_PERCENT);
	} else if (climb->model->row_count) {
		if (!climb->has_packed)
			spill_prices_scale(prices, SPILL_AT_FIRST_PERCENT);
		spill_prices_raise(prices, row_at(climb->model, answer.hardest));
	}
	arena_close(arena);
}

/* Some moves, and a question to the packer if they led beyond the best. */
static void spill_climb_step(struct spill_climb *climb)
{
	struct spill_moves *moves = &climb->moves;
	spill_moves_anneal(moves, SPILL_MOVES, climb->best.gain);
	climb->work += SPILL_MOVES * SPILL_MOVE_WORK;
	if (moves->now.gain > climb->best.gain)
		ask_moves(climb);
	else
		spill_prices_scale(&moves->prices, SPILL_AFTER_NOTHING_PERCENT);
}

static void add_columns(struct milp *milp, const struct spill_model *model)
{
	for (int i = 0; i < model->item_count; i++) {
		const struct spill_item *item = &model->items[i];
		bool never = item->tied && !item->parent_count;
		milp_column(milp, 0, never ? 0 : 1, true, -(double)item->gain);
	}
	for (int v = 0; v < model->version_count; v++)
		milp_column(milp, 0, 1, true, -(double)model->versions[v].gain);
	for (int p = 0; p < model->pair_count; p++)
		milp_column(milp, 0, model->pairs[p].row < 0 ? 0 : 1, false, 0);
}

static int version_column(const struct spill_model *model, int version)
{
	return model->item_count + version;
}

static int pair_column(const struct spill_model *model, int pair)
{
	return version_column(model, model->version_count) + pair;
}

static void add_room(struct milp *milp, const struct spill_model *model)
{
	for (int r = 0; r < model->row_count; r++) {
		const struct spill_row *row = &model->rows[r];
		milp_row(milp, -INFINITY, (double)model->room);
		for (int k = 0; k < row->item_count; k++)
			milp_entry(milp, row->items[k], (double)model->items[row->items[k]].size);
		for (int k = 0; k < row->pair_count; k++)
			milp_entry(milp, pair_column(model, row->pairs[k]),
				-(double)model->pairs[row->pairs[k]].size);
	}
}

/* An item shares with one neighbour on each side: of its buffer, or of its family. */
static void add_sharing(struct milp *milp, const struct spill_model *model, int i)
{
	const struct spill_item *item = &model->items[i];
	for (int side = 0; side < 2; side++) {
		bool open = false;
		for (int k = 0; k < item->pair_count; k++) {
			const struct spill_pair *pair = &model->pairs[item->pairs[k]];
			if ((side ? pair->second : pair->first) != i)
				continue;
			if (!open) {
				milp_row(milp, -INFINITY, 0);
				milp_entry(milp, i, -1);
			}
			open = true;
			milp_entry(milp, pair_column(model, item->pairs[k]), 1);
		}
	}
	for (int k = item->rival; k < item->rival_end && item->whole; k++) {
		milp_row(milp, -INFINITY, 1);
		milp_entry(milp, i, 1);
		milp_entry(milp, k, 1);
	}
	if (!item->tied || !item->parent_count)
		return;
	milp_row(milp, -INFINITY, 0);
	milp_entry(milp, i, 1);
	for (int k = 0; k < item->parent_count; k++)
		milp_entry(milp, item->parents[k], -1);
}

static void add_versions(struct milp *milp, const struct spill_model *model)
{
	for (int v = 0; v < model->version_count; v++)
		for (int i = model->versions[v].item; i < model->versions[v].item_end; i++) {
			milp_row(milp, -INFINITY, 0);
			milp_entry(milp, version_column(model, v), 1);
			milp_entry(milp, i, -1);
		}
}

static void add_cut(struct milp *milp, const struct spill_cut *cut)
{
	milp_row(milp, -INFINITY, cut->item_count - 1);
	for (int k = 0; k < cut->item_count; k++)
		milp_entry(milp, cut->items[k], 1);
	for (int k = 0; k < cut->parent_count; k++)
		milp_entry(milp, cut->parents[k], -1);
}

/*
 * The integer program of most gain that holds every row and every cut.  Columns of items are
 * integers, the first columns; what versions gain and what pairs share follows from them.
 */
static struct milp *spill_master_make(struct arena *arena, const struct spill_model *model,
	const struct spill_cut *cuts, size_t cut_count)
{
	struct milp *milp = milp_make(arena);
	add_columns(milp, model);
	add_room(milp, model);
	for (int i = 0; i < model->item_count; i++)
		add_sharing(milp, model, i);
	add_versions(milp, model);
	for (size_t c = 0; c < cut_count; c++)
		add_cut(milp, &cuts[c]);
	return milp;
}

struct spilling {
	struct run *run;
	struct arena *arena; /* as long as the search */
	const struct spill_model *model;
	struct spill_climb climb; /* has the best */
	struct array(struct spill_cut) cuts;
	int64_t most;             /* no set gains more */
	uint64_t work, share;     /* of the master; how much more the climb gets */
	bool spent, is_too_large; /* for the packer */
};

/* Weights that are lost when so much is gained. */
static double spilling_lost(const struct spilling *spilling, int64_t gain)
{
	const struct spill_model *model = spilling->model;
	return (double)(model->all - gain * model->unit_gain);
}

static void spilling_offer(struct spilling *spilling)
{
	if (!spilling->climb.better)
		return;
	struct candidate candidate = {.stage = STAGE_PLACE,
		.placement = spill_placement(run_arena(spilling->run), spilling->model,
			spilling->climb.best.kept, spilling->climb.best_at)};
	spilling->climb.better = false;
	run_offer(spilling->run, &candidate, spilling_lost(spilling, spilling->climb.best.gain));
	run_report(spilling->run, spilling_lost(spilling, spilling->climb.best.gain),
		spilling_lost(spilling, spilling->most));
}

/* No set gains more than this, or than the best. */
static void spill_upper_bound(struct spilling *spilling, int64_t most)
{
	int64_t before = spilling->most;
	spilling->most = number_min(before, number_max(most, spilling->climb.best.gain));
	if (spilling->most < before)
		run_report(spilling->run, spilling_lost(spilling, spilling->climb.best.gain),
			spilling_lost(spilling, spilling->most));
}

static bool is_done(const struct spilling *spilling)
{
	return spilling->spent || spilling->climb.best.gain >= spilling->most;
}

/* The climb takes its share of the work. */
static bool go_on(void *user, uint64_t iterations, int rows)
{
	struct spilling *spilling = user;
	(void)rows;
	spilling->spent |= !run_spend(spilling->run, 1 + iterations);
	spilling->work += SPILL_CALL_WORK + SPILL_ITERATION_WORK * iterations;
	while (!is_done(spilling) && spilling->climb.work < spilling->work * spilling->share) {
		spill_climb_step(&spilling->climb);
		spilling->spent |= !run_spend(spilling->run, 1);
		spilling_offer(spilling);
	}
	return !is_done(spilling);
}

static bool *spilling_read_kept(struct spilling *spilling, const double *values)
{
	bool *kept = arena_array(spilling->arena, bool, spilling->model->item_count);
	for (int i = 0; i < spilling->model->item_count; i++)
		kept[i] = values[i] > 0.5;
	return kept;
}

static void spill_found(void *user, const double *values)
{
	struct spilling *spilling = user;
	spill_climb_try(&spilling->climb, spilling_read_kept(spilling, values), SPILL_MASTER_NODES);
	spilling_offer(spilling);
}

/* Returns the bound on the gain of all points, as a whole number. */
static int64_t spilling_bound(const struct spilling *spilling, const struct milp_answer *answer)
{
	double margin = milp_margin(spilling->model->item_count, answer->bound);
	if (!(answer->bound > -(double)spilling->model->total))
		return spilling->model->total;
	return (int64_t)floor(-answer->bound + margin);
}

/* Asks the packer about a set, longer and longer, and cuts it off if it does not pack. */
static void spilling_decide(struct spilling *spilling, const bool *kept)
{
	struct spill_question question =
		spill_question_make(spilling->arena, spilling->model, kept);
	struct pack_question asked = {.packing = &question.packing,
		.capacity = question.packing.capacity,
		.nodes = SPILL_MASTER_NODES,
		.varied = true,
		.explain = true};
	struct pack_answer answer = pack(spilling->run, &asked, spilling->arena);
	spilling->work += answer.nodes;
	while (answer.status == VERDICT_OPEN && !answer.is_too_large && go_on(spilling, 0, 0)) {
		asked.nodes *= SPILL_MORE_NODES;
		answer = pack(spilling->run, &asked, spilling->arena);
		spilling->work += answer.nodes;
	}
	spilling->spent |= answer.status == VERDICT_OPEN;
	spilling->is_too_large |= answer.is_too_large;
	if (answer.status == VERDICT_YES)
		spill_climb_keep(&spilling->climb, kept, &question, answer.placement);
	if (answer.status != VERDICT_NO)
		return;
	int *all = arena_array(spilling->arena, int, question.packing.count);
	for (size_t r = 0; r < question.packing.count; r++)
		all[r] = (int)r;
	*array_add(spilling->arena, &spilling->cuts) = spill_question_cut(spilling->arena,
		&question, answer.core_count ? answer.core : all,
		answer.core_count ? answer.core_count : question.packing.count);
}

static void ask_master(struct spilling *spilling)
{
	struct arena *arena = arena_open();
	struct milp_wishes wishes = {
		.user = spilling, .go_on = go_on, .found = spill_found, .covers = true};
	struct milp *master =
		spill_master_make(arena, spilling->model, spilling->cuts.at, spilling->cuts.count);
	struct milp_answer answer = milp_solve(master, &wishes, arena);
	if (answer.status == PROOF_INFEASIBLE)
		spill_upper_bound(spilling, 0);
	else if (answer.bound > -INFINITY)
		spill_upper_bound(spilling, spilling_bound(spilling, &answer));
	spilling->spent |= answer.status == PROOF_NONE;
	if (answer.status == PROOF_OPTIMAL && !is_done(spilling))
		spilling_decide(spilling, spilling_read_kept(spilling, answer.values));
	arena_close(arena);
}

void spill_run(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	struct spilling spilling = {.run = run, .arena = arena};
	spilling.model = spill_model_make(arena, problem->packing, SPILL_ENTRIES_MOST);
	if (!spilling.model) {
		run_complain(run, true, -1, "the weights add up to more than 2^63 - 1");
		arena_close(arena);
		return;
	}
	spilling.most = spilling.model->total;
	spilling.share = 1;
	spilling.climb = spill_climb_start(run, arena, spilling.model);
	spilling_offer(&spilling);
	while (!is_done(&spilling)) {
		ask_master(&spilling);
		spilling.share = SPILL_CLIMB_SHARE;
		spilling_offer(&spilling);
	}
	bool optimal = spilling.climb.best.gain >= spilling.most;
	if (!optimal && spilling.is_too_large)
		run_complain(run, false, -1,
			"the proof ends early: more than %d pairs of buffers that are kept live at the same "
			"time, which no budget helps; split the table where few buffers live",
			PACK_PAIRS_MOST);
	run_prove(run, optimal ? PROOF_OPTIMAL : PROOF_BOUND,
		spilling_lost(&spilling, spilling.most));
	arena_close(arena);
}
