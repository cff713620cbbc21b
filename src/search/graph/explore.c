#include "search/graph/explore.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "cost/graph/floor.h"
#include "model/graph/plan_file.h"
#include "search/drive/drive.h"
#include "search/drive/solver.h"
#include "search/engine/kept.h"
#include "search/graph/evaluate.h"
#include "search/graph/lx.h"
#include "search/graph/nests.h"
#include "search/graph/op_map.h"
#include "search/graph/options.h"
#include "search/graph/task.h"
#include "search/nest/nest_search.h"

#include <math.h>

/*
 * Scores that no plan left out of a search is better than in all values, where plans of a single op are
 * bounded and not all made: a nest of a tile that is worse in cycles and in energy may still move less
 * in the scratchpad (search/graph/op_map.h).
 */
struct left_out {
	size_t count, capacity;
	struct score *at;
};

/* Sums of doubles differ by less. */
static const double ROUNDING = 1e-12;

/* Those of a front of tiles, given the score of a plan with one of its options. */
static void left_out_add(struct left_out *list, const struct op_front *front,
	const struct op_option *option, const struct score *score, struct arena *arena)
{
	for (size_t i = 0; i < front->least_count; i++) {
		const struct op_value *value = &front->least[i];
		struct score least = *score;
		least.cycles += value->cycles - option->value.cycles;
		least.estimate_cycles += value->estimate - option->value.estimate;
		least.energy_pj += value->energy_pj - option->value.energy_pj;
		least.hbm_bytes += value->hbm_bytes - option->value.hbm_bytes;
		*array_add(arena, list) = least;
	}
}

/* True if one is no worse than the other in all objectives from the k-th on. */
static bool objectives_is_no_worse(const struct objectives *objectives, size_t k,
	const struct score *one, const struct score *other)
{
	for (; k < objectives->count; k++)
		if (objective_value(objectives->at[k], one) >
			objective_value(objectives->at[k], other) * (1 + ROUNDING))
			return false;
	return true;
}

static bool is_covered(const struct frontier *frontier, const struct score *score)
{
	for (size_t i = 0; i < frontier->count; i++)
		if (objectives_is_no_worse(
			    &frontier->objectives, 0, &frontier->points[i].score, score))
			return true;
	return false;
}

static void note_point(
	const struct left_out *list, const struct objectives *objectives, const struct point *point)
{
	struct found *found = point->payload;
	double value = objective_value(objectives->at[0], &point->score);
	found->bound = value;
	for (size_t i = 0; i < list->count; i++)
		if (objectives_is_no_worse(objectives, 1, &list->at[i], &point->score))
			found->bound = fmin(
				found->bound, objective_value(objectives->at[0], &list->at[i]));
	found->gap = value - found->bound;
	found->proof = found->gap > value * ROUNDING ? PROOF_BOUND : PROOF_OPTIMAL;
}

static double left_out_least(
	const struct left_out *list, const struct frontier *frontier, enum objective objective)
{
	double least = INFINITY;
	for (size_t i = 0; i < frontier->count; i++)
		least = fmin(least, objective_value(objective, &frontier->points[i].score));
	for (size_t i = 0; i < list->count; i++)
		least = fmin(least, objective_value(objective, &list->at[i]));
	return least;
}

/* Notes what they prove of a frontier.  It is complete if a point beats each of them; else the bound of a point is
 * the least first objective of those that are no worse than it in the others. */
static void left_out_note(const struct left_out *list, struct explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	size_t covered = 0;
	while (covered < list->count && is_covered(frontier, &list->at[covered]))
		covered++;
	if (covered == list->count)
		return;
	explored->complete = false;
	for (size_t k = 0; k < frontier->objectives.count; k++)
		explored->bounds[k] = left_out_least(list, frontier, frontier->objectives.at[k]);
	for (size_t i = 0; i < frontier->count; i++)
		note_point(list, &frontier->objectives, &frontier->points[i]);
}

