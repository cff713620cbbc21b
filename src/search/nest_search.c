#include "search/nest_search.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "model/nest_mapping.h"
#include "search/cells.h"
#include "search/parallel.h"
#include "search/solver.h"

#include <stdatomic.h>
#include <string.h>

/* Mappings that one task evaluates, about; tasks of draws, about, at most; mappings of a chain, at
 * least; chains, at most. */
enum {
	TASK_MAPPINGS = 8192,
	DRAWS_MOST = NEST_SEQUENCES_MOST,
	CHAIN_MAPPINGS = 2500,
	CHAINS_MOST = 256
};

struct nest_task {
	uint64_t first, end;
	uint64_t ticks; /* mappings that it may evaluate; 0: all */
};

/* What a task leaves behind. */
struct nest_slot {
	struct arena *arena;
	struct frontier local;
	struct nest_explored sum; /* the counters only */
	struct array(struct cell) cells;
	bool complete;
	double bound; /* no mapping of the share is below; 0: none known */
	double within;
};

struct nest_driver {
	const struct nest_search *search;
	const struct solver *solver;
	const char *solver_name;
	struct array(struct nest_task) tasks;
	struct array(struct cell) cells;
	struct nest_slot *slots;
	struct arena *arena;
	struct arena **scratch;
	struct nest_explored *explored;
	size_t done;
	uint64_t evaluated;
	int round;
	atomic_bool stopped;
};

/* Words read, filled and updated at a level; INT64_MAX: that many or more. */
static int64_t accesses_at(
	const struct nest_search *search, const struct nest_counts *counts, int level)
{
	int64_t words = 0;
	for (int t = 0; t < search->shape->space_count; t++) {
		const struct nest_count *count = &counts->at[level][t];
		if (!number_add(words, count->reads, &words) ||
			!number_add(words, count->fills, &words) ||
			!number_add(words, count->updates, &words))
			return INT64_MAX;
	}
	return words;
}

static int64_t outer_bytes(const struct nest_search *search, const struct nest_counts *counts)
{
	int outermost = search->hierarchy->level_count - 1;
	while (outermost > 0 && !search->hierarchy->levels[outermost].storage)
		outermost--;
	int64_t words = accesses_at(search, counts, outermost), bits;
	if (!number_mul(words, search->hierarchy->levels[outermost].word_bits, &bits))
		return INT64_MAX;
	return number_ceil_div(bits, 8);
}

struct score nest_summary(const struct nest_search *search, const struct nest_counts *counts,
	const struct nest_score *score)
{
	const struct objectives *objectives = &search->objectives;
	struct score summary = {
		.feasible = score->verdict == NEST_FITS,
		.cycles = score->cycles,
		.energy_pj = score->energy_pj,
		.hbm_bytes = outer_bytes(search, counts),
		.computes = counts->computes,
		.utilization = score->utilization,
	};
	for (size_t i = 0; i < objectives->count; i++) {
		int level = (int)objectives->at[i] - OBJECTIVE_ACCESSES;
		if (level >= 0)
			summary.accesses[level] = accesses_at(search, counts, level);
	}
	return summary;
}

/* From any thread. */
static bool stop_wanted(void *context)
{
	struct nest_driver *driver = context;
	const struct nest_search *search = driver->search;
	if (!atomic_load(&driver->stopped) && search->stop && search->stop(search->listener))
		atomic_store(&driver->stopped, true);
	return atomic_load(&driver->stopped);
}

/* Executes a mapping and compares with the exact model. */
static struct nest_sim execute(struct nest_driver *driver, const struct mapping *mapping, bool data,
	struct nest_execution *execution, struct arena *arena)
{
	const struct nest_search *search = driver->search;
	struct nest_counts counts;
	struct nest_score score;
	struct nest_sim_options options = {.data = data,
		.timing = data,
		.seed = search->seed,
		.steps_most = search->simulate_budget,
		.stop = stop_wanted,
		.listener = driver};
	bool counted = nest_evaluate(search->exact, mapping, &counts, &score) == NEST_FITS;
	struct nest_sim sim =
		nest_simulate(search->hierarchy, search->shape, mapping, &options, arena);
	bool comparable = counted && sim.finished && sim.verdict == NEST_FITS;
	*execution = (struct nest_execution){.finished = comparable};
	if (!comparable)
		return sim;
	execution->agrees =
		nest_counts_equal(search->hierarchy, search->shape, &counts, &sim.counts) &&
		(!data || sim.right);
	execution->data = data;
	execution->cycles = sim.cycles;
	nest_derive(search->exact, &sim.counts, &score);
	execution->energy_pj = score.energy_pj;
	execution->outer_bytes = outer_bytes(search, &sim.counts);
	return sim;
}

