#include "search/graph/goals.h"

#include "base/arena.h"
#include "constraints/kind.h"
#include "search/drive/solver.h"
#include "search/graph/explore.h"
#include "search/graph/op_constraints.h"

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

/* Sums of edp are no edp of sums, so its own goal does not promise anything. */
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

static double worth(const struct goals *goals, size_t g, const struct op_value *value)
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
	return worth(goals, g, &own) < worth(goals, g, &first);
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

static bool beats(const struct op_value *a, const struct op_value *b, enum price price)
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
			beaten = beats(&options[k].value, &options[i].value, price);
		if (!beaten) {
			struct op_option swapped = options[kept];
			options[kept++] = options[i];
			options[i] = swapped;
		}
	}
	return kept;
}

/* True if two recipes lay out the same plan and go on from it alike. */
static bool alike(const struct recipe *a, const struct recipe *b)
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

static void add(struct recipes *recipes, const struct frontier *frontier)
{
	for (size_t i = 0; i < frontier->count; i++) {
		const struct plan_found *found = frontier->points[i].payload;
		bool known = found->recipe.joint && found->recipe.joint->plans_all;
		for (size_t k = 0; k < recipes->count && !known; k++)
			known = alike(recipes->at[k], &found->recipe);
		if (!known)
			recipes->at[recipes->count++] = &found->recipe;
	}
}

struct recipes recipes_of(
	const struct frontier *first, const struct frontier *second, struct arena *arena)
{
	struct recipes recipes = {
		.at = arena_array(arena, const struct recipe *, first->count + second->count)};
	add(&recipes, first);
	add(&recipes, second);
	return recipes;
}
