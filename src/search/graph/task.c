#include "search/graph/task.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "constraints/kind.h"
#include "search/drive/solver.h"
#include "search/graph/explore.h"
#include "search/graph/lx.h"
#include "search/graph/nests.h"
#include "search/graph/options.h"

static const struct {
	enum objective objective;
	enum tile_goal goal;
} of_objectives[] = {
	{OBJECTIVE_LATENCY, TILES_LATENCY},
	{OBJECTIVE_ENERGY, TILES_ENERGY},
	{OBJECTIVE_HBM_BYTES, TILES_HBM_BYTES},
	{OBJECTIVE_EDP, TILES_EDP},
};
enum { OBJECTIVES = sizeof of_objectives / sizeof *of_objectives };

/* a sum of edp is not the edp of sums, so its own goal does not promise anything */
struct goals goals_of(const struct objectives *objectives, const struct planning *planning)
{
	struct goals goals = {.price = planning->price};
	if (planning->published_tiles)
		return (struct goals){1, {TILES_PUBLISHED}, planning->price};
	if (objectives->count > 1 || objectives_have(objectives, OBJECTIVE_EDP))
		goals.at[goals.count++] = TILES_ALL;
	for (size_t i = 0; i < OBJECTIVES; i++)
		if (objectives_have(objectives, of_objectives[i].objective))
			goals.at[goals.count++] = of_objectives[i].goal;
	if (!goals.count)
		goals.at[goals.count++] = TILES_ALL;
	return goals;
}

static double goal_value(const struct goals *goals, size_t g, const struct op_value *value)
{
	double latency = (double)op_value_latency(value, goals->price);
	switch (goals->at[g]) {
	case TILES_ENERGY:
		return value->energy_pj;
	case TILES_HBM_BYTES:
		return (double)value->hbm_bytes;
	case TILES_EDP:
		return value->energy_pj * latency;
	default:
		return latency;
	}
}

bool goals_gain(const struct goals *goals, size_t g, const struct recipe_result *laid_out)
{
	if (!laid_out->plan || !laid_out->choices)
		return false;
	struct op_value first = stream_value(laid_out->plan, laid_out->choices, goals->at[0]);
	struct op_value own = stream_value(laid_out->plan, laid_out->choices, goals->at[g]);
	return goal_value(goals, g, &own) < goal_value(goals, g, &first);
}

/* True if an op reads a tensor twice: a clone of it may pay. */
static bool reads_twice(const struct op *op)
{
	for (int i = 0; i < op->read_count; i++)
		for (int k = 0; k < i; k++)
			if (op->reads[i].tensor == op->reads[k].tensor)
				return true;
	return false;
}

/* True if no constraint is about tiles and nests together: one that is may keep a nest that is worse by
 * itself. */
static bool may_choose_nests(const struct exploration *exploration)
{
	const struct constraints *constraints = exploration->planning.constraints;
	for (size_t i = 0; constraints && i < constraints->count; i++) {
		const struct constraint *at = &constraints->at[i];
		bool inside = op_constraints_inside(exploration->arch, at);
		if (!inside && at->part != PART_TEMPORAL && at->part != PART_SPATIAL)
			return false;
	}
	return true;
}

bool goals_are_all(const struct exploration *exploration)
{
	const struct arch *arch = exploration->arch;
	const struct op *op = exploration->workload->ops;
	bool enumerates = false;
	for (size_t i = 0; i < exploration->divide.count; i++)
		enumerates |= exploration->divide.at[i]->sharing == SHARING_ENUMERATION;
	if (exploration->workload->op_count != 1 || !op_is_tiled(op) || exploration->start ||
		exploration->wishes.budget)
		return false;
	if (!arch_moves_boxes(arch))
		return !exploration->planning.constraints ||
		       !exploration->planning.constraints->count;
	return enumerates && !reads_twice(op) && !exploration->planning.published_tiles &&
	       (!op_has_inner_nest(arch, op) || may_choose_nests(exploration));
}

bool goals_may_clone(const struct exploration *exploration)
{
	const struct planning *planning = &exploration->planning;
	return arch_moves_boxes(exploration->arch) && exploration->arch->lx >= 0 &&
	       op_is_tiled(exploration->workload->ops) && planning->lx_planning &&
	       planning->clones != CLONE_OFF &&
	       name_list_has(&planning->eligible, primitive_clone.name) &&
	       !(planning->constraints && planning->constraints->problem);
}

static bool op_value_beats(const struct op_value *a, const struct op_value *b, enum price price)
{
	int64_t x = op_value_latency(a, price), y = op_value_latency(b, price);
	bool equal = x == y && a->energy_pj == b->energy_pj && a->hbm_bytes == b->hbm_bytes;
	return x <= y && a->energy_pj <= b->energy_pj && a->hbm_bytes <= b->hbm_bytes &&
	       (!equal || a->estimate < b->estimate);
}