static const char *disagreement(const struct nest_search *search, const struct mapping *mapping,
	const struct nest_sim *sim, struct arena *arena)
{
	return arena_format(arena, "%s: %s",
		nest_mapping_print(arena, search->arch, search->shape, mapping),
		sim->wrong ? sim->wrong : "the counts of model and simulator differ");
}

static void refuse(struct nest_slot *slot, const char *why)
{
	slot->sum.refused++;
	if (!slot->sum.refusal)
		slot->sum.refusal = arena_text(slot->arena, why);
}

/* An offer: trusted in nothing. */
static void take(struct nest_driver *driver, struct nest_slot *slot, const struct mapping *mapping,
	const char *solver, struct arena *scratch)
{
	const struct nest_search *search = driver->search;
	struct nest_found found = {.mapping = *mapping, .solver = solver};
	slot->sum.offered++;
	const char *why = constraints_check(search->constraints, search->domain, mapping, scratch);
	if (!why && nest_evaluate(search->model, mapping, &found.counts, &found.score) != NEST_FITS)
		why = nest_verdict_text(scratch, search->hierarchy, search->shape, &found.score);
	if (why) {
		refuse(slot, why);
		return;
	}
	if (search->simulate == SIMULATE_ALL) {
		struct nest_sim sim = execute(driver, mapping, false, &found.execution, scratch);
		bool finished = found.execution.finished;
		slot->sum.simulated += finished;
		slot->sum.unsimulated += !finished;
		slot->sum.events += sim.events;
		if (finished && !found.execution.agrees && !slot->sum.disagreed++)
			slot->sum.fault = disagreement(search, mapping, &sim, slot->arena);
	}
	struct point point = {
		.score = nest_summary(search, &found.counts, &found.score),
		.key = nest_mapping_print(slot->arena, search->arch, search->shape, mapping),
	};
	if (frontier_beats(&slot->local, &point.score, point.key))
		return;
	point.payload = arena_copy(slot->arena, &found, sizeof found);
	frontier_add(&slot->local, slot->arena, point);
}

static void take_cells(
	struct nest_driver *driver, struct nest_slot *slot, const struct answer *answer)
{
	int count = cell_bounds_count(driver->search->space);
	for (size_t k = 0; k < answer->cell_count; k++) {
		struct cell *cell = array_add(slot->arena, &slot->cells);
		*cell = answer->cells[k];
		cell->spatial = arena_copy(
			slot->arena, cell->spatial, (size_t)count * sizeof *cell->spatial);
	}
}

static void report(void *context, double value, double bound, uint64_t evaluated)
{
	struct nest_driver *driver = context;
	const struct nest_search *search = driver->search;
	if (search->report)
		search->report(search->listener, value, bound, evaluated);
}

static void run_task(void *context, size_t i, int thread)
{
	struct nest_driver *driver = context;
	struct nest_slot *slot = &driver->slots[i];
	struct arena *scratch = driver->scratch[thread];
	if (atomic_load(&driver->stopped))
		return;
	struct arena_mark mark = arena_mark(scratch);
	slot->arena = arena_open();
	slot->local = nest_frontier(driver->search);
	struct problem problem = {
		.stage = STAGE_MAP,
		.nest = driver->search,
		.first = driver->tasks.at[i].first,
		.end = driver->tasks.at[i].end,
	};
	struct asker asker = {driver->search->jobs, driver, stop_wanted, report};
	struct answer answer = solve_for(&asker, driver->solver, &problem,
		driver->tasks.at[i].ticks, driver->search->seed, scratch);
	slot->sum.evaluated = answer.evaluated;
	slot->sum.ticks = answer.ticks;
	slot->sum.states = answer.effort.states;
	slot->sum.edges = answer.effort.edges;
	slot->sum.labels = answer.effort.labels;
	slot->complete = answer.status == PROOF_OPTIMAL;
	slot->bound = answer.status == PROOF_BOUND ? answer.bound : 0;
	slot->within = answer.status == PROOF_NONE ? answer.within : 0;
	for (size_t k = 0; k < driver->search->objectives.count && answer.bounds; k++)
		slot->sum.bounds[k] = answer.bounds[k];
	if (answer.complaint_count)
		slot->sum.complaint = arena_text(slot->arena, answer.complaints[0].text);
	take_cells(driver, slot, &answer);
	for (size_t k = 0; k < answer.candidate_count; k++)
		take(driver, slot, answer.candidates[k].mappings, driver->solver_name, scratch);
	arena_release(scratch, mark);
}

