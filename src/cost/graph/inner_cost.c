#include "cost/graph/inner_cost.h"

#include "base/arena.h"
#include "base/checked.h"

static int64_t tiles_of(const struct inner_question *question)
{
	int64_t tiles = 1;
	bool fits = arch_moves_boxes(question->arch);
	for (int l = 0; fits && l < question->op->loop_count; l++)
		tiles = checked_mul(
			&fits, tiles, question->mapping->rows[question->arch->lx].temporal[l]);
	return tiles;
}

static void evaluate(struct inner_cost *inner, struct arena *arena)
{
	const struct hierarchy *hierarchy = inner->nest.hierarchy;
	inner->model = nest_model_make(arena, hierarchy, inner->nest.shape, COUNTING_EXACT);
	enum nest_verdict verdict =
		nest_evaluate(inner->model, &inner->nest.mapping, &inner->counts, &inner->score);
	inner->why = nest_verdict_text(arena, hierarchy, inner->nest.shape, &inner->score);
	if (!nest_verdict_counts(verdict))
		inner->counts = (struct nest_counts){0};
}

const struct inner_cost *inner_cost_make(const struct inner_question *question, struct arena *arena)
{
	const struct arch *arch = question->arch;
	if (!op_has_inner_nest(arch, question->op))
		return NULL;
	struct inner_cost *inner = arena_new(arena, struct inner_cost);
	int64_t cores = arch_moves_boxes(arch) ? mapping_cores(arch, question->mapping) : 1, times;
	inner->home = inner->scratchpad = -1;
	inner->tiles = tiles_of(question);
	inner->nest = inner_nest_make(question, arena, &inner->why);
	if (!inner->nest.hierarchy)
		return inner;
	inner->home = hierarchy_level(inner->nest.hierarchy, arch->hbm);
	inner->scratchpad = arch->lx < 0 ? -1 : hierarchy_level(inner->nest.hierarchy, arch->lx);
	evaluate(inner, arena);
	if (!number_mul(inner->tiles, cores, &times) ||
		!nest_counts_add(&inner->all, &inner->counts, times))
		inner->why = "a count is larger than 2^63 - 1";
	return inner;
}

struct inner_sums inner_cost_sums(const struct inner_cost *inner)
{
	int output = inner->nest.shape ? inner->nest.shape->space_count - 1 : 0;
	if (inner->scratchpad < 0)
		return (struct inner_sums){0};
	const struct nest_count *count = &inner->counts.at[inner->scratchpad][output];
	return (struct inner_sums){count->capacity, count->updates, count->reads};
}
