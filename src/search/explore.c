#include "search/explore.h"

#include "base/arena.h"
#include "base/array.h"
#include "model/plan_file.h"
#include "search/recipe.h"
#include "search/solver.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const char *const simulate_names[] = {"all", "frontier", "none", NULL};

/* One candidate, or all divisions of one op. */
struct task {
	struct recipe recipe;
	const char *solver;
	int op;        /* round 2: the op that varies; -1: the recipe as it is */
	uint64_t most; /* candidates it may offer */
};

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
	struct tally tally;
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
struct tasks array(struct task);

size_t explore_cores(int most, int *out)
{
	size_t count = 0;
	for (int cores = 1; cores < most; cores *= 2)
		out[count++] = cores;
	out[count++] = most;
	return count;
}

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
	slot->tally.refused++;
	add_refusals(&slot->refusals, slot->arena, why, 1);
}

static struct outcome carried_out(const struct exploration *exploration, const struct plan *plan,
	struct slot *slot, struct arena *arena)
{
	struct outcome outcome = evaluate_cost(plan, arena);
	slot->tally.evaluated++;
	if (outcome.why || exploration->simulate != SIMULATE_ALL)
		return outcome;
	struct simulation how = {.mode = SIM_COUNT, .steps_most = exploration->simulate_budget};
	evaluate_simulate(&outcome, &how, arena);
	if (outcome.why)
		return outcome;
	slot->tally.events += outcome.sim.events;
	slot->tally.simulated += outcome.simulated;
	slot->tally.unsimulated += !outcome.simulated && !outcome.sim.fault_count;
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
static void offer(struct driver *driver, const struct recipe *recipe, const char *solver,
	struct slot *slot, struct frontier *local, struct arena *scratch)
{
	const struct exploration *exploration = driver->exploration;
	slot->tally.offered++;
	struct recipe_result made = recipe_plan(recipe, scratch);
	slot->tally.evaluated += made.ticks;
	slot->joint_cut |= made.cut;
	if (!made.plan) {
		refuse(slot, made.why);
		return;
	}
	struct outcome outcome = carried_out(exploration, made.plan, slot, scratch);
	if (outcome.why) {
		refuse(slot, outcome.why);
		return;
	}
	if (outcome.sim.fault_count || (outcome.simulated && !outcome.agrees)) {
		slot->tally.disagreed++;
		if (!slot->fault)
			slot->fault = disagreement(&outcome, solver, slot->arena);
	}
	if (frontier_beats(&driver->explored->frontier, &outcome.cost.score, NULL) ||
		frontier_beats(local, &outcome.cost.score, "")) {
		slot->tally.pruned++;
		return;
	}