static void tell(struct nest_driver *driver, size_t tasks)
{
	const struct nest_search *search = driver->search;
	if (search->progress)
		search->progress(
			search->listener, driver->round, ++driver->done, tasks, driver->evaluated);
	if (search->stop && search->stop(search->listener))
		atomic_store(&driver->stopped, true);
}

static void task_done(void *context, size_t i)
{
	struct nest_driver *driver = context;
	if (!driver->slots[i].arena)
		return;
	driver->evaluated += driver->slots[i].sum.evaluated;
	tell(driver, driver->tasks.count);
}

static void merge_slot(struct nest_driver *driver, struct nest_slot *slot)
{
	struct nest_explored *explored = driver->explored;
	explored->complete &= slot->arena && slot->complete;
	if (!slot->arena)
		return;
	explored->bound = slot->bound;
	explored->within = slot->within;
	memcpy(explored->bounds, slot->sum.bounds, sizeof explored->bounds);
	explored->evaluated += slot->sum.evaluated;
	explored->ticks += slot->sum.ticks;
	explored->states += slot->sum.states;
	explored->edges += slot->sum.edges;
	explored->labels += slot->sum.labels;
	explored->offered += slot->sum.offered;
	explored->refused += slot->sum.refused;
	explored->simulated += slot->sum.simulated;
	explored->unsimulated += slot->sum.unsimulated;
	explored->events += slot->sum.events;
	explored->disagreed += slot->sum.disagreed;
	if (!explored->fault)
		explored->fault = slot->sum.fault;
	if (!explored->refusal)
		explored->refusal = slot->sum.refusal;
	if (!explored->complaint)
		explored->complaint = slot->sum.complaint;
	for (size_t p = 0; p < slot->local.count; p++)
		frontier_add(&explored->frontier, driver->arena, slot->local.points[p]);
	for (size_t k = 0; k < slot->cells.count; k++)
		*array_add(driver->arena, &driver->cells) = slot->cells.at[k];
	arena_adopt(driver->arena, slot->arena);
}

/* In the order of tasks, so that the result does not depend on who finished first. */
static void merge(struct nest_driver *driver)
{
	for (size_t i = 0; i < driver->tasks.count; i++)
		merge_slot(driver, &driver->slots[i]);
}

/* Before all work: whatever ends the search, its result is no worse. */
static void take_start(struct nest_driver *driver)
{
	struct nest_slot slot = {
		.arena = arena_open(), .local = nest_frontier(driver->search), .complete = true};
	take(driver, &slot, driver->search->start, "start", driver->scratch[0]);
	merge_slot(driver, &slot);
}

static void add_task(struct nest_driver *driver, uint64_t first, uint64_t end, uint64_t ticks)
{
	if (first < end)
		*array_add(driver->arena, &driver->tasks) = (struct nest_task){first, end, ticks};
}

/*
 * Shares of the enumeration, by choices of factors, with about as many mappings
 * each.  When there are more than `most`, either no task (`whole`) or as far as they go.
 */
static bool share_space(struct nest_driver *driver, uint64_t most, bool whole)
{
	const struct space *space = driver->search->space;
	uint64_t count = space_factors_count(space), left = most, first = 0, share = 0;
	for (uint64_t f = 0; f < count; f++) {
		struct mapping mapping = space->blank;
		space_factors(space, f, &mapping);
		uint64_t rests = space_rest_count(space, &mapping);
		if (rests > left) {
			if (whole)
				driver->tasks.count = 0;
			else
				add_task(driver, first, f + 1, share + left);
			return !whole;
		}
		left -= rests;
		share += rests;
		if (share >= TASK_MAPPINGS) {
			add_task(driver, first, f + 1, 0);
			first = f + 1;
			share = 0;
		}
		if (f % TASK_MAPPINGS == 0 && stop_wanted(driver))
			break; /* the one task of the rest stays undone */
	}
	add_task(driver, first, count, 0);
	return true;
}

static void share_draws(struct nest_driver *driver, uint64_t draws)
{
	const struct patience *patience = &driver->search->patience;
	uint64_t sequences = patience->sequences ? patience->sequences : 1;
	uint64_t part = draws / DRAWS_MOST > TASK_MAPPINGS ? draws / DRAWS_MOST : TASK_MAPPINGS;
	if (patience->victory || patience->timeout)
		part = draws / sequences + (draws % sequences != 0);
	for (uint64_t n = 0; n < draws; n += part)
		add_task(driver, n, part < draws - n ? n + part : draws, 0);
}