struct graph {
	const struct exploration *exploration;
	struct arena *arena;
	struct kept *kept;           /* what is known of ops */
	struct goals goals;          /* that plans are offered for */
	bool all;                    /* all plans are looked at */
	struct planned_list planned; /* what came of whole plans */
	struct left_out left_out;    /* of all divisions */
	struct tasks tasks;          /* of this round */
	struct truth truth;          /* of the last one */
	bool starting;               /* the first plan is made, which no stop prevents */
};

/* Results of a task beside its frontier. */
struct leaving {
	const struct planned *planned;
	struct left_out left_out;
};

/* A plan while it is judged. */
struct plan_trial {
	struct plan_found found;
	const struct recipe_result *laid_out; /* without tiles */
	struct recipe_result made;
	struct outcome outcome;
};

enum { ROUNDS_OF_PLANS = 4 };

static bool make_tasks(void *self, int round, struct drive *drive, size_t *count)
{
	struct graph *graph = self;
	const struct exploration *exploration = graph->exploration;
	struct recipes from = recipes_of(drive_frontier(drive), graph->arena);
	if (round == 1) {
		graph->tasks = tasks_first(exploration, graph->arena);
	} else if (round <= ROUNDS_OF_PLANS) {
		struct plan_aims aims = plans_next(&exploration->wishes.objectives, &graph->planned,
			exploration->cores, exploration->core_count, round, graph->arena);
		graph->tasks = (struct tasks){0};
		tasks_plans(&graph->tasks, exploration, &aims, graph->arena);
	} else if (round == ROUNDS_OF_PLANS + 1) {
		graph->tasks = tasks_staging(exploration, &from, graph->arena);
	} else {
		graph->tasks = tasks_varying(exploration, &from, graph->all, graph->arena);
	}
	*count = graph->tasks.count;
	return round <= ROUNDS_OF_PLANS + 2;
}

static uint64_t count_wants(void *self, size_t task)
{
	struct graph *graph = self;
	return task_wants(&graph->tasks.at[task], graph->arena) * graph->goals.count;
}

static const char *key(void *self, const struct found *found, struct arena *arena)
{
	struct text text = text_open(arena);
	struct plan *plan = ((const struct plan_trial *)found)->made.plan;
	plan->proof.method = found->solver;
	plan_write(plan, &text);
	return text_read(&text);
}

static struct found *keep_found(void *self, const struct found *found, struct arena *arena)
{
	const struct graph *graph = self;
	const struct plan_trial *trial = (const struct plan_trial *)found;
	struct plan_found *kept = arena_copy(arena, &trial->found, sizeof *kept);
	cost_limits(trial->made.plan, &trial->outcome.cost, kept->limits);
	recipe_own(&kept->recipe, arena);
	if (recipe_is_whole(&trial->found.recipe))
		kept->recipe.given =
			plan_copy(arena, trial->made.plan, graph->exploration->workload);
	kept->recipe.mappings = arena_copy(arena, trial->made.mappings,
		graph->exploration->workload->op_count * sizeof *trial->made.mappings);
	return &kept->common;
}

static struct leaving *leaving_of(struct slot *slot)
{
	if (!slot->left)
		slot->left = arena_new(slot->arena, struct leaving);
	return slot->left;
}

static void merge(void *self, void *left)
{
	struct graph *graph = self;
	const struct leaving *leaving = left;
	if (leaving && leaving->planned) {
		struct planned *planned = array_add(graph->arena, &graph->planned);
		*planned = *leaving->planned;
		planned->space = planned->space ? arena_text(graph->arena, planned->space) : NULL;
	}
	for (size_t i = 0; leaving && i < leaving->left_out.count; i++)
		*array_add(graph->arena, &graph->left_out) = leaving->left_out.at[i];
}

static struct recipe_result lay_out(
	const struct graph *graph, const struct recipe *recipe, struct slot *slot)
{
	struct recipe asked = *recipe;
	/* The first plan, and what was found until a stop, are made into plans all the same. */
	if (!recipe->nest && !graph->starting)
		asked.planning.stopper = (struct stopper){slot->drive, drive_stops};
	asked.kept = graph->kept;
	if (!asked.aim.brief &&
		plans_is_alone(&asked.aim, drive_frontier(slot->drive)->objectives.at[0]) &&
		asked.planning.cores == graph->exploration->planning.cores)
		asked.progress = drive_asker(slot->drive).progress;
	return recipe_lay_out(&asked, slot->scratch);
}

