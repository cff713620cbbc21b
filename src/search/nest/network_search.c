#include "search/nest/network_search.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "search/drive/solver.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds this many occurrences of a layer's point. */
struct layer_tally {
	struct score score;
	struct execution execution;
	wide energy, sim_energy;
	double busy; /* cycles x utilization */
};

static void add_execution(struct layer_tally *tally, const struct execution *of, int64_t times)
{
	struct execution *execution = &tally->execution;
	execution->finished &= of->finished;
	if (of->mode != SIM_DATA)
		execution->mode = SIM_COUNT;
	execution->agrees &= of->agrees;
	int64_t cycles, bytes;
	wide energy;
	if (!number_mul(of->cycles, times, &cycles) ||
		!number_add(execution->cycles, cycles, &execution->cycles) ||
		!number_mul(of->hbm_bytes, times, &bytes) ||
		!number_add(execution->hbm_bytes, bytes, &execution->hbm_bytes) ||
		__builtin_mul_overflow(network_energy(of->energy_pj), times, &energy) ||
		__builtin_add_overflow(tally->sim_energy, energy, &tally->sim_energy))
		execution->finished = false;
}

/* The sums fit: network_explore checks it. */
static void layer_tally_add_point(
	struct layer_tally *tally, const struct point *point, int64_t times)
{
	const struct nest_found *found = point->payload;
	const struct score *score = &point->score;
	tally->score.cycles += times * score->cycles;
	tally->score.hbm_bytes += times * score->hbm_bytes;
	for (int k = 0; k < ARCH_LEVELS_MOST; k++)
		tally->score.accesses[k] += times * score->accesses[k];
	tally->energy += times * network_energy(score->energy_pj);
	tally->busy += (double)times * (double)score->cycles * score->utilization;
	add_execution(tally, &found->common.execution, times);
}

/* One objective: no layer's mapping is below its bound. */
static double network_bound(const struct network_explored *explored)
{
	const struct network *network = explored->search->network;
	double bound = 0;
	for (size_t l = 0; l < network->layer_count; l++) {
		const struct explored *layer = &explored->layers[l];
		double value = objective_value(explored->search->wishes.objectives.at[0],
			&layer->frontier.points[0].score);
		bound +=
			(double)network->layers[l].count * (layer->complete ? value : layer->bound);
	}
	return bound;
}

static void prove_point(const struct network_explored *explored, struct network_point *point)
{
	const struct objectives *objectives = &explored->search->wishes.objectives;
	enum objective last = objectives->at[objectives->count - 1];
	double value = objective_value(last, &point->score), bound = 0;
	point->common.proof = PROOF_NONE;
	if (last == OBJECTIVE_EDP)
		return;
	if (explored->total.complete && explored->sums.excess == 0) {
		point->common.proof = PROOF_OPTIMAL;
		return;
	}
	if (explored->total.complete)
		bound = value / (1 + explored->sums.excess);
	else if (objectives->count == 1)
		bound = network_bound(explored);
	if (bound <= 0)
		return;
	point->common.proof = PROOF_BOUND;
	point->common.gap = value > bound ? value - bound : 0;
}

struct network_point network_point(
	const struct network_explored *explored, size_t i, struct arena *arena)
{
	size_t layers = explored->search->network->layer_count;
	int64_t **taken = arena_array(arena, int64_t *, layers);
	struct layer_tally tally = {.score = {.feasible = true},
		.execution = {.finished = true, .mode = SIM_DATA, .agrees = true}};
	for (size_t l = 0; l < layers; l++)
		taken[l] = arena_array(arena, int64_t, explored->layers[l].frontier.count);
	sums_choice(&explored->sums, i, taken, arena);
	for (size_t l = 0; l < layers; l++)
		for (size_t p = 0; p < explored->layers[l].frontier.count; p++)
			if (taken[l][p])
				layer_tally_add_point(&tally,
					&explored->layers[l].frontier.points[p], taken[l][p]);
	struct network_point point = {
		.score = tally.score, .common.execution = tally.execution, .taken = taken};
	point.score.energy_pj = network_picojoules(tally.energy);
	point.score.utilization = tally.score.cycles ? tally.busy / (double)tally.score.cycles : 0;
	point.common.execution.energy_pj = network_picojoules(tally.sim_energy);
	prove_point(explored, &point);
	return point;
}

