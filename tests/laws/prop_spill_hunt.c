/* Two climbs with one best find the same on any number of threads. */
#include "base/arena.h"
#include "model/packing/packing_sums.h"
#include "search/drive/solver.h"
#include "solvers/place/spill_hunt.h"
#include "tests/support/draws.h"
#include "tests/support/spill_instances.h"

#include <string.h>

#include "tests/test.h"

enum { NODES = 400000 };

/* Of each climb, as if done already: little is left of the first turn. */
static const uint64_t work_done[SPILL_CLIMBS] = {280000, 90000};

static const struct packing *packing;
static struct packing_fault fault;
static int64_t kept, saved; /* in the model's units */

static void judge(const struct spill_model *model, const struct spill_set *set, const int64_t *at)
{
	struct arena *arena = arena_open();
	const struct placement *placement = spill_placement(arena, model, set->kept, at);
	fault = packing_check(packing, placement);
	kept = set->gain;
	saved = placement_saved(packing, placement) / model->unit_gain;
	arena_close(arena);
}

static bool both_asked;
static struct {
	int64_t gain;
	uint64_t work;
	int64_t at[160];
} found;

static void run_hunt(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	(void)problem;
	const struct spill_model *model = spill_model_make(arena, packing, 1 << 20);
	struct spill_hunt hunt = spill_hunt_open(run, model);
	spill_climb_start(&hunt.climbs[0]);
	for (int k = 0; k < SPILL_CLIMBS; k++)
		hunt.climbs[k].work += work_done[k];
	spill_hunt_step(&hunt, INT64_MAX);
	both_asked = hunt.climbs[0].moves.asked.used && hunt.climbs[1].moves.asked.used;
	spill_hunt_step(&hunt, INT64_MAX);
	judge(model, &hunt.climbs[0].best, hunt.climbs[0].best_at);
	found.gain = hunt.climbs[0].best.gain;
	found.work = hunt.work;
	for (int i = 0; i < model->item_count; i++)
		found.at[i] = hunt.climbs[0].best.kept[i] ? hunt.climbs[0].best_at[i] : UNPLACED;
	spill_hunt_close(&hunt);
	arena_close(arena);
}

static const struct solver hunter = {.stage = STAGE_PLACE, .name = "hunt", .run = run_hunt};

static void threads_change_nothing(void **state)
{
	struct arena *arena = arena_open();
	struct packing drawn = spill_random(arena, draws_seed(1), 160, 50);
	struct problem problem = {.stage = STAGE_PLACE, .packing = &drawn};
	(void)state;
	drawn.goal = PACKING_SPILL;
	packing = &drawn;
	memset(&found, 0, sizeof found);
	solve(&hunter, &problem, NODES, 1, arena);
	assert_true(both_asked && fault.a < 0 && saved == kept);
	char *alone = arena_copy(arena, &found, sizeof found);
	struct asker three = {.jobs = 3};
	solve_for(&three, &hunter, &problem, NODES, 1, arena);
	assert_memory_equal(alone, &found, sizeof found);
	arena_close(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
