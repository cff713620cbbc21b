/* What the weave finds in drawn rooms that are full, or nearly so, is a packing; and it finds most
 * of them. */
#include "base/arena.h"
#include "base/random.h"
#include "model/packing_sums.h"
#include "solvers/place/pack_weave.h"
#include "tests/support/draws.h"
#include "tests/support/place_instances.h"

#include <stdio.h>

#include "tests/test.h"

enum { NODES_MOST = 20000 };

struct tried {
	bool is_for_it, is_found;
	int64_t *addresses; /* of the packing's buffers, bytes */
};
static struct tried tried;

/* One room after the other, from either end; rooms of one item are no question. */
static void try_weave(struct run *run, const struct problem *problem)
{
	const struct packing *packing = problem->packing;
	struct arena *arena = run_arena(run);
	int *takes = arena_array(arena, int, packing->count);
	for (size_t i = 0; i < packing->count; i++)
		takes[i] = TAKES_NOBODYS;
	struct shapes shapes = pack_shapes(packing, NULL, packing->capacity, takes, arena);
	struct rooms rooms = pack_rooms(&shapes, arena);
	int64_t *addresses = arena_array(arena, int64_t, shapes.count);
	tried = (struct tried){true, true, arena_array(arena, int64_t, packing->count)};
	for (size_t r = 0; r < rooms.count; r++) {
		bool is_found = false;
		for (int k = 0; k < 4 && !is_found; k++) {
			struct weave *weave = weave_open(&rooms.at[r], k % 2, arena);
			if (!weave) {
				tried.is_for_it = false;
				return;
			}
			is_found = weave_run(weave, run, 4, k / 2, NODES_MOST);
			for (int i = 0; is_found && i < rooms.at[r].item_count; i++)
				addresses[rooms.at[r].items[i].shape] = weave_address(weave, i);
		}
		tried.is_found &= is_found;
	}
	for (size_t i = 0; i < packing->count; i++)
		tried.addresses[i] = addresses[shapes.of[i]] * shapes.unit;
}

static void what_is_found_is_a_packing(void **state)
{
	static const struct solver trying = {
		.stage = STAGE_PLACE, .name = "weave", .run = try_weave};
	uint64_t seed = draws_seed(1);
	long count = draws(60), asked = 0, found = 0;
	for (long n = 0; n < count; n++) {
		struct random random = random_open(seed, (uint64_t)n);
		struct arena *arena = arena_open();
		struct perfect_options options = {.count = 20 + random_below(&random, 120),
			.steps = 20 + (int64_t)random_below(&random, 200),
			.height = 50 + (int64_t)random_below(&random, 500),
			.grain = 64,
			.wheels = (int)random_below(&random, 101),
			.removed = n % 2 ? (int)random_below(&random, 50) : 0};
		struct perfect perfect = perfect_draw(arena, &random, &options);
		struct problem problem = {.stage = STAGE_PLACE, .packing = &perfect.packing};
		solve(&trying, &problem, 0, 1, arena);
		asked += tried.is_for_it;
		if (tried.is_for_it && tried.is_found) {
			struct placement placement = {.count = perfect.packing.count,
				.addresses = tried.addresses,
				.in_place_of = arena_array(arena, int, perfect.packing.count)};
			for (size_t i = 0; i < placement.count; i++)
				placement.in_place_of[i] = -1;
			struct packing_fault fault = packing_check(&perfect.packing, &placement);
			if (fault.a >= 0)
				fail_msg("draw %ld: buffer %d is wrong", n, fault.a);
			found++;
		}
		arena_close(arena);
	}
	printf("%ld of %ld rooms asked, %ld found\n", asked, count, found);
	if (draws_are_many(count))
		assert_true(asked > count * 3 / 4 && found > asked * 3 / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_found_is_a_packing)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