/*
 * Two rounds over the distinct layers.  The first looks for something good in each of them that
 * is to be proven; the second proves, from there on.  So a stop leaves a good mapping
 * of every layer early.
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

static struct nest_search layers_search(const struct layers *layers, size_t i, struct slot *slot)
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
static struct explored network_take_start(
	const struct network_search *network, struct nest_search search, struct arena *arena)
{
	uint64_t budget = stopper_stops(&network->hurry) ? 1 : LATE_BUDGET;
	search.solver = solver_for(STAGE_MAP, FOR_STARTS);
	if (!search.wishes.budget || search.wishes.budget > budget)
		search.wishes.budget = budget;
	search.wishes.asker =
		(struct asker){.jobs = search.wishes.asker.jobs, .stopper = network->hurry};
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
static struct explored prove_layer(
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
	struct nest_search search = layers_search(layers, i, slot);
	uint64_t budget = warm_budget(&search);
	if (search.solver || !budget || drive_stops(slot->drive))
		return;
	search.solver = solver_for(STAGE_MAP, FOR_STARTS);
	search.wishes.budget = budget;
	layers->warm[i] = nest_explore(&search, slot->arena);
	layers->warmed[i] = true;
	drive_nest(slot, &layers->warm[i]);
	slot->complete = true; /* what it left out is for the second round */
	slot->limit = NULL;
	slot->left = &layers->warm[i];
}

