/* What is put into a packing later lies right: no two meet, nothing that was kept is lost. */
#include "base/arena.h"
#include "model/packing/packing_sums.h"
#include "search/drive/solver.h"
#include "solvers/place/spill_finish.h"
#include "solvers/place/spill_fit.h"
#include "solvers/place/spill_pack.h"
#include "tests/support/draws.h"
#include "tests/support/spill_instances.h"

#include "tests/test.h"

static const struct packing *packing;
static int64_t before, after, saved; /* in the model's units */
static struct packing_fault fault;
static bool thins; /* takes every second item out of the packing before it is finished */
static int taken;
static bool lost;     /* something that was kept before is not */
static bool hopeless; /* more is to be gained than is wanted */
static bool blamed;   /* something that was not wanted is said to have failed */

static void thin(struct spill_set *set)
{
	bool stays = false;
	taken = 0;
	for (int i = 0; i < set->model->item_count; i++) {
		if (!set->kept[i])
			continue;
		stays = !stays;
		if (stays)
			continue;
		spill_set_turn(set, i);
		taken++;
	}
}

/* What first fit keeps of a set that the rows hold, and then whatever else can be. */
static void run_finish(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	(void)problem;
	const struct spill_model *model = spill_model_make(arena, packing, 1 << 20);
	struct spill_moves moves = spill_moves_make(run, arena, model);
	struct spill_set wanted = spill_set_make(arena, model), set = spill_set_make(arena, model);
	int64_t *at = arena_array(arena, int64_t, model->item_count);
	spill_moves_fill(&moves, &wanted);
	spill_set_copy(&set, &wanted);
	spill_fit(run, &set, NULL, at);
	if (thins)
		thin(&set);
	before = set.gain;
	bool *kept = arena_copy(arena, set.kept, (size_t)model->item_count * sizeof *kept);
	struct spill_finishing finishing = {.wanted = &wanted,
		.least = hopeless ? wanted.gain + 1 : 0,
		.failed = arena_array(arena, bool, model->item_count)};
	spill_finish(run, &moves, &finishing, &set, at);
	after = set.gain;
	lost = blamed = false;
	for (int i = 0; i < model->item_count; i++) {
		lost |= kept[i] && !set.kept[i];
		blamed |= finishing.failed[i] && (kept[i] || !wanted.kept[i]);
	}
	const struct placement *placement = spill_placement(arena, model, set.kept, at);
	fault = packing_check(packing, placement);
	saved = placement_saved(packing, placement) / model->unit_gain;
	arena_close(arena);
}

static const struct solver solver = {.stage = STAGE_PLACE, .name = "finish", .run = run_finish};

/* The budget in ticks; 0: none. */
static void finish_drawn(struct arena *arena, struct packing *drawn, long draw, uint64_t ticks)
{
	struct problem problem = {.stage = STAGE_PLACE, .packing = drawn};
	drawn->goal = PACKING_SPILL;
	packing = drawn;
	solve(&solver, &problem, ticks, 1, arena);
	if (fault.a >= 0)
		fail_msg("draw %ld, buffers %d and %d: %s", draw, fault.a, fault.b, fault.why);
}

static void what_comes_later_lies_right(void **state)
{
	long count = draws(20), fuller = 0;
	uint64_t seed = draws_seed(1);
	(void)state;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct packing drawn = spill_random(arena, seed + (uint64_t)draw,
			30 + 10 * (size_t)(draw % 5), draw % 2 ? 50 : 75);
		finish_drawn(arena, &drawn, draw, 0);
		assert_true(!lost && !blamed && after >= before && saved == after);
		fuller += after > before;
		arena_close(arena);
	}
	print_message("%ld of %ld are fuller\n", fuller, count);
	assert_true(!draws_are_many(count) || fuller > 0);
}

/* So many are missing that first fit comes before mending. */
static void many_lie_right(void **state)
{
	struct arena *arena = arena_open();
	(void)state;
	struct packing drawn = spill_random(arena, draws_seed(1), 300, 90);
	thins = true;
	finish_drawn(arena, &drawn, 0, 200000);
	thins = false;
	assert_true(!lost && taken > 100 && after > before && saved == after);
	arena_close(arena);
}

static void without_hope_nothing_changes(void **state)
{
	struct arena *arena = arena_open();
	(void)state;
	struct packing drawn = spill_random(arena, draws_seed(1), 60, 75);
	hopeless = thins = true;
	finish_drawn(arena, &drawn, 0, 0);
	hopeless = false;
	assert_true(taken > 0 && after == before && saved == after);
	finish_drawn(arena, &drawn, 0, 0);
	thins = false;
	assert_true(after > before);
	arena_close(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_later_lies_right),
		cmocka_unit_test(many_lie_right),
		cmocka_unit_test(without_hope_nothing_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
