#include "lower/graph/lower_step.h"

static struct clone *open_clone(struct lowering *lowering)
{
	const struct step_state *step = &lowering->step;
	const struct supply *supply = &step->supplies[0];
	struct clone *clone = arena_new(lowering->queues.scratch, struct clone);
	clone->tensor = step->op->writes[0].tensor;
	clone->tiling = step->tiling;
	clone->projection = supply->projection;
	clone->classes = supply->classes;
	clone->arrived = arena_alloc_array(lowering->queues.scratch, (size_t)step->tiling.tiles,
		(size_t)supply->classes.count * sizeof(int64_t));
	return clone;
}

bool clone_lower(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	struct supply *supply = &step->supplies[0];
	const struct residency *stay =
		plan_lx(lowering->plan, step->op->writes[0].tensor, step->number);
	if (!supplies_open(lowering) || !slices_open(lowering, stay, &supply->slices))
		return false;
	supply->resident = true;
	struct clone *clone = open_clone(lowering);
	do {
		if (is_full(lowering) || !supply_move(lowering, supply))
			return false;
		for (int k = 0; k < supply->classes.count; k++)
			clone->arrived[step->tile.number * supply->classes.count + k] =
				supply->held[k].arrived;
	} while (tile_next(&step->tiling, &step->tile));
	*array_add(lowering->queues.scratch, &lowering->clones) = clone;
	return true;
}

/* Does the clone's tile begin at or before the end of the box? */
static bool begins_in(
	const struct clone *clone, const struct tile *tile, int core, const struct region *box)
{
	struct region part;
	projection_box(&clone->projection, &clone->tiling, tile, core, &part);
	for (int d = 0; d < box->rank; d++) {
		if (part.first[d] >= (int64_t)box->first[d] + box->count[d])
			return false;
	}
	return true;
}

/*
 * Tiles begin later the further their loop has gone, so of the tiles that meet
 * the box the last one has gone furthest in every loop.
 */
int64_t clone_arrival(const struct clone *clone, const struct region *box, int core)
{
	const struct step_tiling *tiling = &clone->tiling;
	int64_t number = 0, weight = 1;
	if (core >= tiling->cores)
		return -1;
	for (int i = 0; i < tiling->loop_count; i++) {
		int l = tiling->order[i];
		int64_t low = 0, high = tiling->factor[l] - 1;
		while (low < high) {
			struct tile probe = {0};
			probe.at[l] = low + (high - low + 1) / 2;
			if (begins_in(clone, &probe, core, box))
				low = probe.at[l];
			else
				high = probe.at[l] - 1;
		}
		number += low * weight;
		weight *= tiling->factor[l];
	}
	return clone->arrived[number * clone->classes.count + clone->classes.of[core]];
}
