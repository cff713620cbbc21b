#include "lower/graph/lower_tiles.h"

#include "base/arena.h"
#include "lower/graph/lower_step.h"
#include "model/graph/run.h"

#include <inttypes.h>

/* `op` has the extents of the iteration. */
static void divide_loop(const struct plan *plan, int step, const struct op *op, int l,
	int64_t divisor, struct step_tiling *tiling)
{
	const struct mapping *mapping = &plan->steps[step].mapping;
	int64_t grain = op_grain(plan->workload, op, l);
	int64_t units = op_units(plan->workload, op, l) / mapping_split(plan->arch, mapping, l);
	tiling->factor[l] = mapping->rows[plan->arch->lx].temporal[l];
	tiling->extent[l] = op->loops[l].extent;
	tiling->share[l] = units * grain;
	tiling->span[l] = units / tiling->factor[l] * grain;
	int64_t split = mapping_split(plan->arch, mapping, l);
	for (int c = 0; c < tiling->cores; c++)
		tiling->start[c][l] = tiling->first[l] + c / divisor % split * tiling->share[l];
}

/* False when the tiles cannot be counted. */
static bool order_loops(
	const struct mapping_row *row, const struct op *op, struct step_tiling *tiling)
{
	tiling->tiles = tiling->passes = 1;
	for (int i = 0; i < tiling->loop_count; i++) {
		int l = row->temporal_order[i];
		tiling->order[i] = l;
		if (!number_mul(tiling->tiles, tiling->factor[l], &tiling->tiles))
			return false;
		if (op->loops[l].reduction)
			tiling->passes *= tiling->factor[l];
	}
	return true;
}

const char *tiling_make(const struct plan *plan, int step, int64_t iteration, struct arena *arena,
	struct step_tiling *tiling)
{
	const struct mapping *mapping = &plan->steps[step].mapping;
	const struct tile_run *run = plan_run(plan, step);
	struct arena_mark mark = arena_mark(arena);
	const struct op *whole = &plan->workload->ops[plan->steps[step].op];
	const struct op *op = run_op(arena, plan->workload, whole, run, iteration);
	bool moves = plan_is_move(plan, step) || plan_is_evict(plan, step);
	struct move move = moves ? move_find(plan, step) : (struct move){0};
	int64_t cores = moves ? move.cores : mapping_cores(plan->arch, mapping);
	if (cores > PROGRAM_CORES_MOST)
		return arena_format(arena, "op '%s' uses %" PRId64 " cores; a program can name %d",
			op->name, cores, PROGRAM_CORES_MOST);
	tiling->cores = (int)cores;
	tiling->loop_count = op->loop_count;
	tiling->reduction_split = mapping_reduction_split(plan->arch, op, mapping);
	for (int l = 0; l < op->loop_count; l++) {
		tiling->first[l] = run_part(plan->workload, whole, run, iteration, l).first;
		divide_loop(plan, step, op, l,
			moves ? move.divisor[l] : mapping_divisor(plan->arch, mapping, l), tiling);
	}
	if (!order_loops(&mapping->rows[plan->arch->lx], op, tiling))
		return arena_format(arena, "op '%s' has too many tiles", op->name);
	arena_release(arena, mark);
	return NULL;
}

uint32_t tile_next(const struct step_tiling *tiling, struct tile *tile)
{
	uint32_t moved = 0;
	tile->number++;
	for (int i = 0; i < tiling->loop_count; i++) {
		int l = tiling->order[i];
		if (tiling->factor[l] == 1)
			continue;
		moved |= UINT32_C(1) << l;
		if (++tile->at[l] < tiling->factor[l])
			return moved;
		tile->at[l] = 0;
	}
	return 0;
}

static bool starts_alike(const struct step_tiling *tiling, uint32_t loops, int a, int b)
{
	for (uint32_t m = loops; m; m &= m - 1) {
		int l = __builtin_ctz(m);
		if (tiling->start[a][l] != tiling->start[b][l])
			return false;
	}
	return true;
}

