#include "base/arena.h"
#include "base/text.h"
#include "search/drive/drive.h"

#include <stdatomic.h>

#include "tests/test.h"

/*
 * A kind of its own: the points of a grid, x to the right and y up.  One that is higher is cheaper
 * and slower.  Round 1 has a task for each row, round 2 one for each point of the frontier, which
 * offers it half a step further on.  The driver knows nothing of grids.
 */
enum { SIDE = 12 };

struct grid {
	int wrong_x;      /* executions in this column are wrong; -1: none */
	int wall;         /* points with x below it cannot be */
	bool proves;      /* tasks say that they left out nothing */
	bool slow;        /* executions are over only in the last round */
	bool starts;      /* the upper right corner is known before */
	double bound;     /* of the tasks */
	atomic_int tasks; /* that ran */
	atomic_int executions, last;
	int merged;
	size_t bests; /* points of the frontier when round 2 began */
	double at[SIDE * SIDE + 1];
	struct grid *inner; /* by task: what a task of an outer kind explores */
};

struct cell_found {
	struct found common;
	double x;
	int y;
};

static void offer(struct slot *slot, double x, int y)
{
	struct cell_found found = {.common.solver = "toy", .x = x, .y = y};
	drive_offer(slot, &found.common);
}

static void start(void *self, struct slot *slot)
{
	if (((struct grid *)self)->starts)
		offer(slot, SIDE - 1, SIDE - 1);
}

static bool make_tasks(void *self, int round, struct drive *drive, size_t *count)
{
	struct grid *grid = self;
	const struct frontier *frontier = drive_frontier(drive);
	*count = SIDE;
	if (round == 2) {
		*count = grid->bests = frontier->count;
		for (size_t i = 0; i < frontier->count; i++)
			grid->at[i] = ((struct cell_found *)frontier->points[i].payload)->x;
	}
	return round <= 2;
}

static uint64_t count_wants(void *self, size_t task)
{
	return ((struct grid *)self)->bests ? 1 : SIDE;
}

static void run(void *self, size_t i, struct slot *slot)
{
	struct grid *grid = self;
	atomic_fetch_add(&grid->tasks, 1);
	slot->complete = grid->proves;
	slot->bound = grid->bound;
	slot->left = arena_new(slot->arena, int);
	if (grid->bests) {
		slot->effort.evaluated++;
		offer(slot, grid->at[i] + 0.5, (int)grid->at[i]);
		return;
	}
	for (int x = 0; x < SIDE && slot->effort.offered < slot->most; x++) {
		slot->effort.evaluated++;
		offer(slot, x, (int)i);
	}
}

static const char *price(void *self, struct found *found, struct slot *slot, struct score *score)
{
	const struct cell_found *cell = (struct cell_found *)found;
	if (cell->x < ((struct grid *)self)->wall)
		return arena_format(slot->scratch, "column %d is walled up", (int)cell->x);
	/* on the diagonal nothing beats anything */
	double off = cell->x > cell->y ? cell->x - cell->y : cell->y - cell->x;
	*score = (struct score){.feasible = true,
		.cycles = (int64_t)(10 * (cell->x + off)),
		.energy_pj = SIDE - cell->x + off};
	return NULL;
}

static const char *execute(void *self, struct found *found, struct slot *slot, bool last)
{
	struct grid *grid = self;
	bool wrong = (int)((struct cell_found *)found)->x == grid->wrong_x;
	atomic_fetch_add(last ? &grid->last : &grid->executions, 1);
	found->execution = (struct execution){.finished = last || !grid->slow,
		.agrees = !wrong,
		.cycles = 7,
		.events = 3,
		.mode = last ? SIM_DATA : SIM_COUNT};
	return NULL;
}

static const char *key(void *self, const struct found *found, struct arena *arena)
{
	const struct cell_found *cell = (const struct cell_found *)found;
	return arena_format(arena, "%05.1f,%02d", cell->x, cell->y);
}