size_t goals_sift(struct op_option *options, size_t count, enum price price)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		bool beaten = false;
		for (size_t k = 0; k < count && !beaten; k++)
			beaten = op_value_beats(&options[k].value, &options[i].value, price);
		if (!beaten) {
			struct op_option swapped = options[kept];
			options[kept++] = options[i];
			options[i] = swapped;
		}
	}
	return kept;
}

/* True if two recipes lay out the same plan and go on from it alike. */
static bool recipe_alike(const struct recipe *a, const struct recipe *b)
{
	const struct planning *p = &a->planning, *q = &b->planning;
	if (a->place != b->place || a->given != b->given || p->cores != q->cores ||
		p->k_fast != q->k_fast || p->clones != q->clones ||
		p->staging_bytes != q->staging_bytes || p->menus != q->menus)
		return false;
	for (size_t o = 0; o < a->workload->op_count; o++)
		if (!mapping_equal(&a->mappings[o], &b->mappings[o]))
			return false;
	return true;
}

struct recipes recipes_of(const struct frontier *frontier, struct arena *arena)
{
	struct recipes recipes = {.at = arena_array(arena, const struct recipe *, frontier->count)};
	for (size_t i = 0; i < frontier->count; i++) {
		const struct plan_found *found = frontier->points[i].payload;
		bool known = found->recipe.joint && found->recipe.joint->plans_all;
		for (size_t k = 0; k < recipes.count && !known; k++)
			known = recipe_alike(recipes.at[k], &found->recipe);
		if (!known)
			recipes.at[recipes.count++] = &found->recipe;
	}
	return recipes;
}

size_t explore_cores(int most, int *out)
{
	size_t count = 0;
	for (int cores = 1; cores < most; cores *= 2)
		out[count++] = cores;
	out[count++] = most;
	return count;
}

static struct recipe recipe_make(
	const struct exploration *exploration, int cores, const struct solver *place)
{
	struct recipe recipe = {
		.arch = exploration->arch,
		.workload = exploration->workload,
		.planning = exploration->planning,
		.place = place,
		.map = exploration->map,
		.joint_ticks = exploration->joint_ticks,
		.plan_ticks = exploration->plan_ticks,
		.seed = exploration->wishes.seed,
	};
	recipe.planning.cores = cores;
	if (exploration->place_ticks)
		recipe.planning.place_ticks = exploration->place_ticks;
	return recipe;
}

/* By `asked`, or staging tiles if NULL. */
static struct task *tasks_add_task(
	struct tasks *tasks, struct arena *arena, struct recipe recipe, const struct solver *asked)
{
	struct task *task = array_add(arena, tasks);
	*task = (struct task){
		.recipe = recipe,
		.solver =
			arena_format(arena, "%s %s", asked ? solver_label(arena, asked) : "staging",
				recipe.planning.lx_planning ? solver_label(arena, recipe.place)
							    : "place/none"),
		.op = -1,
	};
	return task;
}

static bool solver_enumerates(const struct solver *solver)
{
	return solver->sharing == SHARING_ENUMERATION;
}

struct portfolio explore_dividers(const struct exploration *exploration)
{
	struct portfolio whole = {0};
	for (size_t i = 0; i < exploration->divide.count; i++)
		if (!solver_enumerates(exploration->divide.at[i]))
			portfolio_add(&whole, exploration->divide.at[i]);
	return whole.count ? whole : portfolio_for(STAGE_DIVIDE, FOR_GRAPHS);
}

static void add_divided(struct tasks *tasks, const struct exploration *exploration,
	struct recipe recipe, struct arena *arena)
{
	for (int k = 0; k <= exploration->vary_k_fast; k++) {
		if (exploration->vary_k_fast)
			recipe.planning.k_fast = k == 0;
		tasks_add_task(tasks, arena, recipe, recipe.divide);
	}
}

void tasks_plans(struct tasks *tasks, const struct exploration *exploration,
	const struct plan_aims *aims, struct arena *arena)
{
	struct recipe recipe =
		recipe_make(exploration, exploration->planning.cores, exploration->place.at[0]);
	for (size_t i = 0; i < aims->count; i++)
		for (size_t j = 0; j < exploration->joint.count; j++) {
			if (!exploration->joint.at[j]->plans_all)
				continue;
			recipe.joint = exploration->joint.at[j];
			recipe.planning.cores = aims->at[i].cores;
			recipe.plan_ticks = exploration->plan_ticks;
			if (recipe.planning.cores < exploration->planning.cores)
				recipe.plan_ticks = (recipe.plan_ticks + PLANS_FEWER_PARTS - 1) /
						    PLANS_FEWER_PARTS;
			recipe.aim = aims->at[i].aim;
			recipe.aim.fixed = exploration->fixed;
			tasks_add_task(tasks, arena, recipe, recipe.joint)->solver =
				solver_label(arena, recipe.joint);
		}
}

