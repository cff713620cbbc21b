#include "search/explore.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "model/plan_file.h"
#include "search/gap.h"
#include "search/lx_staging.h"
#include "search/parallel.h"
#include "search/solver.h"
#include "search/task.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const char *const simulate_names[] = {"all", "frontier", "none", NULL};

struct refusal {
	const char *why;
	uint64_t count;
};
struct refusals array(struct refusal);

/* What a task leaves behind. */
struct slot {
	struct arena *arena; /* holds the points' payloads; NULL: none were kept */
	struct array(struct point) points;
	struct refusals refusals;
	struct effort effort;
	bool joint_cut;
	const char *fault;
};

struct driver {
	const struct exploration *exploration;
	struct explored *explored;
	struct arena *arena;
	struct arena **scratch; /* by thread: only memory, nothing of it reaches a result */
	struct refusals refusals;
	int round;
	atomic_bool stopped;
};

static void add_refusals(
	struct refusals *refusals, struct arena *arena, const char *why, uint64_t count)
{
	for (size_t i = 0; i < refusals->count; i++)
		if (strcmp(refusals->at[i].why, why) == 0) {
			refusals->at[i].count += count;
			return;
		}
	*array_add(arena, refusals) = (struct refusal){arena_text(arena, why), count};
}

static void refuse(struct slot *slot, const char *why)
{
	slot->effort.refused++;
	add_refusals(&slot->refusals, slot->arena, why, 1);
}

