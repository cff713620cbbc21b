#include "search/nest/nest_search.h"

#include "base/arena.h"
#include "base/number.h"
#include "constraints/constraints.h"
#include "model/nest/nest_mapping.h"
#include "search/drive/solver.h"

#include <inttypes.h>
#include <math.h>

bool nest_objective(enum objective objective)
{
	return objective == OBJECTIVE_LATENCY || objective == OBJECTIVE_ENERGY ||
	       objective == OBJECTIVE_EDP || objective == OBJECTIVE_HBM_BYTES ||
	       objective >= OBJECTIVE_ACCESSES;
}

const char *nest_objective_text(
	struct arena *arena, enum objective objective, const struct hierarchy *hierarchy)
{
	if (objective < OBJECTIVE_ACCESSES)
		return objective_names[objective];
	return arena_format(
		arena, "accesses:%s", hierarchy->levels[objective - OBJECTIVE_ACCESSES].name);
}

const char *const *nest_objectives_texts(struct arena *arena, const struct nest_search *search)
{
	const struct objectives *objectives = &search->wishes.objectives;
	const char **texts = arena_array(arena, const char *, objectives->count + 1);
	for (size_t i = 0; i < objectives->count; i++)
		texts[i] = nest_objective_text(arena, objectives->at[i], search->hierarchy);
	return texts;
}

struct frontier nest_frontier(const struct nest_search *search)
{
	struct frontier frontier = frontier_open(search->wishes.objectives);
	frontier.thrifty = true;
	return frontier;
}

double nest_floor(const struct nest_search *search, enum objective objective)
{
	const struct hierarchy *hierarchy = search->hierarchy;
	struct score score = {0};
	double macs = shape_work(search->shape);
	double all = (double)hierarchy->compute_mesh_x * (double)hierarchy->compute_mesh_y;
	score.cycles = (int64_t)fmin(hierarchy_cycles_least(hierarchy, macs / all), 0x1p62);
	score.energy_pj = macs * hierarchy->compute_pj * (1 - 1e-12);
	return objective_value(objective, &score);
}

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

struct nest_driver {
	const struct nest_search *search;
	const struct solver *solver;
	const char *solver_name;
	struct array(struct nest_task) tasks;
	bool partial; /* they leave out a part of the space: together they prove nothing */
	struct drive *drive;
	struct arena *arena;
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
	if (!number_mul(words, search->hierarchy->levels[outermost].store.word_bits, &bits))
		return INT64_MAX;
	return number_ceil_div(bits, 8);
}

