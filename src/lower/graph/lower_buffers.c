#include "lower/graph/lower_step.h"
#include "model/graph/plan.h"

#include <inttypes.h>

/* Hands out the reserve of LX from its first aligned byte on. */
struct reserve {
	int64_t address, used, alignment;
};

static bool reserve_take(struct reserve *reserve, int64_t size, int64_t *address)
{
	int64_t end;
	if (!number_add(reserve->used, size, &end) || end > INT64_MAX - reserve->alignment)
		return false;
	*address = reserve->address + reserve->used;
	reserve->used = number_align_up(end, reserve->alignment);
	return true;
}

/* All tiles and cores, one by one. */
static int64_t search_largest(
	const struct step_state *step, const struct operand_projection *projection)
{
	struct tile tile = {0};
	int64_t largest = 0;
	do {
		for (int c = 0; c < step->tiling.cores; c++) {
			struct region box;
			projection_box(projection, &step->tiling, &tile, c, &box);
			largest = number_max(largest, box.sticks);
		}
	} while (tile_next(&step->tiling, &tile));
	return largest;
}

/*
 * Returns the sticks of the largest box.  If all tiles begin at whole sticks it is that of the first
 * tile on core 0: only last units are cut short.
 */
static int64_t largest_box(
	const struct step_state *step, const struct operand_projection *projection)
{
	static const struct tile first;
	struct region box;
	if (projection->access->pad || !projection_begins_at_sticks(projection, &step->tiling))
		return search_largest(step, projection);
	projection_box(projection, &step->tiling, &first, 0, &box);
	return box.sticks;
}

static bool step_state_changes(
	const struct step_state *step, const struct operand_projection *projection)
{
	for (uint32_t m = projection->loops; m; m &= m - 1) {
		if (step->tiling.factor[__builtin_ctz(m)] > 1)
			return true;
	}
	return false;
}

static bool take_slots(const struct step_state *step, const struct operand_projection *projection,
	int64_t unit, int count, struct reserve *reserve, struct slots *slots)
{
	int64_t size;
	slots->count = count;
	if (!number_mul(largest_box(step, projection), unit, &size))
		return false;
	for (int i = 0; i < count; i++) {
		if (!reserve_take(reserve, size, &slots->address[i]))
			return false;
	}
	return true;
}

static bool take_buffers(const struct step_state *step, const struct operand_projection *projection,
	struct reserve *reserve, struct slots *slots)
{
	int count = step_state_changes(step, projection) ? SLOTS_MOST : 1;
	return take_slots(step, projection, STICK_BYTES, count, reserve, slots);
}

static bool take_accumulators(
	const struct step_state *step, struct reserve *reserve, struct output *output)
{
	const struct operand_projection *projection = &output->projection;
	int count = step->tiling.passes > 1 || step->adds_up;
	if (output->ring)
		count = step_state_changes(step, projection) ? SLOTS_MOST : 1;
	return take_slots(
		step, projection, accumulator_unit(output), count, reserve, &output->accumulators);
}

static bool take_all(struct step_state *step, struct reserve *reserve)
{
	for (int i = 0; i < step->op->read_count; i++) {
		struct supply *supply = &step->supplies[i];
		if (!supply->resident &&
			!take_buffers(step, &supply->projection, reserve, &supply->slots))
			return false;
	}
	struct output *output = &step->output;
	if (!output->resident && !take_buffers(step, &output->projection, reserve, &output->slots))
		return false;
	return take_accumulators(step, reserve, output);
}

/* Once for all iterations of a run: they share the bytes. */
static void allot_tiles(struct lowering *lowering, const struct reserve *reserve)
{
	const struct step_state *step = &lowering->step;
	for (size_t i = lowering->allotments.count; step->iteration > 0 && i > 0; i--) {
		struct allotment *allotment = &lowering->allotments.at[i - 1];
		if (allotment->tensor >= 0 || allotment->from != step->number)
			continue;
		allotment->size = number_max(allotment->size, reserve->used);
		return;
	}
	*array_add(lowering->queues.arena, &lowering->allotments) = (struct allotment){
		.tensor = -1,
		.address = reserve->address,
		.size = reserve->used,
		.from = step->number,
		.to = step->number + 1,
		.in_place_of = -1,
		.cores = cores_below(step->tiling.cores),
	};
}

bool buffers_place(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	const struct arch *arch = lowering->plan->arch;
	struct reserve reserve = {
		.address = arch_stream_address(arch),
		.alignment = number_max(arch_lx(arch)->alignment, STICK_BYTES),
	};
	if (!take_all(step, &reserve))
		return refuse(lowering, "op '%s': a tile buffer has more bytes than can be counted",
			step->op->name);
	if (reserve.used > arch_stream_capacity(arch))
		return refuse(lowering,
			"op '%s' needs %" PRId64
			" bytes of tile buffers on a core; the reserve of '%s' "
			"has %" PRId64,
			step->op->name, reserve.used, arch->levels[arch->lx].name,
			arch_stream_capacity(arch));
	if (reserve.used > 0)
		allot_tiles(lowering, &reserve);
	return true;
}

/*
 * Point 11 of model/graph/plan.h: chunk by chunk, row by row of tiles, inside each coordinate of the
 * other dimensions.
 */
struct staging_slide {
	const struct layout *layout;
	struct sliding sliding;
	const struct staging *staging;
	struct region box; /* the chunk, of what is read */
};

static void staging_slide_cut(struct staging_slide *slide, int d, int64_t most)
{
	int64_t left = slide->layout->size[d] - slide->box.first[d];
	slide->box.count[d] = (int32_t)number_min(most, left);
}