static void run_layer(struct layers *layers, size_t i, struct slot *slot)
{
	struct nest_search search = layers_search(layers, i, slot);
	struct explored *out = &layers->explored->layers[layers->order[i]];
	bool stopped = drive_stops(slot->drive), warmed = layers->warmed[i];
	if (stopped && warmed)
		*out = (struct explored){.frontier = layers->warm[i].frontier};
	else if (stopped)
		*out = network_take_start(layers->explored->search, search, slot->arena);
	else if (!search.solver)
		*out = prove_layer(search, &layers->warm[i], slot->arena);
	else
		*out = nest_explore(&search, slot->arena);
	if (stopped && search.wishes.objectives.count == 1)
		take_floor(&search, out);
	out->stopped |= stopped;
	drive_nest(slot, out);
	if (slot->limit && strncmp(slot->limit, "budget", 6) ==
				   0) /* a proof has what the first round left of it */
		slot->limit = arena_format(slot->arena,
			"budget of %" PRIu64 " for a layer (--budget)", search.wishes.budget);
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

static int64_t layer_occurrences(const struct network *network, size_t l)
{
	int64_t count = 0;
	for (size_t other = 0; other < network->layer_count; other++)
		if (network->layers[other].same_as == l)
			count += network->layers[other].count;
	return count;
}

/* Adds the least sum over all layers so far, and its lower bound; a product is not a sum. */
static void add_worths(void *self, size_t i, const struct slot *slot, double *best, double *bound)
{
	struct layers *layers = self;
	const struct network_search *search = layers->explored->search;
	enum objective first = search->wishes.objectives.at[0];
	const struct explored *explored = slot->left;
	if (first == OBJECTIVE_EDP || !explored || !explored->frontier.count)
		return;
	double count = (double)layer_occurrences(search->network, layers->order[i]);
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

/* Parts of a higher count are doubled up; more sums are not made in one addition. */
enum { COUNT_MOST = 256, FORMED_MOST = 1 << 20 };

/* The origin of a kept sum: a sum of the step `left`, and one of `right`. */
struct origin {
	uint32_t left, right;
};

/* An addition, or a part's own points.  The operands of step i are steps before i. */
struct sums_step {
	int part;           /* these are points of a part, and origin.left is which; -1 */
	size_t left, right; /* steps that were added up */
	size_t count;
	struct origin *origins;
	double excess;
	struct arena *own; /* where the values live, until no step needs them */
	struct sums_point *at;
};

struct maker {
	struct arena *arena;
	size_t most;
	uint64_t formed;
	struct array(struct sums_step) steps;
};

static int sums_points_compare(struct sums_point a, struct sums_point b)
{
	if (a.x != b.x)
		return a.x < b.x ? -1 : 1;
	return a.y == b.y ? 0 : a.y < b.y ? -1 : 1;
}

/* --- leaving some out */

/* 1 + 2^-shift times as much, rounded down. */
static wide network_search_stretched(wide y, int shift)
{
	return y + (y >> shift);
}

/* Returns how many stay, if a sum goes whose y is at most stretched below that of the last one that stays;
 * the last of all always stays.  With `keep` they go. */
static size_t thin_by(struct sums_step *step, int shift, bool keep)
{
	size_t kept = 0;
	wide last = 0;
	for (size_t i = 0; i < step->count; i++) {
		if (i && i + 1 < step->count &&
			last <= network_search_stretched(step->at[i].y, shift))
			continue;
		last = step->at[i].y;
		if (keep) {
			step->at[kept] = step->at[i];
			step->origins[kept] = step->origins[i];
		}
		kept++;
	}
	return kept;
}

/* Leaves at most `most`, as many as the finest power of two allows. */
static void sums_step_limit(struct sums_step *step, size_t most)
{
	int shift = 62;
	if (step->count <= most)
		return;
	while (shift > 0 && thin_by(step, shift, false) > most)
		shift--;
	step->count = thin_by(step, shift, true);
	step->excess = (1 + step->excess) * (1 + 1 / (double)((int64_t)1 << shift)) - 1;
}

/* --- adding */

/* The least sum not yet looked at of one of the shorter operand. */
struct head {
	struct sums_point at;
	uint32_t row, column; /* of the shorter and the longer operand */
};

static bool comes_before(const struct head *a, const struct head *b)
{
	int order = sums_points_compare(a->at, b->at);
	if (order)
		return order < 0;
	return a->row != b->row ? a->row < b->row : a->column < b->column;
}

static struct sums_point sums_point_plus(struct sums_point a, struct sums_point b)
{
	return (struct sums_point){a.x + b.x, a.y + b.y};
}

/* The values of a step that are added up, and their numbers in it. */
struct sums_operand {
	size_t count;
	const struct sums_point *at;
	const struct origin *numbers; /* .left; NULL: 0, 1, 2, ... */
	double excess;
};

static uint32_t number_of(const struct sums_operand *operand, uint32_t i)
{
	return operand->numbers ? operand->numbers[i].left : i;
}

/* A copy of at most `most`: others may know the step's sums by number. */
static struct sums_operand open_operand(
	const struct sums_step *step, size_t most, struct arena *scratch)
{
	if (step->count <= most)
		return (struct sums_operand){step->count, step->at, NULL, step->excess};
	struct sums_step copy = *step;
	copy.at = arena_copy(scratch, step->at, step->count * sizeof *step->at);
	copy.origins = arena_array(scratch, struct origin, step->count);
	for (size_t i = 0; i < step->count; i++)
		copy.origins[i].left = (uint32_t)i;
	sums_step_limit(&copy, most);
	return (struct sums_operand){copy.count, copy.at, copy.origins, copy.excess};
}

/* All sums of two steps in the order of x, of which those stay whose y is below all before. */
static void network_merge(struct maker *maker, const struct sums_operand *rows,
	const struct sums_operand *columns, bool swapped, struct sums_step *out,
	struct arena *scratch)
{
	struct head *heap = arena_array(scratch, struct head, rows->count);
	struct array(struct sums_point) values = {0};
	struct array(struct origin) origins = {0};
	size_t count = 0;
	while (count < rows->count) {
		struct head first = {
			sums_point_plus(rows->at[count], columns->at[0]), (uint32_t)count, 0};
		heap_put(heap, count, first, comes_before(a, b));
	}
	while (count) {
		struct head *least = &heap[0];
		if (!values.count || least->at.y < values.at[values.count - 1].y) {
			uint32_t row = number_of(rows, least->row);
			uint32_t column = number_of(columns, least->column);
			*array_add(out->own, &values) = least->at;
			*array_add(scratch, &origins) = swapped ? (struct origin){column, row}
								: (struct origin){row, column};
		}
		if (++least->column < columns->count)
			least->at =
				sums_point_plus(rows->at[least->row], columns->at[least->column]);
		else
			heap[0] = heap[--count];
		heap_sink(heap, count, comes_before(a, b));
	}
	maker->formed += rows->count * columns->count;
	out->count = values.count;
	out->at = values.at;
	out->origins = origins.at;
	sums_step_limit(out, maker->most);
	out->origins = arena_copy(maker->arena, origins.at, out->count * sizeof *origins.at);
}

static size_t network_add_sum(struct maker *maker, size_t left, size_t right)
{
	struct arena *scratch = arena_open();
	struct sums_step step = {.part = -1, .left = left, .right = right, .own = arena_open()};
	const struct sums_step *steps = maker->steps.at;
	struct sums_operand a = open_operand(&steps[left], SIZE_MAX, scratch);
	struct sums_operand b = open_operand(&steps[right], SIZE_MAX, scratch);
	for (size_t most = maker->most; a.count * b.count > FORMED_MOST; most /= 2) {
		a = open_operand(&steps[left], most, scratch);
		b = open_operand(&steps[right], most, scratch);
	}
	step.excess = a.excess > b.excess ? a.excess : b.excess;
	if (a.count <= b.count)
		network_merge(maker, &a, &b, false, &step, scratch);
	else
		network_merge(maker, &b, &a, true, &step, scratch);
	*array_add(maker->arena, &maker->steps) = step;
	arena_close(scratch);
	return maker->steps.count - 1;
}

static void drop_values(struct maker *maker, size_t step)
{
	arena_close(maker->steps.at[step].own);
	maker->steps.at[step].own = NULL;
	maker->steps.at[step].at = NULL;
}

/* --- parts */

struct ranked_sum {
	struct sums_point at;
	uint32_t point;
};

static int network_search_by_value(const void *a, const void *b)
{
	const struct ranked_sum *x = a, *y = b;
	int order = sums_points_compare(x->at, y->at);
	return order ? order : (x->point > y->point) - (x->point < y->point);
}

/* The points of a part that none of the others beats. */
static size_t add_points(struct maker *maker, const struct sums_part *part, int number)
{
	struct sums_step step = {.part = number, .own = arena_open()};
	struct ranked_sum *ranked = arena_array(step.own, struct ranked_sum, part->point_count);
	step.at = arena_array(step.own, struct sums_point, part->point_count);
	step.origins = arena_array(maker->arena, struct origin, part->point_count);
	for (size_t i = 0; i < part->point_count; i++)
		ranked[i] = (struct ranked_sum){part->points[i], (uint32_t)i};
	qsort(ranked, part->point_count, sizeof *ranked, network_search_by_value);
	for (size_t i = 0; i < part->point_count; i++) {
		if (step.count && ranked[i].at.y >= step.at[step.count - 1].y)
			continue;
		step.at[step.count] = ranked[i].at;
		step.origins[step.count++] = (struct origin){ranked[i].point, 0};
	}
	*array_add(maker->arena, &maker->steps) = step;
	return maker->steps.count - 1;
}

#define NO_STEP SIZE_MAX

/* `total` and a step once more; the values of `total` are then no longer needed. */
static size_t add_to(struct maker *maker, size_t total, size_t step)
{
	if (total == NO_STEP)
		return step;
	size_t sum = network_add_sum(maker, total, step);
	if (maker->steps.at[total].part < 0)
		drop_values(maker, total);
	return sum;
}

/* A count's binary digits: points, twice as many, four times as many, ... */
static size_t add_doubled(struct maker *maker, size_t total, size_t points, int64_t count)
{
	size_t power = points;
	for (; count; count >>= 1) {
		if (count & 1)
			total = add_to(maker, total, power);
		if (count > 1)
			power = network_add_sum(maker, power, power);
	}
	return total;
}

static size_t network_add_part(struct maker *maker, size_t total, size_t points, int64_t count)
{
	if (count > COUNT_MOST)
		return add_doubled(maker, total, points, count);
	for (int64_t n = 0; n < count; n++)
		total = add_to(maker, total, points);
	return total;
}

/* True if no sum of all exceeds 2^126. */
static bool can_be_counted(const struct sums_part *parts, size_t part_count)
{
	const wide limit = (wide)1 << 126;
	wide x = 0, y = 0;
	for (size_t p = 0; p < part_count; p++) {
		struct sums_point most = {0, 0};
		for (size_t i = 0; i < parts[p].point_count; i++) {
			if (parts[p].points[i].x > most.x)
				most.x = parts[p].points[i].x;
			if (parts[p].points[i].y > most.y)
				most.y = parts[p].points[i].y;
		}
		if (most.x > limit / parts[p].count || most.y > limit / parts[p].count)
			return false;
		x += most.x * parts[p].count;
		y += most.y * parts[p].count;
		if (x > limit || y > limit)
			return false;
	}
	return true;
}

struct sums sums_make(
	struct arena *arena, const struct sums_part *parts, size_t part_count, size_t most)
{
	struct sums sums = {.counted = can_be_counted(parts, part_count),
		.parts = parts,
		.part_count = part_count};
	struct maker maker = {.arena = arena, .most = most};
	size_t total = NO_STEP;
	if (!sums.counted || !part_count)
		return sums;
	for (size_t p = 0; p < part_count; p++) {
		size_t points = add_points(&maker, &parts[p], (int)p);
		total = network_add_part(&maker, total, points, parts[p].count);
	}
	const struct sums_step *last = &maker.steps.at[total];
	sums.count = last->count;
	sums.at = arena_copy(arena, last->at, last->count * sizeof *last->at);
	sums.excess = last->excess;
	sums.formed = maker.formed;
	for (size_t i = 0; i < maker.steps.count; i++)
		if (maker.steps.at[i].own)
			drop_values(&maker, i);
	sums.steps = maker.steps.at;
	sums.step_count = total + 1;
	return sums;
}

/* --- which points a sum is of */

struct point_use {
	uint32_t sum;
	int64_t times;
};

struct uses array(struct point_use);

static void point_uses_add(struct arena *arena, struct uses *uses, uint32_t sum, int64_t times)
{
	for (size_t i = 0; i < uses->count; i++)
		if (uses->at[i].sum == sum) {
			uses->at[i].times += times;
			return;
		}
	*array_add(arena, uses) = (struct point_use){sum, times};
}

void sums_choice(const struct sums *sums, size_t i, int64_t *const *taken, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	struct uses *uses = arena_array(scratch, struct uses, sums->step_count);
	point_uses_add(scratch, &uses[sums->step_count - 1], (uint32_t)i, 1);
	for (size_t s = sums->step_count; s-- > 0;) {
		const struct sums_step *step = &sums->steps[s];
		for (size_t u = 0; u < uses[s].count; u++) {
			struct point_use of = uses[s].at[u];
			struct origin origin = step->origins[of.sum];
			if (step->part >= 0) {
				taken[step->part][origin.left] += of.times;
				continue;
			}
			point_uses_add(scratch, &uses[step->left], origin.left, of.times);
			point_uses_add(scratch, &uses[step->right], origin.right, of.times);
		}
	}
	arena_release(scratch, mark);
}

/* --- limits */

/* By how much a sum exceeds a limit; a limit of 0 counts as 1. */
static double network_search_factor(wide value, wide most)
{
	if (most == SUMS_NO_LIMIT)
		return 0;
	return (double)value / (double)(most ? most : 1);
}

static bool is_within(wide value, wide most)
{
	return most == SUMS_NO_LIMIT || value <= most;
}

size_t sums_within(const struct sums *sums, wide x_most, wide y_most)
{
	size_t best = SIZE_MAX;
	double least = 0;
	for (size_t i = 0; i < sums->count; i++) {
		const struct sums_point *at = &sums->at[i];
		double product = (double)at->x * (double)at->y;
		bool better = best == SIZE_MAX || product < least;
		if (!is_within(at->x, x_most) || !is_within(at->y, y_most))
			continue;
		if (x_most == SUMS_NO_LIMIT && y_most != SUMS_NO_LIMIT)
			return i; /* x ascends */
		if (y_most == SUMS_NO_LIMIT && x_most != SUMS_NO_LIMIT)
			better = true; /* y descends */
		if (!better)
			continue;
		best = i;
		least = product;
	}
	return best;
}

size_t sums_nearest(const struct sums *sums, wide x_most, wide y_most)
{
	size_t best = SIZE_MAX;
	double least = 0;
	for (size_t i = 0; i < sums->count; i++) {
		double x = network_search_factor(sums->at[i].x, x_most),
		       y = network_search_factor(sums->at[i].y, y_most);
		double value = x > y ? x : y;
		if (best != SIZE_MAX && value >= least)
			continue;
		best = i;
		least = value;
	}
	return best;
}

enum { ENERGY_BITS = 40 };

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
			"the edp of a network is not a sum over its layers; ask for edp alone, or for "
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

wide network_energy_most(double pj)
{
	wide energy = network_energy(pj);
	return energy + (network_energy(nextafter(pj, INFINITY)) - energy) / 2;
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

/* --- the network */

static struct sums_part network_explored_part(
	const struct network_explored *explored, size_t l, struct arena *arena)
{
	const struct objectives *objectives = &explored->search->wishes.objectives;
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

/* Cycles, bytes and words of everything at once must fit an int64_t, energies 2^126, for any
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

static void network_explored_add_up(struct network_explored *explored, struct arena *arena)
{
	const struct network *network = explored->search->network;
	struct sums_part *parts = arena_array(arena, struct sums_part, network->layer_count);
	for (size_t l = 0; l < network->layer_count; l++) {
		if (!explored->layers[l].frontier.count) {
			explored->missing = arena_format(arena,
				"no mapping of layer '%s' was found", network->layers[l].name);
			return;
		}
		parts[l] = network_explored_part(explored, l, arena);
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
		.layers = arena_array(arena, struct explored, search->network->layer_count)};
	network_layers(&explored, arena);
	network_explored_add_up(&explored, arena);
	const enum objective *at = search->wishes.objectives.at;
	bool both = search->wishes.objectives.count == 2 && at[0] != at[1] &&
		    (at[0] == OBJECTIVE_LATENCY || at[0] == OBJECTIVE_ENERGY) &&
		    (at[1] == OBJECTIVE_LATENCY || at[1] == OBJECTIVE_ENERGY);
	explored.least_edp = SIZE_MAX;
	if (both && explored.sums.count)
		explored.least_edp = sums_within(&explored.sums, SUMS_NO_LIMIT, SUMS_NO_LIMIT);
	return explored;
}