static void merge(void *self, void *left)
{
	((struct grid *)self)->merged += left != NULL;
}

static const struct drive_kind grids = {
	.start = start,
	.tasks = make_tasks,
	.wants = count_wants,
	.run = run,
	.price = price,
	.execute = execute,
	.key = key,
	.size = sizeof(struct cell_found),
	.merge = merge,
	.counts_offers = true,
};

static struct explored explore_grid(
	struct grid *grid, const struct wishes *wishes, struct arena *arena)
{
	struct wishes asked = *wishes;
	asked.objectives = (struct objectives){2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}};
	return drive_explore(&grids, grid, &asked, arena);
}

/* All that a result says. */
static const char *print(const struct explored *explored, struct arena *arena)
{
	struct text text = text_open(arena);
	const struct effort *effort = &explored->effort;
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct point *point = &explored->frontier.points[i];
		const struct found *found = point->payload;
		text_add(&text, "%s %lld %g %s %d %d\n", point->key, (long long)point->score.cycles,
			point->score.energy_pj, found->solver, (int)found->proof,
			(int)found->execution.agrees);
	}
	text_add(&text, "%d %d %d %d %d %d %d\n%s\n%s\n", (int)effort->evaluated,
		(int)effort->offered, (int)effort->refused, (int)effort->pruned,
		(int)effort->simulated, (int)effort->disagreed, (int)effort->bytes_kept,
		explored->fault ? explored->fault : "", explored->limit ? explored->limit : "");
	const char **lines = refusals_lines(&explored->refusals, arena);
	for (size_t i = 0; i < explored->refusals.count; i++)
		text_add(&text, "%s\n", lines[i]);
	return text_read(&text);
}

TEST(threads_change_nothing)
{
	static const uint64_t budgets[] = {0, 1, 17, 150};
	for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
		const char *first = NULL;
		for (int i = 0; i < 3; i++) {
			static const int jobs[] = {1, 2, 7};
			struct grid grid = {.wrong_x = 5, .wall = 2, .starts = true};
			struct wishes wishes = {.budget = budgets[b], .asker.jobs = jobs[i]};
			struct explored explored = explore_grid(&grid, &wishes, arena);
			const char *text = print(&explored, arena);
			if (first)
				assert_string_equal(text, first);
			first = text;
		}
	}
}

/* The diagonal: 12 points, from which round 2 tries as many others, none of which is better. */
TEST(the_frontier_is_found_in_two_rounds)
{
	struct grid grid = {.wrong_x = -1, .proves = true};
	struct wishes wishes = {.asker.jobs = 2};
	struct explored explored = explore_grid(&grid, &wishes, arena);
	assert_int_equal(grid.bests, SIDE);
	assert_int_equal(explored.effort.offered, SIDE * SIDE + SIDE);
	assert_int_equal(explored.effort.evaluated, SIDE * SIDE + SIDE);
	assert_int_equal(explored.effort.refused, 0);
	assert_int_equal(grid.merged, 2 * SIDE);
	assert_true(explored.complete);
	assert_false(explored.stopped);
	assert_null(explored.fault);
	assert_null(explored.limit);
	for (int d = 0; d < SIDE; d++) {
		const struct point *point = &explored.frontier.points[d];
		const struct cell_found *found = point->payload;
		assert_int_equal(point->score.cycles, 10 * d);
		assert_true(found->x == d && found->y == d);
		assert_int_equal(found->common.proof, PROOF_OPTIMAL);
	}
	assert_int_equal(explored.frontier.count, SIDE);
}

