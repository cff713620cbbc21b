#include "lower/graph/lower_step.h"

#include <inttypes.h>

/* What a core leaves of the output in this iteration, all tiles together. */
static void share_box(const struct step_state *step, int core, struct region *box)
{
	static const struct tile first;
	struct step_tiling whole = step->tiling;
	for (int l = 0; l < whole.loop_count; l++)
		whole.span[l] = whole.share[l];
	projection_box(&step->output.projection, &whole, &first, core, box);
}

/* What all cores leave of it lies between these coordinates. */
static void find_written(const struct step_state *step, int64_t *low, int64_t *high)
{
	const struct grouping *classes = &step->output.classes;
	struct region box;
	for (int k = 0; k < classes->count; k++) {
		share_box(step, classes->leader[k], &box);
		for (int d = 0; d < box.rank; d++) {
			int64_t end = (int64_t)box.first[d] + box.count[d];
			low[d] = k ? number_min(low[d], box.first[d]) : box.first[d];
			high[d] = k ? number_max(high[d], end) : end;
		}
	}
}

/*
 * Readers take for granted that every core has all of the slice that the view names: what this iteration
 * makes of it must come from that very core.
 */
static bool fills_slice(
	struct lowering *lowering, int core, const int64_t *low, const int64_t *high)
{
	const struct step_state *step = &lowering->step;
	const struct output *output = &step->output;
	const struct layout *layout = output->projection.layout;
	const char *tensor = lowering->plan->workload->tensors[output->projection.tensor].name;
	int64_t from[LAYOUT_RANK_MOST], to[LAYOUT_RANK_MOST];
	struct region box = {.rank = layout->rank - 1};
	for (int d = 0; d < box.rank; d++) {
		int64_t origin = output->slices.origin[core][d];
		from[d] = number_max(origin, low[d]);
		to[d] = number_min(origin + output->slices.size[d], high[d]);
		if (layout->part[d] != PART_SYNTHETIC && from[d] >= to[d])
			return true;
	}
	bool leads = core < step->tiling.cores &&
		     output->classes.leader[output->classes.of[core]] == core;
	if (!leads)
		return refuse(lowering,
			"op '%s' leaves nothing of '%s' on core %d, whose view has a slice there",
			step->op->name, tensor, core);
	share_box(step, core, &box);
	for (int d = 0; d < box.rank; d++)
		if (layout->part[d] != PART_SYNTHETIC &&
			(from[d] < box.first[d] || to[d] > (int64_t)box.first[d] + box.count[d]))
			return refuse(lowering,
				"op '%s' on core %d leaves %" PRId64 "..%" PRId64
				" of device dimension %d of '%s', whose slice there is %" PRId64
				"..%" PRId64,
				step->op->name, core, (int64_t)box.first[d],
				(int64_t)box.first[d] + box.count[d] - 1, d, tensor, from[d],
				to[d] - 1);
	return true;
}

static bool fills_slices(struct lowering *lowering)
{
	int64_t low[LAYOUT_RANK_MOST], high[LAYOUT_RANK_MOST];
	find_written(&lowering->step, low, high);
	for (uint64_t m = lowering->step.output.slices.holders; m; m &= m - 1)
		if (!fills_slice(lowering, least_core(m), low, high))
			return false;
	return true;
}

bool output_open(struct lowering *lowering)
{
	const struct step_state *step = &lowering->step;
	const struct plan *plan = lowering->plan;
	struct output *output = &lowering->step.output;
	projection_make(plan->workload, step->op, step->op->read_count, &output->projection);
	tiling_group(&step->tiling, output->projection.loops, &output->classes);
	const struct residency *stay = plan_lx(plan, output->projection.tensor, step->number);
	output->resident = stay != NULL;
	output->ring = step->tiling.reduction_split > 1;
	output->finished = 0;
	for (int k = 0; k < output->classes.count; k++) {
		for (int i = 0; i < SLOTS_MOST; i++)
			output->combined[k][i] = output->sent[k][i] = -1;
	}
	const struct primitive *primitive = step->op->primitive;
	if (output->ring && !ring_reduces(&plan->arch->reduce_ring, primitive->partial))
		return refuse(lowering,
			"op '%s' splits a reduction over cores, and the reduce ring cannot combine "
			"'%s'",
			step->op->name,
			primitive->partial ? primitive->partial->name : primitive->name);
	return !stay || (slices_open(lowering, stay, &output->slices) && fills_slices(lowering));
}