	/* It stays: make it again where it can stay. */
	struct found *found = arena_new(slot->arena, struct found);
	struct recipe_result kept = recipe_plan(recipe, slot->arena);
	struct slot again = {.arena = slot->arena};
	found->outcome = carried_out(exploration, kept.plan, &again, slot->arena);
	found->mappings = arena_copy(slot->arena, kept.mappings,
		exploration->workload->op_count * sizeof *kept.mappings);
	found->planning = recipe->planning;
	found->place = recipe->place;
	found->solver = solver;
	struct point point = {
		.score = found->outcome.cost.score,
		.key = plan_text(kept.plan, slot->arena),
		.payload = found,
	};
	frontier_add(local, slot->arena, point);
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
	slot->tally.evaluated += answer.ticks;
	struct mapping *mappings =
		arena_copy(scratch, task->recipe.mappings, workload->op_count * sizeof *mappings);
	struct recipe recipe = task->recipe;
	recipe.mappings = mappings;
	for (size_t i = 0; i < answer.candidate_count && slot->tally.offered < task->most; i++) {
		if (atomic_load(&driver->stopped))
			return;
		mappings[task->op] = answer.candidates[i].mappings[0];
		struct arena_mark mark = arena_mark(scratch);
		offer(driver, &recipe, task->solver, slot, local, scratch);
		arena_release(scratch, mark);
	}
}

static void run_task(
	struct driver *driver, const struct task *task, struct slot *slot, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	slot->arena = arena_open();
	struct frontier local = frontier_open(driver->exploration->objectives);
	if (task->op >= 0)
		vary(driver, task, slot, &local, scratch);
	else
		offer(driver, &task->recipe, task->solver, slot, &local, scratch);
	for (size_t i = 0; i < local.count; i++)
		*array_add(slot->arena, &slot->points) = local.points[i];
	arena_release(scratch, mark);
}

static void add(struct tally *sum, const struct tally *tally)
{
	sum->evaluated += tally->evaluated;
	sum->offered += tally->offered;
	sum->refused += tally->refused;
	sum->simulated += tally->simulated;
	sum->unsimulated += tally->unsimulated;
	sum->events += tally->events;
	sum->disagreed += tally->disagreed;
	sum->pruned += tally->pruned;
}

/* In slot order, so that the result does not depend on who finished first. */
static void merge(struct driver *driver, struct slot *slots, size_t count)
{
	struct explored *explored = driver->explored;
	for (size_t i = 0; i < count; i++) {
		struct slot *slot = &slots[i];
		if (!slot->arena)
			continue;
		add(&explored->tally, &slot->tally);
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

static void run_round(struct driver *driver, const struct task *tasks, size_t count)
{
	struct slot *slots = arena_array(driver->arena, struct slot, count);
	size_t done = 0;
	uint64_t offered = driver->explored->tally.offered;
	driver->round++;
#pragma omp parallel for schedule(dynamic) num_threads(driver->exploration->jobs)
	for (size_t i = 0; i < count; i++) {
		if (atomic_load(&driver->stopped))
			continue;
		run_task(driver, &tasks[i], &slots[i], driver->scratch[omp_get_thread_num()]);
#pragma omp critical
		{
			done++;
			offered += slots[i].tally.offered;
			tell(driver, done, count, offered);
		}
	}
	merge(driver, slots, count);
}

static struct recipe recipe_make(
	const struct exploration *exploration, int cores, const char *place)
{
	struct recipe recipe = {
		.arch = exploration->arch,
		.workload = exploration->workload,
		.planning = exploration->planning,
		.place = place,
		.joint_ticks = exploration->joint_ticks,
		.seed = exploration->seed,
	};
	recipe.planning.cores = cores;
	return recipe;
}

static void add_task(struct driver *driver, struct tasks *tasks, struct recipe recipe,
	const char *stages, int op)
{
	*array_add(driver->arena, tasks) = (struct task){
		.recipe = recipe,
		.solver = arena_format(driver->arena, "%s place/%s", stages, recipe.place),
		.op = op,
		.most = op < 0 ? 1 : UINT64_MAX,
	};
}

static struct tasks first_tasks(struct driver *driver)
{
	const struct exploration *exploration = driver->exploration;
	const bool k_fast_given[] = {exploration->planning.k_fast}, k_fast_both[] = {true, false};
	const enum clone_split clones_given[] = {exploration->planning.clones};
	const enum clone_split clones_both[] = {CLONE_OFF, CLONE_READERS};
	const bool *k_fast = exploration->vary_k_fast ? k_fast_both : k_fast_given;
	const enum clone_split *clones = exploration->vary_clones ? clones_both : clones_given;
	struct tasks tasks = {0};
	for (size_t c = 0; c < exploration->core_count; c++)
		for (size_t p = 0; p < exploration->place_count; p++)
			for (int k = 0; k <= exploration->vary_k_fast; k++)
				for (int n = 0; n <= exploration->vary_clones; n++) {
					struct recipe recipe = recipe_make(exploration,
						exploration->cores[c], exploration->place[p]);
					recipe.planning.k_fast = k_fast[k];
					recipe.planning.clones = clones[n];
					if (exploration->spyre)
						add_task(
							driver, &tasks, recipe, "divide/spyre", -1);
				}
	for (size_t c = 0; exploration->dimflip && c < exploration->core_count; c++)
		for (int n = 0; n <= exploration->vary_clones; n++) {
			struct recipe recipe = recipe_make(
				exploration, exploration->cores[c], exploration->place[0]);
			recipe.planning.clones = clones[n];
			recipe.division = DIVISION_DIMFLIP;
			add_task(driver, &tasks, recipe, "joint/dimflip", -1);
		}
	return tasks;
}

static struct tasks varying_tasks(struct driver *driver)
{
	const struct exploration *exploration = driver->exploration;
	const struct frontier *frontier = &driver->explored->frontier;
	struct tasks tasks = {0};
	for (size_t i = 0; exploration->exhaustive && i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		struct recipe recipe =
			recipe_make(exploration, found->planning.cores, found->place);
		recipe.planning = found->planning;
		recipe.division = DIVISION_GIVEN;
		recipe.mappings = found->mappings;
		for (size_t op = 0; op < exploration->workload->op_count; op++)
			if (exploration->workload->ops[op].kind != OP_OPAQUE)
				add_task(driver, &tasks, recipe, "divide/exhaustive", (int)op);
	}
	return tasks;
}

static uint64_t divisions(const struct task *task, struct arena *arena)
{
	struct problem problem = {
		.stage = STAGE_DIVIDE,
		.arch = task->recipe.arch,
		.workload = task->recipe.workload,
		.planning = &task->recipe.planning,
		.op = task->op,
	};
	struct arena_mark mark = arena_mark(arena);
	uint64_t count = solve(
		solver_find(STAGE_DIVIDE, "exhaustive"), &problem, 0, task->recipe.seed, arena)
				 .candidate_count;
	arena_release(arena, mark);
	return count;
}

/* Shares what is left of the budget among the tasks, in their order. */
static size_t limit(struct driver *driver, struct tasks *tasks)
{
	uint64_t budget = driver->exploration->budget;
	if (!budget)
		return tasks->count;
	uint64_t spent = driver->explored->tally.offered;
	for (size_t i = 0; i < tasks->count; i++) {
		struct task *task = &tasks->at[i];
		uint64_t wants = task->op < 0 ? 1 : divisions(task, driver->arena);
		uint64_t left = budget - spent;
		if (wants > left) {
			driver->explored->cut = true;
			task->most = left;
			return left ? i + 1 : i;
		}
		spent += wants;
	}
	return tasks->count;
}

static struct execution executed(const struct exploration *exploration, const struct found *found,
	const struct truth *truth, struct arena *arena)
{
	struct execution execution = {.worst_ulps = -1};
	if (exploration->simulate == SIMULATE_ALL && !found->outcome.simulated)
		return execution;
	struct outcome outcome = found->outcome;
	struct simulation how = {.mode = evaluate_mode(&outcome),
		.truth = truth,
		.steps_most = exploration->simulate_budget};
	evaluate_simulate(&outcome, &how, arena);
	execution.mode = outcome.mode;
	execution.finished = outcome.simulated;
	execution.agrees = outcome.agrees;
	execution.fault_count = outcome.sim.fault_count;
	if (!outcome.simulated)
		return execution;
	execution.cycles = outcome.sim.cycles;
	execution.energy_pj = outcome.sim.energy_pj;
	execution.hbm_bytes = counts_total(&outcome.sim.counts, TRAFFIC_HBM_READ) +
			      counts_total(&outcome.sim.counts, TRAFFIC_HBM_WRITE);
	execution.worst_ulps = outcome.worst_ulps;
	execution.worst_tensor = outcome.worst_tensor;
	return execution;
}

static bool wants_truth(const struct driver *driver)
{
	const struct frontier *frontier = &driver->explored->frontier;
	for (size_t i = 0; i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		if (evaluate_mode(&found->outcome) == SIM_DATA)
			return !atomic_load(&driver->stopped);
	}
	return false;
}

/* Frontier points run once more, with data or identities. */
static void execute_frontier(struct driver *driver)
{
	const struct exploration *exploration = driver->exploration;
	struct frontier *frontier = &driver->explored->frontier;
	size_t done = 0;
	driver->round++;
	struct truth truth = {0};
	if (wants_truth(driver))
		truth = evaluate_truth(exploration->workload, exploration->seed, driver->arena);
#pragma omp parallel for schedule(dynamic) num_threads(exploration->jobs)
	for (size_t i = 0; i < frontier->count; i++) {
		if (atomic_load(&driver->stopped))
			continue;
		struct found *found = frontier->points[i].payload;
		struct arena *scratch = driver->scratch[omp_get_thread_num()];
		struct arena_mark mark = arena_mark(scratch);
		found->execution = executed(exploration, found, &truth, scratch);
		arena_release(scratch, mark);
#pragma omp critical
		tell(driver, ++done, frontier->count, driver->explored->tally.offered);
	}
	for (size_t i = 0; i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		if (found->execution.fault_count ||
			(found->execution.finished && !found->execution.agrees)) {
			driver->explored->tally.disagreed++;
			if (!driver->explored->fault)
				driver->explored->fault = arena_format(driver->arena,
					"%s: a frontier point does not run as the model says",
					found->solver);
		}
	}
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
	struct tasks tasks = first_tasks(&driver);
	run_round(&driver, tasks.at, limit(&driver, &tasks));
	tasks = varying_tasks(&driver);
	run_round(&driver, tasks.at, limit(&driver, &tasks));
	if (exploration->simulate != SIMULATE_NONE)
		execute_frontier(&driver);
	for (int i = 0; i < exploration->jobs; i++)
		arena_close(driver.scratch[i]);
	list_refusals(&driver);
	explored.stopped = atomic_load(&driver.stopped);
	return explored;
}