/* Rows are tasks: the budget ends amid the second one. */
TEST(a_budget_cuts_in_the_order_of_tasks)
{
	struct grid grid = {.wrong_x = -1};
	struct wishes wishes = {.budget = SIDE + 3, .asker.jobs = 2};
	struct explored explored = explore_grid(&grid, &wishes, arena);
	assert_int_equal(explored.effort.offered, SIDE + 3);
	assert_int_equal(atomic_load(&grid.tasks), 2);
	assert_string_equal(explored.limit, "budget");
	for (size_t i = 0; i < explored.frontier.count; i++)
		assert_true(((struct cell_found *)explored.frontier.points[i].payload)->y <= 1);
	struct grid all = {.wrong_x = -1};
	wishes.budget = SIDE * SIDE + SIDE;
	explored = explore_grid(&all, &wishes, arena);
	assert_null(explored.limit);
	assert_int_equal(explored.effort.offered, SIDE * SIDE + SIDE);
}

TEST(what_is_executed_is_what_is_wished)
{
	for (int simulate = SIMULATE_ALL; simulate <= SIMULATE_NONE; simulate++) {
		struct grid grid = {.wrong_x = -1, .wall = 1};
		struct wishes wishes = {.simulate = (enum simulate)simulate, .asker.jobs = 2};
		struct explored explored = explore_grid(&grid, &wishes, arena);
		const struct effort *effort = &explored.effort;
		uint64_t points = explored.frontier.count, offered = effort->offered;
		uint64_t all = offered - effort->refused;
		assert_int_equal(atomic_load(&grid.executions), simulate == SIMULATE_ALL ? all : 0);
		assert_int_equal(atomic_load(&grid.last), simulate == SIMULATE_NONE ? 0 : points);
		assert_int_equal(effort->simulated, simulate == SIMULATE_ALL        ? all
						    : simulate == SIMULATE_FRONTIER ? points
										    : 0);
		assert_int_equal(effort->events, 3 * effort->simulated);
		for (size_t i = 0; i < points; i++) {
			const struct found *found = explored.frontier.points[i].payload;
			assert_int_equal(found->execution.finished, simulate != SIMULATE_NONE);
			assert_string_equal(execution_name(&found->execution),
				simulate == SIMULATE_NONE ? "" : "data");
		}
	}
}

/* Column 5: a candidate in each row, one more of round 2, and the point that is kept. */
TEST(a_disagreement_is_told_and_counted)
{
	struct grid grid = {.wrong_x = 5};
	struct wishes wishes = {.asker.jobs = 7};
	struct explored explored = explore_grid(&grid, &wishes, arena);
	assert_int_equal(explored.effort.disagreed, SIDE + 2);
	assert_string_equal(explored.fault, "005.0,00: the counts of model and simulator differ");
	struct grid kept = {.wrong_x = 5};
	wishes.simulate = SIMULATE_FRONTIER;
	explored = explore_grid(&kept, &wishes, arena);
	assert_int_equal(explored.effort.disagreed, 1);
	assert_string_equal(explored.fault, "005.0,05: the counts of model and simulator differ");
}

TEST(refusals_are_counted_by_reason)
{
	struct grid grid = {.wrong_x = -1, .wall = 2};
	struct wishes wishes = {.asker.jobs = 2};
	struct explored explored = explore_grid(&grid, &wishes, arena);
	assert_int_equal(explored.effort.refused, 2 * SIDE);
	assert_int_equal(explored.refusals.count, 2);
	assert_string_equal(refusals_lines(&explored.refusals, arena)[0],
		"column 0 is walled up (12 candidates)");
}

struct person {
	int patience; /* questions that are answered with no */
	atomic_int asked;
};

static bool says_stop(void *at)
{
	struct person *person = at;
	return atomic_fetch_add(&person->asked, 1) >= person->patience;
}

static void look(void *at, const struct progress *progress)
{
	assert_in_range(progress->done, progress->tasks > 0, progress->tasks);
	assert_true(progress->count > 0);
}