/* The plan that is best in some sum, and what that proves. */
static void offer_whole(const struct graph *graph, const struct task *task, struct slot *slot)
{
	struct arena_mark mark = arena_mark(slot->scratch);
	struct recipe_result laid_out = lay_out(graph, &task->recipe, slot);
	struct plan_trial trial = {.found = {.recipe = task->recipe, .common.solver = task->solver},
		.laid_out = &laid_out};
	const struct score *score = &trial.outcome.cost.score;
	struct planned *planned = arena_new(slot->arena, struct planned);
	*planned = (struct planned){.asked = {task->recipe.planning.cores, task->recipe.aim},
		.bound = laid_out.bound,
		.cut = laid_out.cut};
	slot->effort.evaluated += laid_out.ticks;
	effort_add(&slot->effort, &laid_out.effort);
	if (laid_out.cut)
		slot->limit = "label limit of a search for whole plans (--labels)";
	drive_offer(slot, &trial.found.common);
	planned->found = trial.made.plan && !trial.outcome.why;
	if (planned->found) {
		struct score own = *score;
		own.price = graph->exploration->planning.price;
		planned->cores = (int)own.cores;
		planned->latency = objective_value(OBJECTIVE_LATENCY, &own);
		planned->energy = own.energy_pj;
		planned->hbm_bytes = (double)own.hbm_bytes;
		if (trial.made.plan->proof.space)
			planned->space = arena_text(slot->arena, trial.made.plan->proof.space);
	}
	if (!task->recipe.aim.brief)
		leaving_of(slot)->planned = planned;
	arena_release(slot->scratch, mark);
}

/* A plan for each goal that is worth one. */
static void recipe_offer(const struct graph *graph, const struct recipe *recipe, const char *solver,
	struct slot *slot)
{
	struct arena_mark mark = arena_mark(slot->scratch);
	struct recipe_result laid_out = {0};
	if (arch_moves_boxes(recipe->arch))
		laid_out = lay_out(graph, recipe, slot);
	struct plan_trial trial = {
		.found = {.recipe = *recipe, .common.solver = solver}, .laid_out = &laid_out};
	slot->effort.evaluated += laid_out.ticks;
	effort_add(&slot->effort, &laid_out.effort);
	if (laid_out.cut)
		slot->limit = arena_format(slot->arena, "tick limit of %s",
			solver_label(slot->scratch, recipe->joint));
	for (size_t g = 0; g < graph->goals.count && slot->effort.offered < slot->most; g++) {
		trial.found.recipe.goal = graph->goals.at[g];
		if (!arch_moves_boxes(recipe->arch)) { /* nests are of one goal */
			laid_out = lay_out(graph, &trial.found.recipe, slot);
			drive_offer(slot, &trial.found.common);
		} else if (g == 0 || goals_gain(&graph->goals, g, &laid_out))
			drive_offer(slot, &trial.found.common);
	}
	arena_release(slot->scratch, mark);
}

/* Every tiling that is worth having of the only op, for a division; false if it could not be looked at
 * to the end. */
static bool offer_all(const struct graph *graph, const struct recipe *recipe, const char *solver,
	struct slot *slot)
{
	struct arena_mark mark = arena_mark(slot->scratch);
	struct recipe_result laid_out = lay_out(graph, recipe, slot);
	struct plan_trial trial = {
		.found = {.recipe = *recipe, .common.solver = solver}, .laid_out = &laid_out};
	struct op_front front = {.proven = !drive_stops(slot->drive)};
	struct nests_wanted wanted = {.solver = recipe->map,
		.kept = graph->kept,
		.stopper = {slot->drive, drive_stops},
		.constraints = recipe_constraints(recipe)};
	if (laid_out.plan)
		front = stream_front(laid_out.plan, 0, &wanted, OP_ALL_EVALUATIONS, slot->scratch);
	struct op_option *options =
		arena_copy(slot->scratch, front.at, front.count * sizeof *options);
	size_t count = goals_sift(options, front.count, recipe->planning.price);
	slot->effort.evaluated += front.evaluations;
	for (size_t i = 0; i < count; i++) {
		trial.found.recipe.tiles = &options[i];
		drive_offer(slot, &trial.found.common);
	}
	struct score score = trial.outcome.cost.score;
	score.price = recipe->planning.price;
	front.proven &= laid_out.plan || !op_has_inner_nest(recipe->arch, recipe->workload->ops);
	front.proven &= !front.least_count || (count && trial.made.plan && !trial.outcome.why);
	if (front.proven && front.least_count)
		left_out_add(&leaving_of(slot)->left_out, &front, trial.found.recipe.tiles, &score,
			slot->arena);
	arena_release(slot->scratch, mark);
	return front.proven && (!laid_out.plan || laid_out.plan->step_count == 1);
}