/* One core count and one clone setting. */
static void add_candidates(struct tasks *tasks, const struct exploration *exploration, int cores,
	enum clone_split clones, struct arena *arena)
{
	struct recipe recipe = recipe_make(exploration, cores, exploration->place.at[0]);
	const struct portfolio dividers = explore_dividers(exploration);
	recipe.planning.clones = clones;
	for (size_t d = 0; exploration->divide.count && d < dividers.count; d++)
		for (size_t p = 0; p < exploration->place.count; p++) {
			recipe.divide = dividers.at[d];
			recipe.place = exploration->place.at[p];
			add_divided(tasks, exploration, recipe, arena);
		}
	recipe.divide = dividers.at[0];
	size_t places = exploration->divide.count ? 1 : exploration->place.count;
	for (size_t j = 0; j < exploration->joint.count; j++)
		for (size_t p = 0; p < places && !exploration->joint.at[j]->plans_all; p++) {
			recipe.joint = exploration->joint.at[j];
			recipe.place = exploration->place.at[p];
			tasks_add_task(tasks, arena, recipe, recipe.joint);
		}
}

/* Adds the tasks of steps that are whole nests: with placements of
 * solvers, and with nothing placed. One op has nothing to place. */
static void tasks_add_nests(
	struct tasks *tasks, const struct exploration *exploration, struct arena *arena)
{
	bool places_some = exploration->planning.lx_planning && !goals_are_all(exploration);
	size_t places = places_some ? exploration->place.count : 0;
	for (size_t p = 0; p <= places; p++) {
		struct recipe recipe = recipe_make(exploration, exploration->cores[0],
			exploration->place.at[p < places ? p : 0]);
		recipe.planning.lx_planning = p < places;
		tasks_add_task(tasks, arena, recipe,
			recipe.map ? recipe.map : solver_for(STAGE_MAP, FOR_PROBLEMS));
	}
}

struct task task_start(const struct exploration *exploration, struct arena *arena)
{
	struct tasks tasks = {0};
	if (exploration->start) {
		struct recipe recipe = recipe_make(
			exploration, exploration->start->cores, exploration->place.at[0]);
		recipe.given = exploration->start;
		return (struct task){.recipe = recipe, .solver = "start", .op = -1};
	}
	bool boxes = arch_moves_boxes(exploration->arch);
	if (boxes ? !exploration->divide.count : exploration->workload->op_count < 2)
		return (struct task){0};
	struct recipe recipe =
		recipe_make(exploration, exploration->planning.cores, exploration->place.at[0]);
	if (!boxes) {
		recipe.planning.lx_planning = false;
		recipe.brief = true;
		return *tasks_add_task(&tasks, arena, recipe, solver_for(STAGE_MAP, FOR_STARTS));
	}
	recipe.divide = explore_dividers(exploration).at[0];
	return *tasks_add_task(&tasks, arena, recipe, recipe.divide);
}

/* One op of a plan takes all that it can be. */
static void add_varied(struct tasks *tasks, const struct exploration *exploration,
	const struct recipe *recipe, int op, struct arena *arena)
{
	const struct portfolio *divide = &exploration->divide;
	enum op_kind kind = exploration->workload->ops[op].primitive->kind;
	bool staged = false;
	for (size_t d = 0; kind != OP_OPAQUE && d < divide->count && !staged; d++) {
		if (!solver_enumerates(divide->at[d]))
			continue;
		staged = kind == OP_BROADCAST;
		const struct solver *varies = staged ? NULL : divide->at[d];
		struct task *task = tasks_add_task(tasks, arena, *recipe, varies);
		task->op = op;
		task->varies = varies;
	}
}

/* True if the divisions of the only op are asked for by themselves: constraints of a problem may leave some that no
 * other round comes near, and heuristics that choose nests may find a better one for an op whose inputs stream. */
static bool asks_for_divisions(const struct exploration *exploration)
{
	const struct constraints *constraints = exploration->planning.constraints;
	return (constraints && constraints->problem) ||
	       (exploration->workload->op_count == 1 && exploration->place.count &&
		       !exploration->start && goals_may_clone(exploration) &&
		       op_has_inner_nest(exploration->arch, exploration->workload->ops));
}

