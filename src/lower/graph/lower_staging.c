#include "lower/graph/lower_step.h"

#include "model/graph/staging.h"

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

static void cut(struct staging_slide *slide, int d, int64_t most)
{
	int64_t left = slide->layout->size[d] - slide->box.first[d];
	slide->box.count[d] = (int32_t)number_min(most, left);
}

static void measure(struct staging_slide *slide)
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
		cut(&slide, slide.sliding.row_dim, staging->rows);
	cut(&slide, slide.sliding.stick_dim, staging->sticks);
	measure(&slide);
	return slide;
}

/* Moves on in one dimension; false at its end, where it begins anew. */
static bool advance(struct staging_slide *slide, int d, int64_t most)
{
	struct region *box = &slide->box;
	box->first[d] += box->count[d];
	bool moved = box->first[d] < slide->layout->size[d];
	if (!moved)
		box->first[d] = 0;
	cut(slide, d, most);
	return moved;
}

static bool slide_next(struct staging_slide *slide)
{
	const struct sliding *sliding = &slide->sliding;
	bool moved = advance(slide, sliding->stick_dim, slide->staging->sticks);
	if (!moved && sliding->row_dim >= 0)
		moved = advance(slide, sliding->row_dim, slide->staging->rows);
	for (int d = slide->box.rank - 1; d >= 0 && !moved; d--)
		if (d != sliding->row_dim && d != sliding->stick_dim)
			moved = advance(slide, d, 1);
	measure(slide);
	return moved;
}

int64_t staging_size(const struct plan *plan, int step)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	struct sliding sliding = sliding_make(&plan->workload->tensors[op->reads[0].tensor].layout);
	return staging_chunks(&sliding, plan->steps[step].staging) * (1 + plan->arch->ranks);
}

static const struct operand_box *make_box(
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
	const struct operand_box *from = make_box(lowering, region, 0, staging->addresses[tile]);
	const struct operand_box *to = make_box(lowering, region, 1, staging->addresses[tile]);
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
