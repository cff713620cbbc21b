#include "lower/graph/lower_step.h"

/* A box that a core sends from its slice of what is evicted. */
static bool send(struct lowering *lowering, const struct operand_projection *projection,
	const struct slices *slices, int core)
{
	const struct step_state *step = &lowering->step;
	struct operand_box *box = arena_new(lowering->queues.arena, struct operand_box);
	struct instruction *instruction;
	box->operand = projection->operand;
	projection_box(projection, &step->tiling, &step->tile, core, &box->region);
	box->lx = location_within(
		&box->region, slices->stay->address, slices->size, slices->origin[core]);
	if (!slices_hold(lowering, slices, &box->region, UINT64_C(1) << core))
		return false;
	queue_open(&lowering->queues, ENGINE_DMA_OUT, UINT64_C(1) << core);
	queue_close(&lowering->queues, step->number, (int)step->tile.number, &instruction);
	instruction->transfer = hbm_transfer(lowering, box, slices->stay->tensor);
	return true;
}

bool evict_lower(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	const struct workload *workload = lowering->plan->workload;
	const struct residency *stay =
		plan_lx(lowering->plan, step->op->reads[0].tensor, step->number);
	struct operand_projection *projection = &step->output.projection;
	struct grouping *classes = &step->output.classes;
	if (workload->tensors[step->op->writes[0].tensor].copy_of)
		return true;
	projection_make(workload, step->op, step->op->read_count, projection);
	tiling_group(&step->tiling, projection->loops, classes);
	if (!slices_open(lowering, stay, &step->output.slices))
		return false;
	do {
		for (int k = 0; k < classes->count; k++) {
			if (is_full(lowering) || !send(lowering, projection, &step->output.slices,
							 classes->leader[k]))
				return false;
		}
	} while (tile_next(&step->tiling, &step->tile));
	return true;
}