static void add_divisions(
	struct tasks *tasks, const struct exploration *exploration, struct arena *arena)
{
	struct recipe recipe =
		recipe_make(exploration, exploration->planning.cores, exploration->place.at[0]);
	struct mapping *undivided = arena_new(arena, struct mapping);
	*undivided = mapping_make(exploration->arch, &exploration->workload->ops[0]);
	recipe.planning.clones = CLONE_OFF;
	recipe.mappings = undivided;
	add_varied(tasks, exploration, &recipe, 0, arena);
}

/* The same plans in brief spaces, whose labels are few. */
static void add_brief(struct tasks *tasks, const struct exploration *exploration,
	struct plan_aims aims, struct arena *arena)
{
	size_t first = tasks->count;
	tasks_plans(tasks, exploration, &aims, arena);
	for (size_t i = first; i < tasks->count; i++)
		tasks->at[i].recipe.aim.brief = true;
}

/* True if pricing the tilings of all ops takes longer than a person waits for a first plan. */
static bool is_large(const struct exploration *exploration, struct arena *arena)
{
	const struct workload *workload = exploration->workload;
	bool boxes = arch_moves_boxes(exploration->arch);
	struct arena_mark mark = arena_mark(arena);
	double tilings = 0;
	for (size_t o = 0; boxes && o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		double own = op_is_tiled(op);
		for (int l = 0; l < op->loop_count; l++)
			own *= (double)number_divisors(arena, op_units(workload, op, l)).count;
		tilings += own;
	}
	arena_release(arena, mark);
	return workload->op_count > PLANS_BRIEF_OPS || tilings > PLANS_BRIEF_TILINGS;
}

struct tasks tasks_first(const struct exploration *exploration, struct arena *arena)
{
	struct tasks tasks = {0};
	bool boxes = arch_moves_boxes(exploration->arch);
	if (!boxes)
		tasks_add_nests(&tasks, exploration, arena);
	if (exploration->workload->op_count > 1 || goals_may_clone(exploration)) {
		const struct planned_list none = {0};
		struct plan_aims aims = {0};
		plans_alone(&aims, &exploration->wishes.objectives, &none,
			exploration->planning.cores, arena);
		if (is_large(exploration, arena))
			add_brief(&tasks, exploration, aims, arena);
		tasks_plans(&tasks, exploration, &aims, arena);
	}
	if (asks_for_divisions(exploration))
		add_divisions(&tasks, exploration, arena);
	for (size_t c = 0; boxes && c < exploration->core_count; c++) {
		int cores = exploration->cores[c];
		if (!exploration->vary_clones) {
			add_candidates(
				&tasks, exploration, cores, exploration->planning.clones, arena);
		} else {
			add_candidates(&tasks, exploration, cores, CLONE_OFF, arena);
			add_candidates(&tasks, exploration, cores, CLONE_READERS, arena);
		}
	}
	return tasks;
}

struct tasks tasks_staging(
	const struct exploration *exploration, const struct recipes *from, struct arena *arena)
{
	const struct planning *planning = &exploration->planning;
	struct tasks tasks = {0};
	int64_t most = planning->staging_bytes ? planning->staging_bytes : planning->lx_capacity;
	for (size_t i = 0; planning->menus && i < from->count; i++) {
		struct recipe recipe = *from->at[i];
		int64_t last = most;
		recipe.given = NULL;
		for (int64_t bytes = most / 2; bytes > 0; bytes /= 2) {
			if (staging_limits_alike(planning, bytes, last))
				continue;
			recipe.planning.staging_bytes = last = bytes;
			tasks_add_task(&tasks, arena, recipe, NULL);
		}
	}
	return tasks;
}

struct tasks tasks_varying(const struct exploration *exploration, const struct recipes *from,
	bool once, struct arena *arena)
{
	struct tasks tasks = {0};
	bool divides = arch_moves_boxes(exploration->arch);
	for (size_t i = 0; divides && i < (once && from->count ? 1 : from->count); i++) {
		struct recipe recipe = *from->at[i];
		if (once)
			recipe.planning.cores = exploration->planning.cores;
		for (size_t op = 0; op < exploration->workload->op_count; op++)
			add_varied(&tasks, exploration, &recipe, (int)op, arena);
	}
	return tasks;
}

uint64_t task_wants(const struct task *task, struct arena *arena)
{
	if (task->op < 0)
		return 1;
	struct problem problem = {
		.stage = STAGE_DIVIDE,
		.arch = task->recipe.arch,
		.workload = task->recipe.workload,
		.planning = &task->recipe.planning,
		.op = task->op,
	};
	const struct op *op = &task->recipe.workload->ops[task->op];
	if (op->primitive->kind == OP_BROADCAST)
		return staging_option_count(&task->recipe.planning, op->name);
	struct arena_mark mark = arena_mark(arena);
	uint64_t count = solve(task->varies, &problem, 0, task->recipe.seed, arena).candidate_count;
	arena_release(arena, mark);
	return count;
}