struct score nest_summary(const struct nest_search *search, const struct nest_counts *counts,
	const struct nest_score *score)
{
	const struct objectives *objectives = &search->wishes.objectives;
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

/* Executes a mapping and compares with the exact model. */
static const char *execute(void *self, struct found *found, struct slot *slot, bool last)
{
	const struct nest_search *search = ((struct nest_driver *)self)->search;
	const struct mapping *mapping = &((struct nest_found *)found)->mapping;
	struct execution *out = &found->execution;
	struct nest_counts counts;
	struct nest_score score;
	bool thorough = last && !slot->drive->hurried;
	struct nest_sim_options options = {.data = thorough,
		.timing = thorough,
		.seed = search->wishes.seed,
		.steps_most = search->wishes.simulate_budget,
		.stopper = {slot->drive, drive_stops}};
	bool counted = nest_evaluate(search->exact, mapping, &counts, &score) == NEST_FITS;
	struct nest_sim sim =
		nest_simulate(search->hierarchy, search->shape, mapping, &options, slot->scratch);
	if (options.data && !sim.finished) {
		options.data = false; /* which executes equal periods once */
		sim = nest_simulate(
			search->hierarchy, search->shape, mapping, &options, slot->scratch);
	}
	bool comparable = counted && sim.finished && sim.verdict == NEST_FITS;
	*out = (struct execution){.finished = comparable, .events = sim.events};
	if (!comparable)
		return NULL;
	out->agrees = nest_counts_equal(search->hierarchy, search->shape, &counts, &sim.counts) &&
		      (!thorough || sim.right);
	out->fault = out->agrees ? NULL : sim.wrong;
	out->mode = options.data ? SIM_DATA : SIM_COUNT;
	out->cycles = sim.cycles;
	nest_derive(search->exact, &sim.counts, &score);
	out->energy_pj = score.energy_pj;
	out->hbm_bytes = outer_bytes(search, &sim.counts);
	return NULL;
}

/* An offer is trusted in nothing. */
static const char *price(void *self, struct found *at, struct slot *slot, struct score *score)
{
	const struct nest_search *search = ((struct nest_driver *)self)->search;
	struct nest_found *found = (struct nest_found *)at;
	const char *why = constraints_check(
		search->constraints, search->domain, &found->mapping, slot->scratch);
	if (why)
		return why;
	if (nest_evaluate(search->model, &found->mapping, &found->counts, &found->score) !=
		NEST_FITS)
		return nest_verdict_text(
			slot->scratch, search->hierarchy, search->shape, &found->score);
	*score = nest_summary(search, &found->counts, &found->score);
	return NULL;
}

static const char *key(void *self, const struct found *found, struct arena *arena)
{
	const struct nest_search *search = ((struct nest_driver *)self)->search;
	return nest_mapping_print(
		arena, search->arch, search->shape, &((const struct nest_found *)found)->mapping);
}

static void mapping_offer(struct slot *slot, const struct mapping *mapping, const char *solver)
{
	struct nest_found found = {.mapping = *mapping, .common.solver = solver};
	drive_offer(slot, &found.common);
}

/* Offered before all work, so that the search ends with nothing worse. */
static void take_start(void *self, struct slot *slot)
{
	const struct nest_search *search = ((struct nest_driver *)self)->search;
	if (search->start)
		mapping_offer(slot, search->start, "start");
}

static void run_task(void *self, size_t i, struct slot *slot)
{
	const struct nest_driver *driver = self;
	struct problem problem = {
		.stage = STAGE_MAP,
		.nest = driver->search,
		.first = driver->tasks.at[i].first,
		.end = driver->tasks.at[i].end,
	};
	struct answer answer = drive_ask(slot, driver->solver, &problem, driver->tasks.at[i].ticks,
		driver->search->wishes.seed, slot->scratch);
	slot->complete &= !driver->partial;
	if (driver->solver->proves && answer.cut && !answer.stopped && !slot->complete &&
		!answer.complaint_count)
		slot->limit = arena_format(slot->arena, "budget of %" PRIu64 " (--budget)",
			driver->search->wishes.budget);
	uint64_t refused = slot->effort.refused;
	for (size_t k = 0; k < answer.candidate_count; k++)
		mapping_offer(slot, answer.candidates[k].mappings, driver->solver_name);
	/* A refused offer breaks a rule that the solver does not know, so its proof is about another space. */
	slot->complete &= slot->effort.refused == refused;
}

static void nest_driver_add_task(
	struct nest_driver *driver, uint64_t first, uint64_t end, uint64_t ticks)
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
				nest_driver_add_task(driver, first, f + 1, share + left);
			driver->partial = !whole && f + 1 < count;
			return !whole;
		}
		left -= rests;
		share += rests;
		if (share >= TASK_MAPPINGS) {
			nest_driver_add_task(driver, first, f + 1, 0);
			first = f + 1;
			share = 0;
		}
		if (f % TASK_MAPPINGS == 0 && drive_stops(driver->drive))
			break; /* the one task of the rest stays undone */
	}
	nest_driver_add_task(driver, first, count, 0);
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
		nest_driver_add_task(driver, n, part < draws - n ? n + part : draws, 0);
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

/* Chooses the enumeration, divided between tasks, if the budget is enough for the whole space. */
static const struct solver *choose_solver(struct nest_driver *driver)
{
	return share_space(driver, driver->search->wishes.budget, true)
		       ? solver_sharing(STAGE_MAP, SHARING_ENUMERATION)
		       : solver_for(STAGE_MAP, FOR_PROBLEMS);
}

static bool share_work(void *self, int round, struct drive *drive, size_t *count)
{
	struct nest_driver *driver = self;
	if (round > 1)
		return false;
	driver->drive = drive;
	const struct nest_search *search = driver->search;
	bool any = space_factors_count(search->space) > 0;
	driver->solver = search->solver ? search->solver : choose_solver(driver);
	driver->solver_name = solver_label(driver->arena, driver->solver);
	switch (driver->solver->sharing) {
	case SHARING_NONE:
		nest_driver_add_task(driver, 0, 1, search->wishes.budget);
		break;
	case SHARING_ENUMERATION:
		if (!driver->tasks.count)
			share_space(driver, search->wishes.budget, false);
		break;
	case SHARING_DRAWS:
		share_draws(driver, any ? search->wishes.budget : 0);
		break;
	case SHARING_CHAINS:
		if (any)
			share_chains(driver, search->wishes.budget);
		break;
	}
	*count = driver->tasks.count;
	return true;
}