/* Whenever it is: what was known before is there, what was merged is true, and nothing is proven. */
TEST(a_stop_leaves_what_was_found)
{
	for (int patience = 0; patience < 30; patience += 3)
		for (int jobs = 1; jobs <= 3; jobs++) {
			struct grid grid = {.wrong_x = -1, .starts = true, .proves = true};
			struct person person = {.patience = patience};
			struct wishes wishes = {.asker = {.jobs = jobs,
							.stopper = {&person, says_stop},
							.progress = look}};
			struct explored explored = explore_grid(&grid, &wishes, arena);
			assert_true(explored.stopped);
			assert_true(explored.frontier.count > 0);
			if (patience < 2 * SIDE - 1 - jobs)
				assert_false(explored.complete);
			assert_in_range(
				atomic_load(&grid.tasks), patience < 23 ? 0 : 20, patience + jobs);
			assert_int_equal(explored.effort.offered > 1, atomic_load(&grid.tasks) > 0);
			for (size_t i = 0; i < explored.frontier.count; i++)
				assert_non_null(explored.frontier.points[i].key);
		}
}

/* Points that were found are executed after a stop, as long as the stopper of executions lets it, and nothing twice. */
TEST(a_stop_leaves_time_to_execute)
{
	for (int slow = 0; slow < 2; slow++)
		for (int time = 0; time < 2; time++) {
			struct grid grid = {.wrong_x = -1, .slow = slow};
			struct person person = {.patience = 5},
				      later = {.patience = time ? 1000 : 0};
			struct wishes wishes = {
				.asker = {2, {&person, says_stop}, look, {&later, says_stop}}};
			struct explored explored = explore_grid(&grid, &wishes, arena);
			size_t count = explored.frontier.count, executed = 0;
			for (size_t i = 0; i < count; i++) {
				const struct found *found = explored.frontier.points[i].payload;
				executed += found->execution.finished;
			}
			assert_true(explored.stopped && count > 1);
			assert_int_equal(executed, slow && !time ? 0 : count);
			assert_int_equal(atomic_load(&grid.last), slow && time ? count : 0);
			assert_int_equal(explored.effort.simulated + explored.effort.unsimulated,
				explored.effort.offered);
			assert_int_equal(explored.effort.unsimulated > 0, slow);
		}
}

TEST(a_bound_becomes_a_gap)
{
	struct grid grid = {.wrong_x = -1, .wall = 1, .bound = 4};
	struct wishes wishes = {.asker.jobs = 2};
	struct explored explored = explore_grid(&grid, &wishes, arena);
	const struct found *found = explored.frontier.points[0].payload;
	assert_false(explored.complete);
	assert_int_equal(found->proof, PROOF_BOUND);
	assert_true(found->estimate == 10 && found->bound == 4 && found->gap == 6);
}

/* --- a task that is an exploration itself */

static bool make_inner(void *self, int round, struct drive *drive, size_t *count)
{
	*count = 3;
	return round == 1;
}

static void run_inner(void *self, size_t i, struct slot *slot)
{
	struct grid *inner = &((struct grid *)self)->inner[i];
	struct asker asker = drive_asker(slot->drive);
	struct wishes wishes = {.asker = asker};
	struct explored explored = explore_grid(inner, &wishes, slot->arena);
	drive_nest(slot, &explored);
}

TEST(steps_nest)
{
	static const struct drive_kind nested = {.tasks = make_inner, .run = run_inner};
	for (int jobs = 1; jobs <= 2; jobs++) {
		struct grid inner[3] = {{.wrong_x = -1, .proves = true},
			{.wrong_x = 4, .proves = true}, {.wrong_x = 3, .proves = jobs == 1}};
		struct grid outer = {.inner = inner};
		struct wishes wishes = {.asker.jobs = jobs};
		struct explored explored = drive_explore(&nested, &outer, &wishes, arena);
		assert_int_equal(explored.effort.offered, 3 * (SIDE * SIDE + SIDE));
		assert_int_equal(explored.effort.disagreed, 2 * (SIDE + 2));
		assert_string_equal(
			explored.fault, "004.0,00: the counts of model and simulator differ");
		assert_int_equal(explored.complete, jobs == 1);
	}
}