void tiling_group(const struct step_tiling *tiling, uint32_t loops, struct grouping *grouping)
{
	grouping->count = 0;
	for (int c = 0; c < tiling->cores; c++) {
		int k = 0;
		while (k < grouping->count && !starts_alike(tiling, loops, grouping->leader[k], c))
			k++;
		if (k == grouping->count) {
			grouping->leader[k] = c;
			grouping->mask[k] = 0;
			grouping->count++;
		}
		grouping->of[c] = k;
		grouping->mask[k] |= UINT64_C(1) << c;
	}
}

/* The loops between two levels of a nest, outermost first. */
struct loops_between {
	int count;
	struct {
		int level, loop;
	} at[ARCH_LEVELS_MOST * OP_LOOPS_MOST];
};

static bool keeps(const struct inner_nest *nest, int level, int space)
{
	const struct nest_level *at = &nest->hierarchy->levels[level];
	return at->storage && nest->mapping.residency[space] >> at->row & 1 &&
	       !(at->no_coalesce >> space & 1);
}

/* Those that run outside the tiles of a level, or of the multipliers: -1. */
static void list_loops(const struct inner_nest *nest, int level, struct loops_between *loops)
{
	loops->count = 0;
	for (int i = nest->hierarchy->level_count - 1; i > level; i--) {
		const struct mapping_row *row = &nest->mapping.rows[nest->hierarchy->levels[i].row];
		for (int k = nest->shape->dimension_count - 1; k >= 0; k--) {
			int l = row->temporal_order[k];
			if (row->temporal[l] > 1) {
				loops->at[loops->count].level = i;
				loops->at[loops->count++].loop = l;
			}
		}
	}
}

/* True if instances that share sums send each its own: no_reuse (spatial) between two levels. */
static bool sends_apart(const struct inner_nest *nest, int level, int space)
{
	for (int i = level + 1; i < nest->hierarchy->level_count; i++) {
		const struct nest_level *at = &nest->hierarchy->levels[i];
		for (int l = 0; l < nest->shape->dimension_count; l++)
			if (at->block_row >= 0 && at->no_spatial_reuse >> space & 1 &&
				!(nest->shape->spaces[space].relevant >> l & 1) &&
				nest->mapping.rows[at->block_row].spatial[l] > 1)
				return true;
	}
	return false;
}

/*
 * Whether a word of the output comes to the outermost level more often than once.  A sum
 * leaves the level below that keeps it when the innermost loop that moves its tile goes on, or
 * at every step where no tile is kept; so it comes again if a loop that does not
 * move the tile runs around that.
 */
static bool adds_up(const struct inner_nest *nest, int space)
{
	uint32_t relevant = nest->shape->spaces[space].relevant;
	int level = nest->hierarchy->level_count - 2;
	struct loops_between loops;
	while (level >= 0 && !keeps(nest, level, space))
		level--;
	list_loops(nest, level, &loops);
	bool stays = level >= 0 && !(nest->hierarchy->levels[level].no_temporal_reuse >> space & 1);
	while (stays && loops.count > 0 && !(relevant >> loops.at[loops.count - 1].loop & 1))
		loops.count--;
	for (int k = 0; k < loops.count; k++)
		if (!(relevant >> loops.at[k].loop & 1))
			return true;
	return sends_apart(nest, level, space);
}

bool nest_open(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	struct inner_question question =
		inner_nest_question(lowering->queues.arena, lowering->plan, step->number);
	question.resumes =
		run_resumes(step->op, plan_run(lowering->plan, step->number), step->iteration);
	const char *why;
	struct inner_nest nest = inner_nest_make(&question, lowering->queues.arena, &why);
	step->nest = NULL;
	step->adds_up = false;
	if (why)
		return refuse(lowering, "op '%s': %s", step->op->name, why);
	if (!nest.hierarchy)
		return true;
	step->nest = arena_copy(lowering->queues.arena, &nest, sizeof nest);
	step->adds_up = adds_up(&nest, step->op->read_count);
	return true;
}
