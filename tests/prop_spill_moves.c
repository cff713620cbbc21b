/* Sets that the rows hold: their loads and gains are true, none is better than the best of all
 * sets, and nearly always they are that. */
#include "base/arena.h"
#include "search/solver.h"
#include "solvers/place/spill_moves.h"
#include "tests/support/draws.h"
#include "tests/support/spill_instances.h"

#include "tests/test.h"

enum { BUFFERS = 14 };

static const struct packing *packing;
static int64_t gained, summed, most; /* weights */
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

static void run_relax(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	(void)problem;
	const struct spill_model *model = spill_model_make(arena, packing, 1 << 20);
	struct spill_set set = spill_set_make(arena, model);
	spill_moves_relax(run, model, &set);
	bool kept[BUFFERS] = {false};
	for (int i = 0; i < model->item_count; i++)
		kept[model->items[i].buffer] |= set.kept[i];
	gained = set.gain * model->unit_gain;
	summed = sum(kept);
	holds = is_held(kept);
	arena_close(arena);
}

static const struct solver solver = {.stage = STAGE_PLACE, .name = "relax", .run = run_relax};

static void try_all(void)
{
	most = 0;
	for (uint32_t subset = 0; subset < UINT32_C(1) << BUFFERS; subset++) {
		bool kept[BUFFERS];
		for (size_t i = 0; i < BUFFERS; i++)
			kept[i] = subset >> i & 1;
		int64_t weights = sum(kept);
		if (weights > most && is_held(kept))
			most = weights;
	}
}

static void what_rows_hold(void **state)
{
	long count = draws(40), best = 0;
	uint64_t seed = draws_seed(1);
	(void)state;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct packing drawn =
			spill_random(arena, seed + (uint64_t)draw, BUFFERS, draw % 2 ? 50 : 75);
		drawn.goal = PACKING_SPILL;
		struct problem problem = {.stage = STAGE_PLACE, .packing = &drawn};
		packing = &drawn;
		solve(&solver, &problem, 0, 1, arena);
		try_all();
		if (!holds || gained != summed || gained > most)
			fail_msg("draw %ld: holds %d, gains %lld, weighs %lld, the most %lld", draw,
				holds, (long long)gained, (long long)summed, (long long)most);
		best += gained == most;
		arena_close(arena);
	}
	print_message("%ld of %ld are the best\n", best, count);
	assert_true(!draws_are_many(count) || best * 10 >= count * 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_rows_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
