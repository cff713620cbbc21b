#include "cost/graph/loopnest.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "model/graph/run.h"

struct loopnest loopnest_make(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *mapping)
{
	const struct mapping_row *cores = &mapping->rows[arch->core];
	const struct mapping_row *tiles = &mapping->rows[arch->lx];
	struct loopnest nest = {.loop_count = op->loop_count, .cores = 1, .copies = 1};
	for (int l = 0; l < op->loop_count; l++) {
		struct loopnest_loop *loop = &nest.loops[l];
		loop->extent = op->loops[l].extent;
		loop->grain = op_grain(workload, op, l);
		loop->units = op_units(workload, op, l);
		loop->split = cores->spatial[l];
		loop->reduction = op->loops[l].reduction;
		if (loop->split < 1 || loop->units % loop->split)
			BUG("op '%s': %d units of loop '%s' in %d parts", op->name,
				(int)loop->units, op->loops[l].name, (int)loop->split);
		loopnest_tile(&nest, l, tiles->temporal[l]);
		nest.order[l] = tiles->temporal_order[l];
		nest.all |= 1u << l;
		if (loop->reduction)
			nest.reductions |= 1u << l;
	}
	for (int i = 0; i < op->loop_count; i++) {
		struct loopnest_loop *loop = &nest.loops[cores->spatial_order[i]];
		loop->divisor = nest.cores;
		nest.cores *= loop->split;
		if (nest.cores > LOOPNEST_CORES_MOST)
			BUG("op '%s' on %d cores", op->name, (int)nest.cores);
	}
	return nest;
}

void loopnest_move(struct loopnest *nest, const struct move *move)
{
	nest->cores = move->cores;
	nest->copies = move->copies;
	for (int l = 0; l < nest->loop_count; l++)
		nest->loops[l].divisor = move->divisor[l];
	if (nest->cores > LOOPNEST_CORES_MOST)
		BUG("a move to %d cores", (int)nest->cores);
}

void loopnest_tile(struct loopnest *nest, int l, int64_t tiles)
{
	struct loopnest_loop *loop = &nest->loops[l];
	int64_t units = loop->units / loop->split;
	if (tiles < 1 || units % tiles)
		BUG("%d units of loop %d in %d tiles", (int)units, l, (int)tiles);
	loop->tiles = tiles;
	loop->chunk = units / tiles * loop->grain;
}

void loopnest_slots(const struct loopnest *nest, int64_t core, int64_t *slots)
{
	for (int l = 0; l < nest->loop_count; l++)
		slots[l] = core / nest->loops[l].divisor % nest->loops[l].split;
}

int64_t loopnest_tiles(const struct loopnest *nest, uint32_t mask, bool *fits)
{
	int64_t product = 1;
	for (int l = 0; l < nest->loop_count; l++)
		if (mask >> l & 1)
			product = checked_mul(fits, product, nest->loops[l].tiles);
	return product;
}

int64_t loopnest_splits(const struct loopnest *nest, uint32_t mask)
{
	int64_t product = 1;
	for (int l = 0; l < nest->loop_count; l++)
		if (mask >> l & 1)
			product *= nest->loops[l].split;
	return product;
}

int64_t loopnest_computes(const struct loopnest *nest, const int64_t *slots, bool *fits)
{
	int64_t product = 1;
	for (int l = 0; l < nest->loop_count; l++) {
		const struct loopnest_loop *loop = &nest->loops[l];
		int64_t part = loop->chunk * loop->tiles, count = loop->extent;
		if (slots)
			count = number_min(count, (slots[l] + 1) * part) - slots[l] * part;
		product = checked_mul(fits, product, count);
	}
	return product;
}

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
