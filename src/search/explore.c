#include "search/explore.h"

#include "base/arena.h"
#include "base/array.h"
#include "model/plan_file.h"
#include "search/explore_driver.h"
#include "search/lx_staging.h"
#include "search/parallel.h"
#include "search/solver.h"
#include "search/task.h"

const char *const simulate_names[] = {"all", "frontier", "none", NULL};

/* What a task leaves behind. */
struct slot {
	struct arena *arena; /* holds the points' payloads; NULL: none were kept */
	struct array(struct point) points;
	struct refusals refusals;
	struct effort effort;
	bool joint_cut;
	const char *fault;
};

static void refuse(struct slot *slot, const char *why)
{
	slot->effort.refused++;
	refusals_add(&slot->refusals, slot->arena, why, 1);
}

static struct outcome carry_out(const struct exploration *exploration, const struct plan *plan,
	const struct stopper *stopper, struct slot *slot, struct arena *arena)
{
	struct outcome outcome = evaluate_cost(plan, arena);
	slot->effort.evaluated++;
	if (outcome.why || exploration->simulate != SIMULATE_ALL)
		return outcome;
	struct simulation how = {
		.mode = SIM_COUNT, .steps_most = exploration->simulate_budget, .stopper = stopper};
	evaluate_simulate(&outcome, &how, arena);
	if (outcome.why)
		return outcome;
	slot->effort.events += outcome.sim.events;
	slot->effort.simulated += outcome.simulated;
	slot->effort.unsimulated += !outcome.simulated && !outcome.sim.fault_count;
	return outcome;
}

static const char *disagreement(
	const struct outcome *outcome, const char *solver, struct arena *arena)
{
	if (outcome->sim.fault_count)
		return arena_format(arena, "%s: %s", solver, outcome->sim.faults[0].text);
	return arena_format(arena, "%s: the counts of model and simulator differ", solver);
}

static const char *plan_text(const struct plan *plan, struct arena *arena)
{
	struct text text = text_open(arena);
	plan_write(plan, &text);
	return text_read(&text);
}

/* Makes the recipe's plan and offers it; keeps it if nothing known beats it. */
static void offer_plan(struct driver *driver, const struct recipe *recipe, const char *solver,
	struct slot *slot, struct frontier *local, struct arena *scratch)
{
	const struct exploration *exploration = driver->exploration;
	struct recipe asked = *recipe;
	asked.planning.stopper = (struct stopper){driver, explore_stops};
	struct recipe_result made = recipe_plan(&asked, scratch);
	if (made.stopped)
		return;
	slot->effort.offered++;
	slot->effort.evaluated += made.ticks;
	slot->joint_cut |= made.cut;
	if (!made.plan) {
		refuse(slot, made.why);
		return;
	}
	struct outcome outcome =
		carry_out(exploration, made.plan, &asked.planning.stopper, slot, scratch);
	if (outcome.why) {
		refuse(slot, outcome.why);
		return;
	}
	if (outcome.sim.fault_count || (outcome.simulated && !outcome.agrees)) {
		slot->effort.disagreed++;
		if (!slot->fault)
			slot->fault = disagreement(&outcome, solver, slot->arena);
	}
	if (frontier_beats(&driver->explored->frontier, &outcome.cost.score, NULL) ||
		frontier_beats(local, &outcome.cost.score, "")) {
		slot->effort.pruned++;
		return;
	}

	made.plan->proof.method = solver;
	struct found *found = arena_new(slot->arena, struct found);
	found->recipe = *recipe;
	found->recipe.division = DIVISION_GIVEN;
	found->recipe.mappings = arena_copy(slot->arena, made.mappings,
		exploration->workload->op_count * sizeof *made.mappings);
	found->solver = solver;
	found->proof = made.plan->proof.status;
	found->gap = made.plan->proof.value - made.plan->proof.bound;
	found->execution = execution_of(&outcome);
	struct point point = {
		.score = outcome.cost.score,
		.key = arena_text(slot->arena, plan_text(made.plan, scratch)),
		.payload = found,
	};
	frontier_add(local, slot->arena, point);
}

