#include "lower/graph/lower_tiles.h"

#include "base/arena.h"
#include "model/graph/move.h"
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