static void staging_slide_measure(struct staging_slide *slide)
{
	slide->box.sticks = 1;
	for (int d = 0; d < slide->box.rank; d++)
		slide->box.sticks *= slide->box.count[d];
}

static struct staging_slide slide_first(
	const struct workload *workload, int tensor, const struct staging *staging)
{
	const struct layout *layout = &workload->tensors[tensor].layout;
	struct staging_slide slide = {
		layout, sliding_make(layout), staging, region_whole(layout, tensor)};
	if (staging_is_whole(&slide.sliding, staging))
		return slide;
	for (int d = 0; d < slide.box.rank; d++)
		slide.box.count[d] = 1;
	if (slide.sliding.row_dim >= 0)
		staging_slide_cut(&slide, slide.sliding.row_dim, staging->rows);
	staging_slide_cut(&slide, slide.sliding.stick_dim, staging->sticks);
	staging_slide_measure(&slide);
	return slide;
}

/* Moves on in one dimension; false at its end, where it begins again. */
static bool staging_slide_advance(struct staging_slide *slide, int d, int64_t most)
{
	struct region *box = &slide->box;
	box->first[d] += box->count[d];
	bool moved = box->first[d] < slide->layout->size[d];
	if (!moved)
		box->first[d] = 0;
	staging_slide_cut(slide, d, most);
	return moved;
}

static bool slide_next(struct staging_slide *slide)
{
	const struct sliding *sliding = &slide->sliding;
	bool moved = staging_slide_advance(slide, sliding->stick_dim, slide->staging->sticks);
	if (!moved && sliding->row_dim >= 0)
		moved = staging_slide_advance(slide, sliding->row_dim, slide->staging->rows);
	for (int d = slide->box.rank - 1; d >= 0 && !moved; d--)
		if (d != sliding->row_dim && d != sliding->stick_dim)
			moved = staging_slide_advance(slide, d, 1);
	staging_slide_measure(slide);
	return moved;
}

int64_t staging_size(const struct plan *plan, int step)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	struct sliding sliding = sliding_make(&plan->workload->tensors[op->reads[0].tensor].layout);
	return staging_chunks(&sliding, plan->steps[step].staging) * (1 + plan->arch->ranks);
}

static const struct operand_box *lowering_make_box(
	struct lowering *lowering, const struct region *region, int operand, int64_t address)
{
	struct operand_box *box = arena_new(lowering->queues.arena, struct operand_box);
	box->operand = operand;
	box->region = *region;
	box->region.tensor = op_operand(lowering->step.op, operand)->tensor;
	box->lx = location_dense(region, address, STICK_BYTES);
	return box;
}

/* One load, a store for each rank; `users[tile]` is the last that used a tile. */
static void add_chunk(
	struct lowering *lowering, const struct region *region, int64_t number, int64_t *users)
{
	struct queues *queues = &lowering->queues;
	const struct step_state *step = &lowering->step;
	const struct staging *staging = lowering->plan->steps[step->number].staging;
	int tile = (int)(number % staging->count);
	const struct operand_box *from =
		lowering_make_box(lowering, region, 0, staging->addresses[tile]);
	const struct operand_box *to =
		lowering_make_box(lowering, region, 1, staging->addresses[tile]);
	struct instruction *instruction;
	queue_open(queues, ENGINE_DMA_IN, 1);
	queue_need(queues, 0, users[tile]);
	int64_t load = queue_close(queues, step->number, (int)number, &instruction);
	instruction->transfer = hbm_transfer(lowering, from, from->region.tensor);
	for (int rank = 0; rank < lowering->plan->arch->ranks; rank++) {
		queue_open(queues, ENGINE_DMA_OUT, 1);
		queue_need(queues, 0, load);
		users[tile] = queue_close(queues, step->number, (int)number, &instruction);
		struct transfer *store = hbm_transfer(lowering, to, from->region.tensor);
		store->rank = rank;
		instruction->transfer = store;
	}
}

static void add_allotments(struct lowering *lowering)
{
	const struct step_state *step = &lowering->step;
	const struct staging *staging = lowering->plan->steps[step->number].staging;
	for (int k = 0; k < staging->count; k++)
		*array_add(lowering->queues.arena, &lowering->allotments) = (struct allotment){
			.tensor = step->op->reads[0].tensor,
			.address = staging->addresses[k],
			.size = staging_bytes(staging),
			.from = step->number,
			.to = step->number + 1,
			.in_place_of = -1,
			.cores = 1,
		};
}

bool staging_lower(struct lowering *lowering)
{
	const struct step_state *step = &lowering->step;
	const struct plan *plan = lowering->plan;
	int64_t users[STAGING_MOST], number = 0;
	for (int k = 0; k < STAGING_MOST; k++)
		users[k] = -1;
	struct staging_slide slide = slide_first(
		plan->workload, step->op->reads[0].tensor, plan->steps[step->number].staging);
	do {
		if (is_full(lowering))
			return false;
		add_chunk(lowering, &slide.box, number++, users);
	} while (slide_next(&slide));
	add_allotments(lowering);
	return true;
}

/* The box of the output that a core leaves in this iteration, all tiles together. */
static void share_box(const struct step_state *step, int core, struct region *box)
{
	static const struct tile first;
	struct step_tiling whole = step->tiling;
	for (int l = 0; l < whole.loop_count; l++)
		whole.span[l] = whole.share[l];
	projection_box(&step->output.projection, &whole, &first, core, box);
}

/* The least and largest coordinates of the boxes that all cores leave. */
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

/* The accumulator of the output tile at work; NULL: none. */
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

static void lowering_send(struct lowering *lowering, int k)
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
			lowering_send(lowering, k);
	}
	output->finished++;
}
