#include "search/nest/network_search.h"

#include "base/arena.h"
#include "base/text.h"
#include "search/drive/solver.h"

/*
 * Two rounds over the distinct layers.  The first looks for something good in each of them that
 * is to be proven; the second proves, from there on.  So whoever is stopped has something good of
 * every layer early.
 */

/* Mappings that the first round looks at: this part of the budget, and no more. */
enum { WARM_PART = 5, WARM_BUDGET = 20000 };

/* Mappings of a layer that did not begin before a stop. */
enum { LATE_BUDGET = 500 };

struct layers {
	struct network_explored *explored;
	size_t *order;         /* the distinct layers */
	struct explored *warm; /* of the first round, by order */
	bool *warmed;          /* whether there was one */
	double *best,
		*bound; /* by order: of the first objective in all occurrences; 0: not known */
	int inner_jobs, round;
};

static uint64_t warm_budget(const struct nest_search *search)
{
	uint64_t most = search->wishes.budget / WARM_PART;
	return most < WARM_BUDGET ? most : WARM_BUDGET;
}

static struct nest_search search_of(const struct layers *layers, size_t i, struct slot *slot)
{
	struct nest_search of = *layers->explored->search->layers[layers->order[i]];
	of.wishes.asker = drive_asker(slot->drive);
	of.wishes.asker.jobs = layers->inner_jobs;
	return of;
}

/* For what no proof began with. */
static void take_floor(const struct nest_search *search, struct explored *explored)
{
	explored->bound = nest_floor(search, search->wishes.objectives.at[0]);
	for (size_t i = 0; i < explored->frontier.count && explored->bound > 0; i++) {
		const struct point *point = &explored->frontier.points[i];
		struct nest_found *found = point->payload;
		found->common.proof = PROOF_BOUND;
		found->common.bound = explored->bound;
		found->common.gap =
			objective_value(search->wishes.objectives.at[0], &point->score) -
			explored->bound;
	}
}

