#include "search/explore_driver.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "search/gap.h"
#include "search/parallel.h"

#include <stdlib.h>

struct execution execution_of(const struct outcome *outcome)
{
	const struct sim_result *sim = &outcome->sim;
	struct execution execution = {
		.finished = outcome->simulated,
		.mode = outcome->mode,
		.agrees = outcome->agrees,
		.fault_count = sim->fault_count,
		.worst_ulps = outcome->worst_ulps,
		.worst_tensor = outcome->worst_tensor,
		.off_tensor = outcome->off_tensor,
		.off_ulps = outcome->off_ulps,
		.off_most = outcome->off_most,
	};
	if (!outcome->simulated)
		return execution;
	execution.cycles = sim->cycles;
	execution.energy_pj = sim->energy_pj;
	execution.hbm_bytes = counts_total(&sim->counts, TRAFFIC_HBM_READ) +
			      counts_total(&sim->counts, TRAFFIC_HBM_WRITE);
	return execution;
}

/* The plan and its price; no plan once the stopper has said so. */
static struct outcome make_again(
	const struct found *found, struct stopper stopper, struct arena *arena)
{
	struct recipe recipe = found->recipe;
	recipe.planning.stopper = stopper;
	struct recipe_result made = recipe_plan(&recipe, arena);
	if (made.stopped)
		return (struct outcome){.why = made.why};
	if (!made.plan)
		BUG("a plan cannot be made again: %s", made.why);
	return evaluate_cost(made.plan, arena);
}

static struct execution execute_again(struct driver *driver, const struct found *found,
	const struct truth *truth, struct arena *arena)
{
	const struct exploration *exploration = driver->exploration;
	struct stopper stopper = {driver, explore_stops};
	if (exploration->simulate == SIMULATE_ALL && !found->execution.finished)
		return found->execution;
	struct outcome outcome = make_again(found, stopper, arena);
	if (outcome.why)
		return found->execution;
	struct simulation how = {.mode = evaluate_mode(exploration->workload, exploration->arch,
					 &outcome.cost.score),
		.truth = truth,
		.steps_most = exploration->simulate_budget,
		.stopper = &stopper};
	evaluate_simulate(&outcome, &how, arena);
	return !outcome.simulated && explore_stops(driver) ? found->execution
							   : execution_of(&outcome);
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
	struct outcome outcome =
		make_again(found, (struct stopper){driver, explore_stops}, scratch);
	const char *text = outcome.why ? NULL : gap_explain(&outcome, scratch);
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
	found->execution = execute_again(driver, found, last->truth, scratch);
	arena_release(scratch, mark);
}

static void last_done(void *context, size_t i)
{
	struct last_round *last = context;
	const struct explored *explored = last->driver->explored;
	if (!atomic_load(&last->driver->stopped))
		explore_tell(last->driver, ++last->done, explored->frontier.count,
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
	if (driver->explored->fault)
		return;
	if (execution->off_tensor)
		driver->explored->fault = arena_format(driver->arena,
			"%s: '%s' is off by %.3g ulps, and at most %.3g are stated", found->solver,
			execution->off_tensor, execution->off_ulps, execution->off_most);
	else
		driver->explored->fault = arena_format(driver->arena,
			"%s: a frontier point does not run as the model says", found->solver);
}

void explore_again(struct driver *driver)
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
