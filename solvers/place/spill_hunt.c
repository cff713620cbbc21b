#include "solvers/place/spill_hunt.h"

#include "base/arena.h"

/* Work of the first climb before the second begins, and of each in a turn. */
enum { ALONE = 200000, TURN = 120000 };

struct spill_hunt spill_hunt_open(struct run *run, const struct spill_model *model)
{
	struct spill_hunt hunt = {.run = run};
	for (int k = 0; k < SPILL_CLIMBS; k++) {
		hunt.arenas[k] = arena_open();
		hunt.climbs[k] = spill_climb_make(run, hunt.arenas[k], model);
	}
	return hunt;
}

void spill_hunt_close(struct spill_hunt *hunt)
{
	for (int k = 0; k < SPILL_CLIMBS; k++)
		arena_close(hunt->arenas[k]);
}

static void set_run(struct spill_climb *climb, struct run *run)
{
	climb->run = climb->moves.run = run;
}

static void take_turn(struct run *run, void *context, size_t i)
{
	struct spill_hunt *hunt = context;
	struct spill_climb *climb = &hunt->climbs[i];
	uint64_t work = hunt->turns * TURN + (i ? 0 : ALONE);
	set_run(climb, run);
	while (climb->work < work && climb->best.gain < hunt->most && run_spend(run, 1))
		spill_climb_step(climb);
}

static void take_turns(struct spill_hunt *hunt)
{
	struct spill_climb *climbs = hunt->climbs;
	spill_climb_follow(&climbs[1], &climbs[0]);
	hunt->turns++;
	run_parts(hunt->run, SPILL_CLIMBS, take_turn, hunt);
	for (int k = 0; k < SPILL_CLIMBS; k++)
		set_run(&climbs[k], hunt->run);
	spill_climb_follow(&climbs[0], &climbs[1]);
}

void spill_hunt_step(struct spill_hunt *hunt, int64_t most)
{
	hunt->most = most;
	uint64_t before = hunt->climbs[0].work + hunt->climbs[1].work;
	if (hunt->climbs[0].work < ALONE || hunt->climbs[0].model->pair_count)
		spill_climb_step(&hunt->climbs[0]);
	else
		take_turns(hunt);
	hunt->work += hunt->climbs[0].work + hunt->climbs[1].work - before;
}
