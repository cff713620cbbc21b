/* The last state of annealing is valid at every step, its loads and gains are correct, and so are
 * the prices of rows. */
#include "base/arena.h"
#include "search/drive/solver.h"
#include "solvers/place/spill/spill.h"
#include "tests/support/draws.h"
#include "tests/support/spill_instances.h"

#include <math.h>

#include "tests/test.h"

static const struct packing *packing;
static bool holds;

/* Whatever starts meets all that is there then. */
static bool is_held(const bool *kept)
{
	for (size_t i = 0; i < packing->count; i++) {
		int64_t load = 0, time = packing->buffers[i].start;
		for (size_t k = 0; k < packing->count; k++)
			if (kept[k] && packing->buffers[k].start <= time &&
				time < packing->buffers[k].end)
				load += packing->buffers[k].size;
		if (load > packing->capacity)
			return false;
	}
	return true;
}

static int64_t sum(const bool *kept)
{
	int64_t weights = 0;
	for (size_t i = 0; i < packing->count; i++)
		weights += kept[i] ? packing->buffers[i].weight : 0;
	return weights;
}

static void solve_drawn(
	struct arena *arena, struct packing *drawn, const struct solver *solver, uint64_t seed)
{
	struct problem problem = {.stage = STAGE_PLACE, .packing = drawn};
	drawn->goal = PACKING_SPILL;
	packing = drawn;
	solve(solver, &problem, 0, seed, arena);
}

enum { MANY = 100, MOVES = 300, TIMES = 12 };

/* Each set that annealing ends with is what it is said to be. */
static void run_anneal(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	(void)problem;
	const struct spill_model *model = spill_model_make(arena, packing, 1 << 20);
	struct spill_moves moves = spill_moves_make(run, arena, model);
	struct spill_set naive = spill_set_make(arena, model), *now = &moves.now;
	spill_moves_fill(&moves, now);
	moves.prices = spill_prices_make(arena, now);
	int64_t least = now->gain;
	holds = true;
	for (int time = 0; time < TIMES; time++) {
		spill_moves_anneal(&moves, MOVES, least);
		spill_set_clear(&naive);
		for (int i = 0; i < model->item_count; i++)
			if (now->kept[i])
				spill_set_turn(&naive, i);
		holds &= naive.gain == now->gain;
		bool kept[MANY] = {false};
		for (int i = 0; i < model->item_count; i++)
			kept[model->items[i].buffer] = now->kept[i];
		holds &= is_held(kept) && now->gain * model->unit_gain == sum(kept);
		for (int r = 0; r < model->row_count; r++)
			holds &= naive.load[r] == now->load[r] && now->load[r] <= model->room;
	}
	arena_close(arena);
}

static const struct solver annealer = {.stage = STAGE_PLACE, .name = "anneal", .run = run_anneal};

BARE_TEST(what_annealing_ends_with)
{
	long count = draws(100);
	uint64_t seed = draws_seed(2);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct packing drawn =
			spill_random(arena, seed + (uint64_t)draw, MANY, draw % 2 ? 50 : 75);
		solve_drawn(arena, &drawn, &annealer, (uint64_t)draw);
		if (!holds)
			fail_msg("draw %ld: a set is not what it is said to be", draw);
		arena_close(arena);
	}
}

/* A row with nothing left costs its price times the margin, one with a margin left half of that;
 * a turn changes the cost by as much as it is said to. */
BARE_TEST(what_prices_are)
{
	for (uint64_t draw = 0; draw < 50; draw++) {
		struct arena *arena = arena_open();
		struct packing drawn = spill_random(arena, draw, MANY, 60);
		drawn.goal = PACKING_SPILL;
		const struct spill_model *model = spill_model_make(arena, &drawn, 1 << 20);
		struct spill_set set = spill_set_make(arena, model);
		struct random random = random_open(draw, 0);
		for (int i = 0; i < model->item_count; i++)
			if (random_below(&random, 2) && spill_set_has_room(&set, i))
				spill_set_turn(&set, i);
		struct spill_prices prices = spill_prices_make(arena, &set);
		for (int r = 0; r < model->row_count; r += 3)
			spill_prices_raise(&prices, r);
		int item = (int)random_below(&random, (uint64_t)model->item_count);
		double before = spill_prices_cost(&prices, &set, 0, model->row_count);
		double change = spill_prices_change(&prices, &set, item);
		spill_set_turn(&set, item);
		double after = spill_prices_cost(&prices, &set, 0, model->row_count);
		assert_true(fabs(after - before - change) <= 1e-9 * (before + after));
		prices.margin = floor(prices.margin);
		double full = 0;
		for (int r = 0; r < model->row_count; r++) {
			set.load[r] = model->room;
			double none = spill_prices_cost(&prices, &set, r, r + 1);
			set.load[r] -= (int64_t)prices.margin;
			double some = spill_prices_cost(&prices, &set, r, r + 1);
			assert_true(fabs(none - prices.price[r] * prices.margin) < 1e-9 * none);
			assert_true(fabs(2 * some - none) < 1e-9 * none);
			full += none;
		}
		assert_true(
			fabs(full - spill_prices_mean(&prices) * model->row_count) < 1e-9 * full);
		arena_close(arena);
	}
}