/* The same, with what it takes of scratch memory, which is free again afterwards. */
static void offer(struct driver *driver, const struct recipe *recipe, const char *solver,
	struct slot *slot, struct frontier *local, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	size_t before = arena_used(scratch);
	offer_plan(driver, recipe, solver, slot, local, scratch);
	uint64_t bytes = arena_used(scratch) - before;
	slot->effort.bytes += bytes;
	if (slot->effort.bytes_most < bytes)
		slot->effort.bytes_most = bytes;
	arena_release(scratch, mark);
}

/* Every division of one op, the others as they are. */
static void vary(struct driver *driver, const struct task *task, struct slot *slot,
	struct frontier *local, struct arena *scratch)
{
	const struct workload *workload = task->recipe.workload;
	struct problem problem = {
		.stage = STAGE_DIVIDE,
		.arch = task->recipe.arch,
		.workload = workload,
		.planning = &task->recipe.planning,
		.op = task->op,
	};
	struct answer answer = solve(
		solver_find(STAGE_DIVIDE, "exhaustive"), &problem, 0, task->recipe.seed, scratch);
	slot->effort.evaluated += answer.ticks;
	struct mapping *mappings =
		arena_copy(scratch, task->recipe.mappings, workload->op_count * sizeof *mappings);
	struct recipe recipe = task->recipe;
	recipe.mappings = mappings;
	recipe.given = NULL;
	for (size_t i = 0; i < answer.candidate_count && slot->effort.offered < task->most; i++) {
		if (atomic_load(&driver->stopped))
			return;
		mappings[task->op] = answer.candidates[i].mappings[0];
		offer(driver, &recipe, task->solver, slot, local, scratch);
	}
}

/* Every staging tile of one broadcast, the others as they are. */
static void vary_staging(struct driver *driver, const struct task *task, struct slot *slot,
	struct frontier *local, struct arena *scratch)
{
	const struct planning *now = &task->recipe.planning;
	const struct planning *limits = &driver->exploration->planning;
	const char *op = task->recipe.workload->ops[task->op].name;
	struct recipe recipe = task->recipe;
	recipe.given = NULL;
	recipe.planning.staging_bytes = limits->staging_bytes;
	for (size_t i = 0; i < staging_option_count(now, op) && slot->effort.offered < task->most;
		i++) {
		if (atomic_load(&driver->stopped))
			return;
		recipe.planning.menus = staging_menus_with(now, limits, op, i, slot->arena);
		if (recipe.planning.menus)
			offer(driver, &recipe, task->solver, slot, local, scratch);
	}
}

static void run_task(
	struct driver *driver, const struct task *task, struct slot *slot, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	slot->arena = arena_open();
	struct frontier local = frontier_open(driver->exploration->objectives);
	if (task->op >= 0 && task->recipe.workload->ops[task->op].kind == OP_BROADCAST)
		vary_staging(driver, task, slot, &local, scratch);
	else if (task->op >= 0)
		vary(driver, task, slot, &local, scratch);
	else
		offer(driver, &task->recipe, task->solver, slot, &local, scratch);
	for (size_t i = 0; i < local.count; i++)
		*array_add(slot->arena, &slot->points) = local.points[i];
	arena_release(scratch, mark);
}

static void add(struct effort *sum, const struct effort *effort)
{
	sum->evaluated += effort->evaluated;
	sum->offered += effort->offered;
	sum->refused += effort->refused;
	sum->simulated += effort->simulated;
	sum->unsimulated += effort->unsimulated;
	sum->events += effort->events;
	sum->disagreed += effort->disagreed;
	sum->pruned += effort->pruned;
	sum->bytes += effort->bytes;
	if (sum->bytes_most < effort->bytes_most)
		sum->bytes_most = effort->bytes_most;
}