/* Where the output tile at work is accumulated; NULL: nowhere. */
static const struct location *place_accumulator(
	const struct output *output, const struct region *box, struct arena *arena)
{
	const struct slots *slots = &output->accumulators;
	if (slots->count == 0)
		return NULL;
	struct location *location = arena_new(arena, struct location);
	*location = location_dense(
		box, slots->address[turn(slots, output->finished)], accumulator_unit(output));
	return location;
}

static bool begin_class(struct lowering *lowering, int k)
{
	const struct step_state *step = &lowering->step;
	struct output *output = &lowering->step.output;
	int owner = output->classes.leader[k];
	struct operand_box *box = arena_new(lowering->queues.arena, struct operand_box);
	box->operand = output->projection.operand;
	projection_box(&output->projection, &step->tiling, &step->tile, owner, &box->region);
	output->box[k] = box;
	output->accumulator[k] = place_accumulator(output, &box->region, lowering->queues.arena);
	if (output->resident) {
		box->lx = location_within(&box->region, output->slices.stay->address,
			output->slices.size, output->slices.origin[owner]);
		return slices_hold(lowering, &output->slices, &box->region, UINT64_C(1) << owner);
	}
	box->lx = location_dense(&box->region,
		output->slots.address[turn(&output->slots, output->finished)], STICK_BYTES);
	return true;
}

bool output_begin(struct lowering *lowering)
{
	for (int k = 0; k < lowering->step.output.classes.count; k++) {
		if (!begin_class(lowering, k))
			return false;
	}
	return true;
}

/* The owner is the least core of its class, all its reduction slots being 0: it comes last. */
static const struct combine *make_combine(const struct lowering *lowering, int k)
{
	const struct step_state *step = &lowering->step;
	const struct output *output = &step->output;
	struct combine *combine = arena_new(lowering->queues.arena, struct combine);
	combine->op = (int)(step->op - lowering->plan->workload->ops);
	combine->primitive = step->op->primitive->partial;
	for (int c = step->tiling.cores - 1; c >= 0; c--) {
		if (output->classes.of[c] == k)
			combine->cores[combine->core_count++] = c;
	}
	combine->region = output->box[k]->region;
	combine->accumulator = *output->accumulator[k];
	combine->output = output->box[k]->lx;
	return combine;
}

static void add_ring(struct lowering *lowering, int k)
{
	struct step_state *step = &lowering->step;
	struct output *output = &step->output;
	struct instruction *instruction;
	queue_open(&lowering->queues, ENGINE_RING, output->classes.mask[k]);
	for (uint64_t m = output->classes.mask[k]; m; m &= m - 1)
		queue_need(&lowering->queues, least_core(m), step->computes + least_core(m));
	if (!output->resident)
		queue_need(&lowering->queues, output->classes.leader[k],
			output->sent[k][turn(&output->slots, output->finished)]);
	output->combined[k][turn(&output->accumulators, output->finished)] =
		queue_close(&lowering->queues, step->number, tile_in_step(step), &instruction);
	instruction->combine = make_combine(lowering, k);
}

static void send(struct lowering *lowering, int k)
{
	struct step_state *step = &lowering->step;
	struct output *output = &step->output;
	const struct operand_box *box = output->box[k];
	int owner = output->classes.leader[k];
	struct instruction *instruction;
	queue_open(&lowering->queues, ENGINE_DMA_OUT, UINT64_C(1) << owner);
	int64_t made = step->computes + owner;
	if (output->ring)
		made = output->combined[k][turn(&output->accumulators, output->finished)];
	queue_need(&lowering->queues, owner, made);
	output->sent[k][turn(&output->slots, output->finished)] =
		queue_close(&lowering->queues, step->number, tile_in_step(step), &instruction);
	instruction->transfer = hbm_transfer(lowering, box, box->region.tensor);
}

void output_end(struct lowering *lowering)
{
	struct output *output = &lowering->step.output;
	for (int k = 0; k < output->classes.count; k++) {
		if (output->ring)
			add_ring(lowering, k);
		if (!output->resident)
			send(lowering, k);
	}
	output->finished++;
}
