#include "search/network_layers.h"

#include "base/arena.h"
#include "base/text.h"
#include "search/parallel.h"

#include <stdatomic.h>

/*
 * Two rounds over the distinct layers.  The first looks for something good in each of them that
 * is to be proven; the second proves, from there on.  So whoever is stopped has something good of
 * every layer early.
 */

/* Mappings that the first round looks at: this part of the budget, and no more. */
enum { WARM_PART = 5, WARM_BUDGET = 20000 };

/* Mappings of a layer that did not begin before a stop. */
enum { LATE_BUDGET = 500 };

struct driver {
	struct network_explored *explored;
	size_t *order; /* the distinct layers */
	struct arena **arenas;
	struct nest_explored *warm; /* of the first round; arenas[i] NULL: there was none */
	int inner_jobs;
	atomic_bool stopped;
	size_t done;
	uint64_t evaluated;
};

static uint64_t warm_budget(const struct nest_search *search)
{
	uint64_t most = search->budget / WARM_PART;
	return most < WARM_BUDGET ? most : WARM_BUDGET;
}

static struct nest_search search_of(const struct driver *driver, size_t i)
{
	const struct network_search *search = driver->explored->search;
	struct nest_search of = *search->layers[driver->order[i]];
	of.jobs = driver->inner_jobs;
	of.listener = search->listener;
	of.stop = search->stop;
	return of;
}

/* For what no proof began with. */
static void take_floor(const struct nest_search *search, struct nest_explored *explored)
{
	explored->bound = nest_floor(search, search->objectives.at[0]);
	for (size_t i = 0; i < explored->frontier.count && explored->bound > 0; i++) {
		const struct point *point = &explored->frontier.points[i];
		struct nest_found *found = point->payload;
		found->proof = PROOF_BOUND;
		found->gap =
			objective_value(search->objectives.at[0], &point->score) - explored->bound;
	}
}

/* For who does not want to wait: what is known to fit, and what some steps make of it. */
static struct nest_explored take_start(
	const struct network_search *network, struct nest_search search, struct arena *arena)
{
	bool hurry = network->hurry && network->hurry(network->listener);
	uint64_t budget = hurry ? 1 : LATE_BUDGET;
	search.solver = "anneal";
	if (!search.budget || search.budget > budget)
		search.budget = budget;
	search.stop = network->hurry;
	search.simulate = SIMULATE_NONE;
	return nest_explore(&search, arena);
}

static void warm_up(void *context, size_t i, int thread)
{
	struct driver *driver = context;
	struct nest_search search = search_of(driver, i);
	uint64_t budget = warm_budget(&search);
	if (search.solver || !budget || atomic_load(&driver->stopped))
		return;
	driver->arenas[i] = arena_open();
	search.solver = "anneal";
	search.budget = budget;
	driver->warm[i] = nest_explore(&search, driver->arenas[i]);
}

static void check_stop(struct driver *driver)
{
	const struct network_search *search = driver->explored->search;
	if (search->stop && search->stop(search->listener))
		atomic_store(&driver->stopped, true);
}

static void warm_done(void *context, size_t i)
{
	check_stop(context);
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

static void add_counters(struct nest_explored *total, const struct nest_explored *layer)
{
	total->evaluated += layer->evaluated;
	total->ticks += layer->ticks;
	total->states += layer->states;
	total->edges += layer->edges;
	total->labels += layer->labels;
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

/* A proof that begins with the best of the first round, whose points count if it is cut short. */
static struct nest_explored prove(
	struct nest_search search, const struct nest_explored *warm, struct arena *arena)
{
	const char *finder = "start";
	search.solver = "exact";
	search.budget -= warm_budget(&search);
	if (warm->frontier.count) {
		const struct nest_found *found = find_middle(&warm->frontier)->payload;
		search.start = &found->mapping;
		finder = found->solver;
	}
	struct nest_explored explored = nest_explore(&search, arena);
	for (size_t i = 0; i < explored.frontier.count; i++) {
		struct nest_found *found = explored.frontier.points[i].payload;
		if (text_equal(found->solver, "start"))
			found->solver = finder;
	}
	/* of a single objective the start was the best of all */
	if (!explored.complete && search.objectives.count > 1)
		for (size_t i = 0; i < warm->frontier.count; i++)
			frontier_add(&explored.frontier, arena, warm->frontier.points[i]);
	add_counters(&explored, warm);
	return explored;
}

static void run_layer(void *context, size_t i, int thread)
{
	struct driver *driver = context;
	struct nest_search search = search_of(driver, i);
	struct nest_explored *out = &driver->explored->layers[driver->order[i]];
	bool warmed = driver->arenas[i], stopped = atomic_load(&driver->stopped);
	if (!warmed)
		driver->arenas[i] = arena_open();
	if (stopped && warmed) {
		*out = driver->warm[i];
		out->complete = false;
	} else if (stopped) {
		*out = take_start(driver->explored->search, search, driver->arenas[i]);
	} else if (!search.solver) {
		*out = prove(search, &driver->warm[i], driver->arenas[i]);
	} else {
		*out = nest_explore(&search, driver->arenas[i]);
	}
	out->stopped |= stopped;
	if (stopped && search.objectives.count == 1)
		take_floor(&search, out);
}

static void layer_done(void *context, size_t i)
{
	struct driver *driver = context;
	const struct network_search *search = driver->explored->search;
	driver->done++;
	driver->evaluated += driver->explored->layers[driver->order[i]].evaluated;
	if (search->progress)
		search->progress(search->listener, driver->done, search->network->distinct,
			driver->evaluated);
	check_stop(driver);
}

void network_layers(struct network_explored *explored, struct arena *arena)
{
	const struct network *network = explored->search->network;
	struct driver driver = {.explored = explored};
	struct parallel first = {&driver, warm_up, warm_done};
	struct parallel second = {&driver, run_layer, layer_done};
	size_t count = 0;
	driver.order = arena_array(arena, size_t, network->distinct);
	driver.arenas = arena_array(arena, struct arena *, network->distinct);
	driver.warm = arena_array(arena, struct nest_explored, network->distinct);
	for (size_t l = 0; l < network->layer_count; l++)
		if (network->layers[l].same_as == l)
			driver.order[count++] = l;
	/* one after the other in all threads where layers are fewer */
	int jobs = explored->search->jobs, outer = count >= (size_t)jobs ? jobs : 1;
	driver.inner_jobs = outer == 1 ? jobs : 1;
	parallel_each(&first, count, outer);
	parallel_each(&second, count, outer);
	explored->complete = true;
	for (size_t i = 0; i < count; i++) {
		const struct nest_explored *layer = &explored->layers[driver.order[i]];
		add_counters(&explored->total, layer);
		explored->complete &= layer->complete;
		arena_adopt(arena, driver.arenas[i]);
	}
	for (size_t l = 0; l < network->layer_count; l++)
		explored->layers[l] = explored->layers[network->layers[l].same_as];
	explored->stopped = atomic_load(&driver.stopped);
}
