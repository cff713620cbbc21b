#include "search/network_search.h"

#include "base/arena.h"
#include "base/text.h"
#include "search/parallel.h"

#include <math.h>
#include <stdatomic.h>

enum { ENERGY_BITS = 40 };

/* Mappings that are looked at before a proof begins: this part of the budget, and no more. */
enum { WARM_PART = 5, WARM_BUDGET = 20000 };

struct network_driver {
	const struct network_search *search;
	struct network_explored *explored;
	size_t *order; /* the distinct layers */
	struct arena **arenas;
	int inner_jobs;
	atomic_bool stopped;
	size_t done;
	uint64_t evaluated;
};

bool network_objectives(const struct objectives *objectives, struct diag *diag)
{
	bool good = objectives->count <= 2;
	if (!good)
		diag_error(diag, (struct span){0},
			"the frontier of a network is over at most two objectives, not %zu",
			objectives->count);
	for (size_t i = 0; i < objectives->count; i++) {
		if (objectives->at[i] != OBJECTIVE_EDP || objectives->count == 1)
			continue;
		diag_error(diag, (struct span){0},
			"the edp of a network is no sum over its layers; ask for edp alone, or for "
			"latency,energy, whose frontier has the least edp");
		good = false;
	}
	return good;
}

/* --- whole numbers */

wide network_energy(double pj)
{
	const double most = 0x1p85;
	return (wide)rint(ldexp(pj < most ? pj : most, ENERGY_BITS));
}

double network_picojoules(wide energy)
{
	return ldexp((double)energy, -ENERGY_BITS);
}

wide network_value(enum objective objective, const struct score *score)
{
	if (objective == OBJECTIVE_LATENCY)
		return score->cycles;
	if (objective == OBJECTIVE_ENERGY)
		return network_energy(score->energy_pj);
	if (objective == OBJECTIVE_HBM_BYTES)
		return score->hbm_bytes;
	return score->accesses[objective - OBJECTIVE_ACCESSES];
}

/* --- layers */

static bool is_perfect(const struct nest_search *search)
{
	for (int d = 0; d < search->shape->dimension_count; d++)
		if (search->domain->imperfect >> d & 1 && search->shape->dimensions[d].extent > 1)
			return false;
	return true;
}

static void add_counters(struct nest_explored *total, const struct nest_explored *layer)
{
	total->evaluated += layer->evaluated;
	total->ticks += layer->ticks;
	total->offered += layer->offered;
	total->refused += layer->refused;
	total->simulated += layer->simulated;
	total->unsimulated += layer->unsimulated;
	total->events += layer->events;
	total->disagreed += layer->disagreed;
	if (!total->fault)
		total->fault = layer->fault;
	if (!total->refusal)
		total->refusal = layer->refusal;
}

/* The point of least energy x latency. */
static const struct point *find_middle(const struct frontier *frontier)
{
	const struct point *least = &frontier->points[0];
	for (size_t i = 1; i < frontier->count; i++)
		if (objective_value(OBJECTIVE_EDP, &frontier->points[i].score) <
			objective_value(OBJECTIVE_EDP, &least->score))
			least = &frontier->points[i];
	return least;
}

/* A proof after a short search for something good to begin it with; if the proof is cut short,
 * what that search found still counts. */
static struct nest_explored explore_proven(struct nest_search search, struct arena *arena)
{
	const char *finder = NULL;
	uint64_t most = search.budget / WARM_PART;
	struct nest_search warm = search;
	warm.solver = "anneal";
	warm.budget = most < WARM_BUDGET ? most : WARM_BUDGET;
	if (!warm.budget)
		return nest_explore(&search, arena);
	struct nest_explored before = nest_explore(&warm, arena);
	if (before.frontier.count) {
		const struct nest_found *found = find_middle(&before.frontier)->payload;
		search.start = &found->mapping;
		finder = found->solver;
	}
	search.budget -= warm.budget;
	struct nest_explored explored = nest_explore(&search, arena);
	for (size_t i = 0; finder && i < explored.frontier.count; i++) {
		struct nest_found *found = explored.frontier.points[i].payload;
		if (text_equal(found->solver, "start"))
			found->solver = finder;
	}
	/* of a single objective the start was the best of all */
	if (!explored.complete && search.objectives.count > 1)
		for (size_t i = 0; i < before.frontier.count; i++)
			frontier_add(&explored.frontier, arena, before.frontier.points[i]);
	add_counters(&explored, &before);
	return explored;
}

static void run_layer(void *context, size_t i, int thread)
{
	struct network_driver *driver = context;
	size_t layer = driver->order[i];
	struct nest_search search = *driver->search->layers[layer];
	search.jobs = driver->inner_jobs;
	bool proven = !search.solver && is_perfect(&search);
	if (proven)
		search.solver = "exact";
	search.listener = driver->search->listener;
	search.stop = driver->search->stop;
	if (atomic_load(&driver->stopped)) {
		search.solver = "random";
		search.budget = 1;
		search.simulate = SIMULATE_NONE;
		proven = false;
	}
	driver->arenas[i] = arena_open();
	driver->explored->layers[layer] = proven ? explore_proven(search, driver->arenas[i])
						 : nest_explore(&search, driver->arenas[i]);
}

static void layer_done(void *context, size_t i)
{
	struct network_driver *driver = context;
	const struct network_search *search = driver->search;
	driver->done++;
	driver->evaluated += driver->explored->layers[driver->order[i]].evaluated;
	if (search->progress)
		search->progress(search->listener, driver->done, search->network->distinct,
			driver->evaluated);
	if (search->stop && search->stop(search->listener))
		atomic_store(&driver->stopped, true);
}