/* Every nest that is worth having of the only op; false if there is none. */
static bool offer_nests(const struct graph *graph, const struct recipe *recipe, struct slot *slot)
{
	const char *why;
	const struct op *op = recipe->workload->ops;
	struct plan_trial trial = {.found = {.recipe = *recipe}};
	struct recipe *own = &trial.found.recipe;
	struct arena_mark mark = arena_mark(slot->scratch);
	struct mapping blank = mapping_make(recipe->arch, op);
	struct inner_question question = {
		.arch = recipe->arch, .workload = recipe->workload, .op = op, .mapping = &blank};
	struct wishes wishes = graph->exploration->wishes;
	struct nests_wanted wanted = {.solver = recipe->map, .stopper = {slot->drive, drive_stops}};
	wishes.asker = drive_asker(slot->drive);
	struct explored nests = nests_explore(&question, &wanted, &wishes, slot->scratch, &why);
	if (nests.frontier.count) {
		drive_nest(slot, &nests);
		slot->bound = nests.bound;
		slot->within = nests.within;
	}
	for (size_t i = 0; i < nests.frontier.count; i++) {
		const struct nest_found *nest = nests.frontier.points[i].payload;
		own->nest = &nest->mapping;
		trial.found.common.solver =
			arena_format(slot->arena, "%s place/none", nest->common.solver);
		struct recipe_result laid_out = lay_out(graph, own, slot);
		trial.laid_out = &laid_out;
		drive_offer(slot, &trial.found.common);
	}
	size_t count = nests.frontier.count;
	slot->complete &= count || !nests.effort.refused;
	arena_release(slot->scratch, mark);
	return count;
}

/* Every division of one op, the others as they are. */
static void graph_vary(const struct graph *graph, const struct task *task, struct slot *slot)
{
	const struct workload *workload = task->recipe.workload;
	struct problem problem = {
		.stage = STAGE_DIVIDE,
		.arch = task->recipe.arch,
		.workload = workload,
		.planning = &task->recipe.planning,
		.op = task->op,
	};
	struct answer answer = solve(task->varies, &problem, 0, task->recipe.seed, slot->scratch);
	slot->effort.evaluated += answer.ticks;
	struct mapping *mappings = arena_copy(
		slot->scratch, task->recipe.mappings, workload->op_count * sizeof *mappings);
	struct recipe recipe = task->recipe;
	recipe.mappings = mappings;
	recipe.given = NULL;
	for (size_t i = 0; i < answer.candidate_count && slot->effort.offered < slot->most; i++) {
		if (drive_stops(slot->drive)) {
			slot->complete = false;
			return;
		}
		mappings[task->op] = answer.candidates[i].mappings[0];
		recipe_offer(graph, &recipe, task->solver, slot);
		if (graph->all)
			slot->complete &= offer_all(graph, &recipe, task->solver, slot);
	}
}

/* Every staging tile of one broadcast, the others as they are. */
static void vary_staging(const struct graph *graph, const struct task *task, struct slot *slot)
{
	const struct planning *now = &task->recipe.planning,
			      *limits = &graph->exploration->planning;
	const char *op = task->recipe.workload->ops[task->op].name;
	struct recipe recipe = task->recipe;
	recipe.given = NULL;
	recipe.planning.staging_bytes = limits->staging_bytes;
	for (size_t i = 0; i < staging_option_count(now, op) && slot->effort.offered < slot->most;
		i++) {
		if (drive_stops(slot->drive))
			return;
		recipe.planning.menus = staging_menus_with(now, limits, op, i, slot->arena);
		if (recipe.planning.menus)
			recipe_offer(graph, &recipe, task->solver, slot);
	}
}