static struct outcome carry_out(const struct exploration *exploration, const struct plan *plan,
	struct slot *slot, struct arena *arena)
{
	struct outcome outcome = evaluate_cost(plan, arena);
	slot->effort.evaluated++;
	if (outcome.why || exploration->simulate != SIMULATE_ALL)
		return outcome;
	struct simulation how = {.mode = SIM_COUNT, .steps_most = exploration->simulate_budget};
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

static struct execution make_execution(const struct outcome *outcome)
{
	const struct sim_result *sim = &outcome->sim;
	struct execution execution = {
		.finished = outcome->simulated,
		.mode = outcome->mode,
		.agrees = outcome->agrees,
		.fault_count = sim->fault_count,
		.worst_ulps = outcome->worst_ulps,
		.worst_tensor = outcome->worst_tensor,
	};
	if (!outcome->simulated)
		return execution;
	execution.cycles = sim->cycles;
	execution.energy_pj = sim->energy_pj;
	execution.hbm_bytes = counts_total(&sim->counts, TRAFFIC_HBM_READ) +
			      counts_total(&sim->counts, TRAFFIC_HBM_WRITE);
	return execution;
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
	slot->effort.offered++;
	struct recipe_result made = recipe_plan(recipe, scratch);
	slot->effort.evaluated += made.ticks;
	slot->joint_cut |= made.cut;
	if (!made.plan) {
		refuse(slot, made.why);
		return;
	}
	struct outcome outcome = carry_out(exploration, made.plan, slot, scratch);
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
	found->execution = make_execution(&outcome);
	struct point point = {
		.score = outcome.cost.score,
		.key = plan_text(made.plan, slot->arena),
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
			add_refusals(&driver->refusals, driver->arena, slot->refusals.at[r].why,
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

static void tell(struct driver *driver, size_t done, size_t count, uint64_t offered)
{
	const struct exploration *exploration = driver->exploration;
	if (exploration->progress)
		exploration->progress(exploration->listener, driver->round, done, count, offered);
	if (exploration->stop && exploration->stop(exploration->listener))
		atomic_store(&driver->stopped, true);
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
	tell(round->driver, ++round->done, round->count, round->offered);
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

static struct outcome make_again(const struct found *found, struct arena *arena)
{
	struct recipe_result made = recipe_plan(&found->recipe, arena);
	if (!made.plan)
		BUG("a plan cannot be made again: %s", made.why);
	return evaluate_cost(made.plan, arena);
}

static struct execution execute_again(const struct exploration *exploration,
	const struct found *found, const struct truth *truth, struct arena *arena)
{
	if (exploration->simulate == SIMULATE_ALL && !found->execution.finished)
		return found->execution;
	struct outcome outcome = make_again(found, arena);
	struct simulation how = {.mode = evaluate_mode(exploration->workload, exploration->arch,
					 &outcome.cost.score),
		.truth = truth,
		.steps_most = exploration->simulate_budget};
	evaluate_simulate(&outcome, &how, arena);
	return make_execution(&outcome);
}

static bool wants_truth(const struct driver *driver)
{
	const struct frontier *frontier = &driver->explored->frontier;
	for (size_t i = 0; i < frontier->count; i++)
		if (evaluate_mode(driver->exploration->workload, driver->exploration->arch,
			    &frontier->points[i].score) == SIM_DATA)
			return !atomic_load(&driver->stopped);
	return false;
}

static const char *explain_gap(struct driver *driver, const struct found *found)
{
	struct arena *scratch = driver->scratch[0];
	struct arena_mark mark = arena_mark(scratch);
	struct outcome outcome = make_again(found, scratch);
	const char *text = gap_explain(&outcome, scratch);
	text = text ? arena_text(driver->arena, text) : NULL;
	arena_release(scratch, mark);
	return text;
}

static int has_more_bytes(const void *a, const void *b)
{
	const struct point *x = *(struct point *const *)a, *y = *(struct point *const *)b;
	if (x->score.hbm_bytes != y->score.hbm_bytes)
		return x->score.hbm_bytes < y->score.hbm_bytes ? 1 : -1;
	return (x > y) - (x < y);
}

/* Those that take longest first, so that no thread is left with one at the end. */
static struct point **order_points(const struct frontier *frontier, struct arena *arena)
{
	struct point **order = arena_array(arena, struct point *, frontier->count);
	for (size_t i = 0; i < frontier->count; i++)
		order[i] = &frontier->points[i];
	qsort(order, frontier->count, sizeof *order, has_more_bytes);
	return order;
}

struct last_round {
	struct driver *driver;
	const struct truth *truth;
	struct point **order;
	size_t done;
};

static void last_run(void *context, size_t i, int thread)
{
	struct last_round *last = context;
	struct driver *driver = last->driver;
	if (atomic_load(&driver->stopped))
		return;
	struct found *found = last->order[i]->payload;
	struct arena *scratch = driver->scratch[thread];
	struct arena_mark mark = arena_mark(scratch);
	found->execution = execute_again(driver->exploration, found, last->truth, scratch);
	arena_release(scratch, mark);
}

static void last_done(void *context, size_t i)
{
	struct last_round *last = context;
	const struct explored *explored = last->driver->explored;
	if (!atomic_load(&last->driver->stopped))
		tell(last->driver, ++last->done, explored->frontier.count,
			explored->effort.offered);
}

static void judge_execution(struct driver *driver, const struct point *point)
{
	struct found *found = point->payload;
	const struct execution *execution = &found->execution;
	if (execution->finished &&
		gap_is_large(driver->exploration->arch, point->score.cycles, execution->cycles))
		found->execution.why_longer = explain_gap(driver, found);
	if (!execution->fault_count && (!execution->finished || execution->agrees))
		return;
	driver->explored->effort.disagreed++;
	if (!driver->explored->fault)
		driver->explored->fault = arena_format(driver->arena,
			"%s: a frontier point does not run as the model says", found->solver);
}

/* Frontier points run once more, with data or identities. */
static void execute_frontier(struct driver *driver)
{
	const struct exploration *exploration = driver->exploration;
	struct frontier *frontier = &driver->explored->frontier;
	driver->round++;
	struct truth truth = {0};
	if (wants_truth(driver))
		truth = evaluate_truth(
			exploration->workload, exploration->arch, exploration->seed, driver->arena);
	struct last_round last = {driver, &truth, order_points(frontier, driver->arena), 0};
	struct parallel work = {&last, last_run, last_done};
	parallel_each(&work, frontier->count, exploration->jobs);
	for (size_t i = 0; i < frontier->count; i++)
		judge_execution(driver, &frontier->points[i]);
}

static int more_frequent(const void *a, const void *b)
{
	const struct refusal *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->why, y->why);
}

static void list_refusals(struct driver *driver)
{
	struct refusals *refusals = &driver->refusals;
	struct explored *explored = driver->explored;
	if (refusals->count)
		qsort(refusals->at, refusals->count, sizeof *refusals->at, more_frequent);
	explored->refusals = arena_array(driver->arena, const char *, refusals->count);
	for (size_t i = 0; i < refusals->count; i++)
		explored->refusals[i] = arena_format(driver->arena, "%s (%llu candidates)",
			refusals->at[i].why, (unsigned long long)refusals->at[i].count);
	explored->refusal_count = refusals->count;
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
	tasks = tasks_staging(exploration, &explored.frontier, arena);
	if (tasks.count)
		run_round(&driver, &tasks);
	tasks = tasks_varying(exploration, &explored.frontier, arena);
	run_round(&driver, &tasks);
	if (exploration->simulate != SIMULATE_NONE)
		execute_frontier(&driver);
	for (int i = 0; i < exploration->jobs; i++)
		arena_close(driver.scratch[i]);
	list_refusals(&driver);
	explored.stopped = atomic_load(&driver.stopped);
	return explored;
}