/* In slot order, so that the result does not depend on who finished first. */
static void merge(struct driver *driver, struct slot *slots, size_t count)
{
	struct explored *explored = driver->explored;
	for (size_t i = 0; i < count; i++) {
		struct slot *slot = &slots[i];
		if (!slot->arena)
			continue;
		add(&explored->effort, &slot->effort);
		explored->joint_cut |= slot->joint_cut;
		for (size_t r = 0; r < slot->refusals.count; r++)
			refusals_add(&driver->refusals, driver->arena, slot->refusals.at[r].why,
				slot->refusals.at[r].count);
		if (slot->fault && !explored->fault)
			explored->fault = arena_text(driver->arena, slot->fault);
		bool kept = false;
		for (size_t p = 0; p < slot->points.count; p++)
			kept |= frontier_add(
				&explored->frontier, driver->arena, slot->points.at[p]);
		if (kept) {
			explored->bytes_kept += arena_used(slot->arena);
			arena_adopt(driver->arena, slot->arena);
		} else {
			arena_close(slot->arena);
		}
	}
}

void explore_tell(struct driver *driver, size_t done, size_t count, uint64_t offered)
{
	const struct exploration *exploration = driver->exploration;
	if (exploration->progress)
		exploration->progress(exploration->listener, driver->round, done, count, offered);
	explore_stops(driver);
}

bool explore_stops(void *at)
{
	struct driver *driver = at;
	const struct exploration *exploration = driver->exploration;
	if (!atomic_load(&driver->stopped) && exploration->stop &&
		exploration->stop(exploration->listener))
		atomic_store(&driver->stopped, true);
	return atomic_load(&driver->stopped);
}

struct round {
	struct driver *driver;
	const struct tasks *tasks;
	struct slot *slots;
	size_t count, done;
	uint64_t offered;
};

static void round_run(void *context, size_t i, int thread)
{
	struct round *round = context;
	struct driver *driver = round->driver;
	if (!atomic_load(&driver->stopped))
		run_task(driver, &round->tasks->at[i], &round->slots[i], driver->scratch[thread]);
}

static void round_done(void *context, size_t i)
{
	struct round *round = context;
	if (!round->slots[i].arena)
		return;
	round->offered += round->slots[i].effort.offered;
	explore_tell(round->driver, ++round->done, round->count, round->offered);
}

static void run_round(struct driver *driver, struct tasks *tasks)
{
	size_t count = tasks->count;
	if (driver->exploration->budget) {
		uint64_t left = driver->exploration->budget - driver->explored->effort.offered;
		count = tasks_limit(tasks, left, driver->arena);
		driver->explored->cut |= count < tasks->count || tasks->cut;
	}
	struct round round = {
		.driver = driver,
		.tasks = tasks,
		.slots = arena_array(driver->arena, struct slot, count),
		.count = count,
		.offered = driver->explored->effort.offered,
	};
	driver->round++;
	struct parallel work = {&round, round_run, round_done};
	parallel_each(&work, count, driver->exploration->jobs);
	merge(driver, round.slots, count);
}

struct explored explore(const struct exploration *exploration, struct arena *arena)
{
	struct explored explored = {.frontier = frontier_open(exploration->objectives)};
	struct driver driver = {.exploration = exploration, .explored = &explored, .arena = arena};
	driver.scratch = arena_array(arena, struct arena *, exploration->jobs);
	for (int i = 0; i < exploration->jobs; i++)
		driver.scratch[i] = arena_open();
	struct tasks tasks = tasks_first(exploration, arena);
	run_round(&driver, &tasks);
	if (!explore_stops(&driver))
		tasks = tasks_staging(exploration, &explored.frontier, arena);
	if (tasks.count)
		run_round(&driver, &tasks);
	tasks = tasks_varying(exploration, &explored.frontier, arena);
	run_round(&driver, &tasks);
	if (exploration->simulate != SIMULATE_NONE)
		explore_again(&driver);
	for (int i = 0; i < exploration->jobs; i++)
		arena_close(driver.scratch[i]);
	explored.refusals = refusals_lines(&driver.refusals, arena);
	explored.refusal_count = driver.refusals.count;
	explored.stopped = atomic_load(&driver.stopped);
	return explored;
}