static void run_task(void *self, size_t i, struct slot *slot)
{
	const struct graph *graph = self;
	const struct task *task = &graph->tasks.at[i];
	slot->complete = graph->all && !goals_may_clone(graph->exploration);
	if (recipe_is_whole(&task->recipe))
		offer_whole(graph, task, slot);
	else if (task->op >= 0 &&
		 task->recipe.workload->ops[task->op].primitive->kind == OP_BROADCAST)
		vary_staging(graph, task, slot);
	else if (task->op >= 0)
		graph_vary(graph, task, slot);
	else if (!graph->all || arch_moves_boxes(task->recipe.arch) ||
		 !offer_nests(graph, &task->recipe, slot))
		recipe_offer(graph, &task->recipe, task->solver, slot);
}

/* Offers the plan that the specs bring, or the one of the published passes, before anything is searched. */
static void start(void *self, struct slot *slot)
{
	struct graph *graph = self;
	const struct task first = task_start(graph->exploration, slot->arena);
	slot->complete = graph->all;
	graph->starting = true;
	if (first.solver)
		recipe_offer(graph, &first.recipe, first.solver, slot);
	graph->starting = false;
}

static const char *price_found(
	void *self, struct found *found, struct slot *slot, struct score *score)
{
	struct plan_trial *trial = (struct plan_trial *)found;
	trial->made = recipe_tile(&trial->found.recipe, trial->laid_out, slot->scratch);
	if (!trial->made.plan)
		return trial->made.why;
	slot->effort.evaluated++;
	trial->outcome = evaluate_cost(trial->made.plan, slot->scratch);
	*score = trial->outcome.cost.score;
	score->price = ((const struct graph *)self)->exploration->planning.price;
	const struct proof *proof = &trial->made.plan->proof;
	enum objective first = ((const struct graph *)self)->exploration->wishes.objectives.at[0];
	found->proof = proof->status;
	if (recipe_is_whole(&trial->found.recipe)) /* of a frontier it proves more, or less */
		found->proof = plans_is_alone(&trial->found.recipe.aim, first) && proof->bound > 0
				       ? PROOF_BOUND
				       : PROOF_NONE;
	found->bound = proof->bound;
	found->gap = proof->value - proof->bound;
	return trial->outcome.why;
}

/* Sets the bound that progress shows until a search proves a better one. */
static void show_floor(
	void *self, size_t task, const struct slot *slot, double *best, double *bound)
{
	const struct exploration *exploration = ((const struct graph *)self)->exploration;
	if (*bound <= 0 && exploration->wishes.objectives.at[0] == OBJECTIVE_LATENCY &&
		arch_moves_boxes(exploration->arch))
		*bound = (double)latency_floor(
			exploration->arch, exploration->workload, exploration->planning.cores);
}

static const char *label(void *self, const struct found *found, struct arena *arena)
{
	return found->solver;
}

/* Adds the floor of the model, the bound of a search that was stopped before it proved anything. */
static void add_floor(struct graph *graph)
{
	const struct exploration *exploration = graph->exploration;
	const struct arch *arch = exploration->arch;
	int cores = exploration->planning.cores;
	int64_t cycles = arch_moves_boxes(arch) ? latency_floor(arch, exploration->workload, cores)
						: nests_floor(arch, exploration->workload);
	*array_add(graph->arena, &graph->planned) =
		(struct planned){.asked = {cores, {.cycles = 1}}, .bound = (double)cycles};
}

/* Adds the bound of the space without constraints of LX, which has all plans that keep them. */
static void add_free(struct graph *graph)
{
	const struct proof *free = graph->exploration->free;
	if (!free || (free->status != PROOF_OPTIMAL && free->status != PROOF_BOUND))
		return;
	*array_add(graph->arena, &graph->planned) =
		(struct planned){.asked = {graph->exploration->planning.cores, {.cycles = 1}},
			.bound = free->bound,
			.space = free->space};
}