static const struct drive_kind problems = {
	.start = take_start,
	.tasks = share_work,
	.run = run_task,
	.price = price,
	.execute = execute,
	.key = key,
	.size = sizeof(struct nest_found),
	.thrifty = true,
};

struct explored nest_explore(const struct nest_search *search, struct arena *arena)
{
	struct nest_driver driver = {.search = search, .arena = arena};
	return drive_explore(&problems, &driver, &search->wishes, arena);
}

static bool keeps_constraints(const struct nest_offers *offers, const struct mapping *mapping)
{
	const struct nest_search *search = offers->search;
	struct arena *arena = run_arena(offers->run);
	struct arena_mark mark = arena_mark(arena);
	bool kept = !constraints_check(search->constraints, search->domain, mapping, arena);
	arena_release(arena, mark);
	return kept;
}

/* Adds what fits and nothing beats; false if it breaks a constraint. */
static bool add_offer(
	struct nest_offers *offers, const struct mapping *mapping, const struct score *score)
{
	struct arena *arena = run_arena(offers->run);
	if (!keeps_constraints(offers, mapping))
		return false;
	struct point point = {
		.score = *score, .key = "", .payload = arena_copy(arena, mapping, sizeof *mapping)};
	frontier_add(&offers->kept, arena, point);
	return true;
}

/* Keeps what fits, meets the constraints, and nothing kept beats. */
static struct offer_price offers_look(struct nest_offers *offers, const struct mapping *mapping)
{
	struct nest_counts counts;
	struct nest_score score;
	enum nest_verdict verdict = nest_evaluate(offers->search->model, mapping, &counts, &score);
	struct offer_price price = {
		.verdict = verdict, .level = score.level, .dimension = score.dimension};
	if (verdict != NEST_FITS)
		return price;
	price.score = nest_summary(offers->search, &counts, &score);
	if (!frontier_beats(&offers->kept, &price.score, NULL)) {
		price.kept = add_offer(offers, mapping, &price.score);
		price.broken = !price.kept;
	}
	return price;
}

struct nest_offers nest_offers_open(struct run *run, const struct nest_search *search)
{
	struct nest_offers offers = {.run = run, .search = search, .kept = nest_frontier(search)};
	if (search->start)
		offers_look(&offers, search->start);
	return offers;
}

struct nest_offers nest_offers_resume(
	struct run *run, const struct nest_search *search, const struct frontier *kept)
{
	struct nest_offers offers = {.run = run, .search = search, .kept = nest_frontier(search)};
	for (size_t i = 0; i < kept->count; i++)
		frontier_add(&offers.kept, run_arena(run), kept->points[i]);
	return offers;
}

static struct offer_price nest_offers_evaluate(
	struct nest_offers *offers, const struct mapping *mapping)
{
	run_evaluated(offers->run, 1);
	struct offer_price price = offers_look(offers, mapping);
	bool unknown = price.verdict == NEST_OVERFLOW || price.verdict == NEST_UNCOUNTABLE;
	if (unknown && !offers->uncounted)
		offers->uncounted = keeps_constraints(offers, mapping);
	return price;
}

bool nest_offers_price(
	struct nest_offers *offers, const struct mapping *mapping, struct offer_price *price)
{
	if (!run_spend(offers->run, 1))
		return false;
	*price = nest_offers_evaluate(offers, mapping);
	return true;
}

void nest_offers_adopt(struct nest_offers *offers, const struct mapping *mapping)
{
	run_spend(offers->run, 1);
	nest_offers_evaluate(offers, mapping);
}

double nest_offers_best(const struct nest_offers *offers)
{
	const struct frontier *kept = &offers->kept;
	return kept->count ? objective_value(kept->objectives.at[0], &kept->points[0].score)
			   : INFINITY;
}

void nest_offers_close(struct nest_offers *offers)
{
	for (size_t i = 0; i < offers->kept.count; i++) {
		const struct point *point = &offers->kept.points[i];
		struct candidate candidate = {.stage = STAGE_MAP, .mappings = point->payload};
		if (offers->search->start && mapping_equal(point->payload, offers->search->start))
			continue; /* known already */
		run_offer(offers->run, &candidate,
			objective_value(offers->kept.objectives.at[0], &point->score));
	}
}