/* With more budget there are more chains, and longer ones. */
static void share_chains(struct nest_driver *driver, uint64_t budget)
{
	uint64_t chains = 1;
	while (chains < CHAINS_MOST && (chains + 1) * (chains + 1) * CHAIN_MAPPINGS <= budget)
		chains++;
	for (uint64_t n = 0; n < chains; n++) /* the first ones have what does not divide */
		*array_add(driver->arena, &driver->tasks) =
			(struct nest_task){n, chains, budget / chains + (n < budget % chains)};
}

/* `linear`, its work shared out, if the budget is enough for the whole space. */
static const char *choose_solver(struct nest_driver *driver)
{
	return share_space(driver, driver->search->budget, true) ? "linear" : "exact";
}

static void share_work(struct nest_driver *driver)
{
	const struct nest_search *search = driver->search;
	const char *name = search->solver ? search->solver : choose_solver(driver);
	bool any = space_factors_count(search->space) > 0;
	driver->solver = solver_find(STAGE_MAP, name);
	driver->solver_name = arena_format(driver->arena, "map/%s", name);
	switch (driver->solver->sharing) {
	case SHARING_NONE:
		add_task(driver, 0, 1, search->budget);
		break;
	case SHARING_ENUMERATION:
		if (!driver->tasks.count)
			share_space(driver, search->budget, false);
		break;
	case SHARING_DRAWS:
		share_draws(driver, any ? search->budget : 0);
		break;
	case SHARING_CHAINS:
		if (any)
			share_chains(driver, search->budget);
		break;
	}
}

static void last_run(void *context, size_t i, int thread)
{
	struct nest_driver *driver = context;
	const struct nest_search *search = driver->search;
	struct nest_found *found = driver->explored->frontier.points[i].payload;
	struct arena *scratch = driver->scratch[thread];
	if (atomic_load(&driver->stopped) ||
		(search->simulate == SIMULATE_ALL && !found->execution.finished))
		return;
	struct arena_mark mark = arena_mark(scratch);
	execute(driver, &found->mapping, true, &found->execution, scratch);
	arena_release(scratch, mark);
}

static void last_done(void *context, size_t i)
{
	struct nest_driver *driver = context;
	if (!atomic_load(&driver->stopped))
		tell(driver, driver->explored->frontier.count);
}

/* Frontier points run once more, with numbers and timing. */
static void execute_frontier(struct nest_driver *driver)
{
	const struct nest_explored *explored = driver->explored;
	struct parallel work = {driver, last_run, last_done};
	driver->round++;
	driver->done = 0;
	parallel_each(&work, explored->frontier.count, driver->search->jobs);
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct nest_found *found = explored->frontier.points[i].payload;
		if (!found->execution.finished || found->execution.agrees)
			continue;
		driver->explored->disagreed++;
		if (!driver->explored->fault)
			driver->explored->fault =
				arena_format(driver->arena, "%s does not run as the model says",
					explored->frontier.points[i].key);
	}
}

static void note_proof(const struct nest_search *search, struct nest_explored *explored)
{
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct point *point = &explored->frontier.points[i];
		struct nest_found *found = point->payload;
		double value = objective_value(search->objectives.at[0], &point->score);
		double bound = explored->within > 0 ? value / explored->within : explored->bound;
		found->proof = explored->complete ? PROOF_OPTIMAL
			       : bound > 0        ? PROOF_BOUND
						  : PROOF_NONE;
		if (found->proof == PROOF_BOUND)
			found->gap = value - bound;
	}
}

struct nest_explored nest_explore(const struct nest_search *search, struct arena *arena)
{
	struct nest_explored explored = {.frontier = nest_frontier(search), .complete = true};
	struct nest_driver driver = {.search = search,
		.arena = arena,
		.explored = &explored,
		.scratch = arena_array(arena, struct arena *, search->jobs),
		.round = 1};
	for (int i = 0; i < search->jobs; i++)
		driver.scratch[i] = arena_open();
	if (search->start)
		take_start(&driver);
	share_work(&driver);
	driver.slots = arena_array(arena, struct nest_slot, driver.tasks.count);
	struct parallel work = {&driver, run_task, task_done};
	parallel_each(&work, driver.tasks.count, search->jobs);
	merge(&driver);
	explored.cell_count = driver.cells.count;
	explored.cells = driver.cells.at;
	note_proof(search, &explored);
	if (search->simulate != SIMULATE_NONE)
		execute_frontier(&driver);
	for (int i = 0; i < search->jobs; i++)
		arena_close(driver.scratch[i]);
	explored.stopped = atomic_load(&driver.stopped);
	return explored;
}