/* The truth, if any point is to be executed with data. */
static void prepare_last(void *self, struct explored *explored, struct arena *arena)
{
	struct graph *graph = self;
	const struct exploration *exploration = graph->exploration;
	bool proves = arch_moves_boxes(exploration->arch) || exploration->workload->op_count < 2;
	if (!explored->complete && (!proves || stopper_stops(&exploration->wishes.asker.stopper)))
		add_floor(graph);
	add_free(graph);
	if (graph->planned.count && !explored->complete) {
		plans_note(&graph->planned, explored);
		explored->more = plans_spaces(&graph->planned, arena);
	} else if (explored->complete)
		left_out_note(&graph->left_out, explored);
	if (exploration->wishes.simulate == SIMULATE_NONE ||
		stopper_stops(&exploration->wishes.asker.stopper))
		return; /* then the last round counts */
	for (size_t i = 0; i < explored->frontier.count; i++) {
		if (evaluate_mode(exploration->workload, exploration->arch,
			    &explored->frontier.points[i].score) != SIM_DATA)
			continue;
		graph->truth = evaluate_truth(
			exploration->workload, exploration->arch, exploration->wishes.seed, arena);
		return;
	}
}

/* The plan of what was kept is made again. */
static bool graph_restore(const struct graph *graph, struct plan_trial *trial,
	const struct found *found, struct slot *slot)
{
	trial->found = *(const struct plan_found *)found;
	struct recipe_result laid_out = lay_out(graph, &trial->found.recipe, slot);
	trial->made = recipe_tile(&trial->found.recipe, &laid_out, slot->scratch);
	if (!trial->made.plan && !trial->made.stopped)
		BUG("a plan cannot be made again: %s", trial->made.why);
	if (trial->made.plan)
		trial->outcome = evaluate_cost(trial->made.plan, slot->scratch);
	return trial->made.plan;
}

static const char *execute(void *self, struct found *found, struct slot *slot, bool last)
{
	const struct graph *graph = self;
	const struct exploration *exploration = graph->exploration;
	struct plan_trial restored, *trial = last ? &restored : (struct plan_trial *)found;
	if (last && !graph_restore(graph, &restored, found, slot))
		return NULL;
	struct outcome *outcome = &trial->outcome;
	const struct score *score = &outcome->cost.score;
	struct stopper stopper = {slot->drive, drive_stops};
	struct simulation how = {
		.mode = last && !slot->drive->hurried
				? evaluate_mode(exploration->workload, exploration->arch, score)
				: SIM_COUNT,
		.truth = &graph->truth,
		.steps_most = exploration->wishes.simulate_budget,
		.stopper = &stopper};
	evaluate_simulate(outcome, &how, slot->scratch);
	evaluate_execution(outcome, &found->execution, slot->scratch);
	if (last && found->execution.finished &&
		gap_is_large(exploration->arch, score->cycles, found->execution.cycles)) {
		const char *why = gap_explain(outcome, slot->scratch);
		found->execution.why_longer = why ? arena_text(slot->arena, why) : NULL;
	}
	return outcome->why;
}

static const struct drive_kind graphs = {
	.start = start,
	.tasks = make_tasks,
	.wants = count_wants,
	.run = run_task,
	.price = price_found,
	.execute = execute,
	.key = key,
	.label = label,
	.worth = show_floor,
	.keep = keep_found,
	.merge = merge,
	.finish = prepare_last,
	.counts_offers = true,
};

struct explored explore(const struct exploration *exploration, struct arena *arena)
{
	struct graph graph = {.exploration = exploration,
		.arena = arena,
		.kept = kept_open(),
		.goals = goals_of(&exploration->wishes.objectives, &exploration->planning),
		.all = goals_are_all(exploration)};
	struct explored explored = drive_explore(&graphs, &graph, &exploration->wishes, arena);
	struct kept_tally tally = kept_tally(graph.kept);
	explored.effort.asked = tally.asked;
	explored.effort.known = tally.asked - tally.distinct;
	explored.effort.evaluated += tally.work;
	kept_close(graph.kept);
	return explored;
}