/* For who does not want to wait: what is known to fit, and what some steps make of it. */
static struct explored take_start(
	const struct network_search *network, struct nest_search search, struct arena *arena)
{
	uint64_t budget = stopper_stops(&network->hurry) ? 1 : LATE_BUDGET;
	search.solver = solver_for(STAGE_MAP, FOR_STARTS);
	if (!search.wishes.budget || search.wishes.budget > budget)
		search.wishes.budget = budget;
	search.wishes.asker = (struct asker){search.wishes.asker.jobs, network->hurry, NULL};
	search.wishes.simulate = SIMULATE_NONE;
	return nest_explore(&search, arena);
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

/* A proof that begins with the best of the first round, whose points count if it is cut short. */
static struct explored prove(
	struct nest_search search, const struct explored *warm, struct arena *arena)
{
	const char *finder = "start";
	search.solver = solver_for(STAGE_MAP, FOR_PROBLEMS);
	search.wishes.budget -= warm_budget(&search);
	if (warm->frontier.count) {
		const struct nest_found *found = find_middle(&warm->frontier)->payload;
		search.start = &found->mapping;
		finder = found->common.solver;
	}
	struct explored explored = nest_explore(&search, arena);
	for (size_t i = 0; i < explored.frontier.count; i++) {
		struct nest_found *found = explored.frontier.points[i].payload;
		if (text_equal(found->common.solver, "start"))
			found->common.solver = finder;
	}
	/* of a single objective the start was the best of all */
	if (!explored.complete && search.wishes.objectives.count > 1)
		for (size_t i = 0; i < warm->frontier.count; i++)
			frontier_add(&explored.frontier, arena, warm->frontier.points[i]);
	return explored;
}

static void warm_up(struct layers *layers, size_t i, struct slot *slot)
{
	struct nest_search search = search_of(layers, i, slot);
	uint64_t budget = warm_budget(&search);
	if (search.solver || !budget || drive_stops(slot->drive))
		return;
	search.solver = solver_for(STAGE_MAP, FOR_STARTS);
	search.wishes.budget = budget;
	layers->warm[i] = nest_explore(&search, slot->arena);
	layers->warmed[i] = true;
	drive_nest(slot, &layers->warm[i]);
	slot->complete = true; /* what it left out is for the second round */
	slot->left = &layers->warm[i];
}

static void run_layer(struct layers *layers, size_t i, struct slot *slot)
{
	struct nest_search search = search_of(layers, i, slot);
	struct explored *out = &layers->explored->layers[layers->order[i]];
	bool stopped = drive_stops(slot->drive), warmed = layers->warmed[i];
	if (stopped && warmed)
		*out = (struct explored){.frontier = layers->warm[i].frontier};
	else if (stopped)
		*out = take_start(layers->explored->search, search, slot->arena);
	else if (!search.solver)
		*out = prove(search, &layers->warm[i], slot->arena);
	else
		*out = nest_explore(&search, slot->arena);
	if (stopped && search.wishes.objectives.count == 1)
		take_floor(&search, out);
	out->stopped |= stopped;
	drive_nest(slot, out);
	effort_add(&out->effort, &layers->warm[i].effort);
	slot->left = out;
}

/* Every distinct layer in each of two rounds. */
static bool make_tasks(void *self, int round, struct drive *drive, size_t *count)
{
	struct layers *layers = self;
	layers->round = round;
	*count = layers->explored->search->network->distinct;
	return round <= 2;
}

static void run(void *self, size_t i, struct slot *slot)
{
	struct layers *layers = self;
	slot->complete = true;
	if (layers->round == 1)
		warm_up(layers, i, slot);
	else
		run_layer(layers, i, slot);
}

static int64_t occurrences(const struct network *network, size_t l)
{
	int64_t count = 0;
	for (size_t other = 0; other < network->layer_count; other++)
		if (network->layers[other].same_as == l)
			count += network->layers[other].count;
	return count;
}

/* The least sum over all layers so far, and what no sum is below; a product is no sum. */
static void add_worths(void *self, size_t i, const struct slot *slot, double *best, double *bound)
{
	struct layers *layers = self;
	const struct network_search *search = layers->explored->search;
	enum objective first = search->wishes.objectives.at[0];
	const struct explored *explored = slot->left;
	if (first == OBJECTIVE_EDP || !explored || !explored->frontier.count)
		return;
	double count = (double)occurrences(search->network, layers->order[i]);
	double least = objective_value(first, &explored->frontier.points[0].score);
	layers->best[i] = count * least;
	if (layers->round == 1)
		layers->bound[i] = count * nest_floor(search->layers[layers->order[i]], first);
	else
		layers->bound[i] = count * (explored->complete ? least : explored->bound);
	*best = *bound = 0;
	bool bounded = true;
	for (size_t k = 0; k < search->network->distinct; k++) {
		if (layers->best[k] <= 0) {
			*best = 0;
			return;
		}
		*best += layers->best[k];
		*bound += layers->bound[k];
		bounded &= layers->bound[k] > 0;
	}
	*bound = bounded ? *bound : 0;
}

static const struct drive_kind networks = {
	.tasks = make_tasks, .run = run, .worth = add_worths, .runs_late = true};

void network_layers(struct network_explored *explored, struct arena *arena)
{
	const struct network_search *search = explored->search;
	const struct network *network = search->network;
	struct layers layers = {.explored = explored,
		.order = arena_array(arena, size_t, network->distinct),
		.warm = arena_array(arena, struct explored, network->distinct),
		.warmed = arena_array(arena, bool, network->distinct),
		.best = arena_array(arena, double, network->distinct),
		.bound = arena_array(arena, double, network->distinct)};
	size_t count = 0;
	for (size_t l = 0; l < network->layer_count; l++)
		if (network->layers[l].same_as == l)
			layers.order[count++] = l;
	/* one after the other in all threads where layers are fewer */
	struct wishes wishes = search->wishes;
	int jobs = wishes.asker.jobs;
	bool beside = count >= (size_t)jobs;
	layers.inner_jobs = beside ? 1 : jobs;
	wishes.asker.jobs = beside ? jobs : 1;
	explored->total = drive_explore(&networks, &layers, &wishes, arena);
	for (size_t l = 0; l < network->layer_count; l++)
		explored->layers[l] = explored->layers[network->layers[l].same_as];
}