static void explore_layers(struct network_driver *driver, struct arena *arena)
{
	const struct network *network = driver->search->network;
	struct network_explored *explored = driver->explored;
	struct parallel work = {driver, run_layer, layer_done};
	size_t count = 0;
	driver->order = arena_array(arena, size_t, network->distinct);
	driver->arenas = arena_array(arena, struct arena *, network->distinct);
	for (size_t l = 0; l < network->layer_count; l++)
		if (network->layers[l].same_as == l)
			driver->order[count++] = l;
	bool wide_enough = count >= (size_t)driver->search->jobs;
	driver->inner_jobs = wide_enough ? 1 : driver->search->jobs;
	parallel_each(&work, count, wide_enough ? driver->search->jobs : 1);
	explored->complete = true;
	for (size_t i = 0; i < count; i++) {
		const struct nest_explored *layer = &explored->layers[driver->order[i]];
		add_counters(&explored->total, layer);
		explored->complete &= layer->complete;
		arena_adopt(arena, driver->arenas[i]);
	}
	for (size_t l = 0; l < network->layer_count; l++)
		explored->layers[l] = explored->layers[network->layers[l].same_as];
	explored->stopped = atomic_load(&driver->stopped);
}

/* --- the network */

static struct sums_part part_of(
	const struct network_explored *explored, size_t l, struct arena *arena)
{
	const struct objectives *objectives = &explored->search->objectives;
	const struct frontier *frontier = &explored->layers[l].frontier;
	struct sums_point *points = arena_array(arena, struct sums_point, frontier->count);
	bool edp = objectives->at[0] == OBJECTIVE_EDP;
	for (size_t i = 0; i < frontier->count; i++) {
		const struct score *score = &frontier->points[i].score;
		points[i].x = network_value(edp ? OBJECTIVE_LATENCY : objectives->at[0], score);
		points[i].y = objectives->count > 1 ? network_value(objectives->at[1], score) : 0;
	}
	return (struct sums_part){
		explored->search->network->layers[l].count, frontier->count, points};
}

/* Cycles, bytes and words of everything at once must fit an int64_t, energies 2^126, whatever is
 * taken. */
static bool totals_fit(const struct network_explored *explored)
{
	const struct network *network = explored->search->network;
	const wide limit = (wide)1 << 126;
	int64_t cycles = 0, bytes = 0, words = 0, product;
	wide energy = 0;
	for (size_t l = 0; l < network->layer_count; l++) {
		const struct frontier *frontier = &explored->layers[l].frontier;
		struct score most = {0};
		int64_t accesses = 0, count = network->layers[l].count;
		for (size_t i = 0; i < frontier->count; i++) {
			const struct score *score = &frontier->points[i].score;
			most.cycles = number_max(most.cycles, score->cycles);
			most.energy_pj = fmax(most.energy_pj, score->energy_pj);
			most.hbm_bytes = number_max(most.hbm_bytes, score->hbm_bytes);
			for (int k = 0; k < ARCH_LEVELS_MOST; k++)
				accesses = number_max(accesses, score->accesses[k]);
		}
		if (network_energy(most.energy_pj) > (limit - energy) / count)
			return false;
		energy += count * network_energy(most.energy_pj);
		if (!number_mul(most.cycles, count, &product) ||
			!number_add(cycles, product, &cycles) ||
			!number_mul(most.hbm_bytes, count, &product) ||
			!number_add(bytes, product, &bytes) ||
			!number_mul(accesses, count, &product) ||
			!number_add(words, product, &words))
			return false;
	}
	return true;
}

static void add_up(struct network_explored *explored, struct arena *arena)
{
	const struct network *network = explored->search->network;
	struct sums_part *parts = arena_array(arena, struct sums_part, network->layer_count);
	for (size_t l = 0; l < network->layer_count; l++) {
		if (!explored->layers[l].frontier.count) {
			explored->missing = arena_format(arena,
				"no mapping of layer '%s' was found", network->layers[l].name);
			return;
		}
		parts[l] = part_of(explored, l, arena);
	}
	size_t most = NETWORK_CHOICES_MOST / network->layer_count;
	if (totals_fit(explored))
		explored->sums = sums_make(arena, parts, network->layer_count,
			most < NETWORK_SUMS_MOST ? most : NETWORK_SUMS_MOST);
	if (!explored->sums.counted)
		explored->missing = "the cycles, bytes or energies of all layers together are too "
				    "many to be counted";
}

struct network_explored network_explore(const struct network_search *search, struct arena *arena)
{
	struct network_explored explored = {.search = search,
		.layers = arena_array(arena, struct nest_explored, search->network->layer_count)};
	struct network_driver driver = {.search = search, .explored = &explored};
	explore_layers(&driver, arena);
	add_up(&explored, arena);
	const enum objective *at = search->objectives.at;
	bool both = search->objectives.count == 2 && at[0] != at[1] &&
		    (at[0] == OBJECTIVE_LATENCY || at[0] == OBJECTIVE_ENERGY) &&
		    (at[1] == OBJECTIVE_LATENCY || at[1] == OBJECTIVE_ENERGY);
	explored.least_edp = SIZE_MAX;
	if (both && explored.sums.count)
		explored.least_edp = sums_within(&explored.sums, SUMS_NO_LIMIT, SUMS_NO_LIMIT);
	return explored;
}
