/* Packings that grow section by section lie right, and two climbs with one best find the same on any
 * number of threads. */
#include "base/arena.h"
#include "model/packing_sums.h"
#include "search/solver.h"
#include "solvers/place/spill_grow.h"
#include "solvers/place/spill_hunt.h"
#include "tests/support/draws.h"
#include "tests/support/spill_instances.h"

#include <string.h>

#include "tests/test.h"

enum { NODES = 20000, HUNT_NODES = 400000 };

/* Of each climb, as if done already: little is left of the first turn. */
static const uint64_t work_done[SPILL_CLIMBS] = {450000, 370000};

static const struct packing *packing;
static int percent; /* of the room that the set may fill */
static bool fits;
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

/* A set that the rows of this part of the room hold; of more than the room, one that they do not. */
static void run_grow(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	(void)problem;
	const struct spill_model *model = spill_model_make(arena, packing, 1 << 20);
	struct spill_moves moves = spill_moves_make(run, arena, model);
	struct spill_set set = spill_set_make(arena, model);
	int64_t *at = arena_array(arena, int64_t, model->item_count);
	set.room = model->room * percent / 100;
	spill_moves_fill(&moves, &set);
	struct spill_question question = spill_question_make(arena, model, set.kept);
	int64_t last = packing->buffers[run_random(run, packing->count)].end;
	struct spill_growth *growth = spill_growth_open(run, &question, NODES, last, arena);
	while (!spill_growth_is_over(growth))
		spill_growth_try(run, growth);
	fits = spill_growth_fits(growth, at);
	if (fits)
		judge(model, &set, at);
	arena_close(arena);
}

static const struct solver grower = {.stage = STAGE_PLACE, .name = "grow", .run = run_grow};

/* Some alignments, a range that is reserved, and a buffer with a fixed address. */
static void hamper(struct arena *arena, struct packing *drawn, uint64_t seed)
{
	struct buffer *buffers = arena_copy(arena, drawn->buffers, drawn->count * sizeof *buffers);
	struct byte_range *reserved = arena_new(arena, struct byte_range);
	*reserved = (struct byte_range){drawn->capacity / 2, drawn->capacity / 2 + 1024};
	for (size_t i = seed % 3; i < drawn->count; i += 3)
		buffers[i].alignment = 4096;
	buffers[seed % drawn->count].is_fixed = true;
	buffers[seed % drawn->count].address = 0;
	drawn->reserved = reserved;
	drawn->reserved_count = 1;
	drawn->buffers = buffers;
}

static void what_has_grown_lies_right(void **state)
{
	static const int percents[] = {0, 60, 90, 95, 100, 130};
	long count = draws(60), fit[6] = {0}, hampered = 0;
	uint64_t seed = draws_seed(1);
	(void)state;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		int k = (int)(draw % 6);
		struct packing drawn = spill_random(
			arena, seed + (uint64_t)draw, 20 + 20 * (size_t)(draw % 5), 60);
		drawn.goal = PACKING_SPILL;
		bool is_hampered = draw / 6 % 2;
		if (is_hampered)
			hamper(arena, &drawn, seed + (uint64_t)draw);
		struct problem problem = {.stage = STAGE_PLACE, .packing = &drawn};
		packing = &drawn;
		percent = percents[k];
		solve(&grower, &problem, 0, (uint64_t)draw, arena);
		if (fits && fault.a >= 0)
			fail_msg("draw %ld, buffers %d and %d: %s", draw, fault.a, fault.b,
				fault.why);
		if (fits)
			assert_int_equal(saved, kept);
		fit[k] += fits;
		hampered += is_hampered && fits && kept > 0;
		arena_close(arena);
	}
	print_message("of %ld: %ld of nothing, %ld at 60 %%, %ld at 90, %ld at 95, %ld full, "
		      "%ld overfull; %ld with alignments, reserved bytes and an address\n",
		count, fit[0], fit[1], fit[2], fit[3], fit[4], fit[5], hampered);
	assert_true(!draws_are_many(count) || (fit[0] && fit[1] && fit[2] && fit[3] && hampered));
	assert_int_equal(fit[5], 0);
}

static bool is_asked; /* after the first turn, and has_grown after the second */
static bool has_grown;
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
	is_asked = hunt.climbs[1].asked != NULL;
	spill_hunt_step(&hunt, INT64_MAX);
	judge(model, &hunt.climbs[0].best, hunt.climbs[0].best_at);
	found.gain = hunt.climbs[0].best.gain;
	found.work = hunt.work;
	for (int i = 0; i < model->item_count; i++)
		found.at[i] = hunt.climbs[0].best.kept[i] ? hunt.climbs[0].best_at[i] : UNPLACED;
	has_grown = hunt.climbs[1].stuck || hunt.climbs[1].found;
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
	solve(&hunter, &problem, HUNT_NODES, 1, arena);
	assert_true(is_asked && has_grown && fault.a < 0 && saved == kept);
	char *alone = arena_copy(arena, &found, sizeof found);
	struct asker three = {.jobs = 3};
	solve_for(&three, &hunter, &problem, HUNT_NODES, 1, arena);
	assert_memory_equal(alone, &found, sizeof found);
	arena_close(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_grown_lies_right),
		cmocka_unit_test(threads_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
