#include "lower/graph/lower_step.h"

/*
 * An opaque op passes its operands through core 0 in chunks: slabs of the device
 * array of at most half the reserve.  Chunks take turns in two slots, through
 * all operands.
 */
struct opaque_chunk {
	struct region box;
	int dim; /* the slab is `most` thick in it, 1 in the dims before, whole behind */
	int64_t most;
};

static int64_t slot_sticks(const struct arch *arch)
{
	return arch_stream_capacity(arch) / SLOTS_MOST / STICK_BYTES;
}

/* The first chunk of a tensor; most is 0 if not even a stick has room. */
static struct opaque_chunk chunk_first(const struct workload *workload, int tensor, int64_t sticks)
{
	const struct layout *layout = &workload->tensors[tensor].layout;
	struct opaque_chunk chunk = {.box = region_whole(layout, tensor), .dim = layout->rank - 2};
	int64_t inside = 1;
	while (chunk.dim > 0 && inside * layout->size[chunk.dim] <= sticks)
		inside *= layout->size[chunk.dim--];
	chunk.most = number_min(sticks / inside, layout->size[chunk.dim]);
	for (int d = 0; d < chunk.dim; d++)
		chunk.box.count[d] = 1;
	chunk.box.count[chunk.dim] = (int32_t)chunk.most;
	chunk.box.sticks = chunk.most * inside;
	return chunk;
}

static bool chunk_next(const struct workload *workload, struct opaque_chunk *chunk)
{
	const int64_t *size = workload->tensors[chunk->box.tensor].layout.size;
	struct region *box = &chunk->box;
	int64_t inside = box->sticks / box->count[chunk->dim];
	int d = chunk->dim;
	box->first[d] += box->count[d];
	while (d > 0 && box->first[d] >= size[d]) {
		box->first[d] = 0;
		box->first[--d]++;
	}
	int64_t left = size[chunk->dim] - box->first[chunk->dim];
	box->count[chunk->dim] = (int32_t)number_min(chunk->most, left);
	box->sticks = box->count[chunk->dim] * inside;
	return box->first[0] < size[0];
}

int64_t opaque_size(const struct plan *plan, int step)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	int64_t sticks = slot_sticks(plan->arch), size = 0;
	for (int i = 0; i < op_operands(op); i++) {
		int t = op_operand(op, i)->tensor;
		const struct layout *layout = &plan->workload->tensors[t].layout;
		struct opaque_chunk chunk = chunk_first(plan->workload, t, sticks);
		int64_t chunks =
			chunk.most ? number_ceil_div(layout->size[chunk.dim], chunk.most) : 0;
		for (int d = 0; d < chunk.dim; d++)
			chunks *= layout->size[d];
		size += 2 * chunks;
	}
	return size;
}

static void add_transfer(struct lowering *lowering, enum engine engine, int64_t turn,
	const struct operand_box *box, int64_t after, int64_t *number)
{
	struct queues *queues = &lowering->queues;
	struct instruction *instruction;
	queue_open(queues, engine, 1);
	queue_need(queues, 0, after);
	*number = queue_close(queues, lowering->step.number, (int)turn, &instruction);
	instruction->transfer = hbm_transfer(lowering, box, box->region.tensor);
}

static void add_compute(struct lowering *lowering, int64_t turn, const struct operand_box *box,
	int64_t after, int64_t *number)
{
	const struct op *op = lowering->step.op;
	struct queues *queues = &lowering->queues;
	struct instruction *instruction;
	queue_open(queues, ENGINE_COMPUTE, 1);
	queue_need(queues, 0, after);
	*number = queue_close(queues, lowering->step.number, (int)turn, &instruction);
	struct compute *compute =
		arena_alloc(queues->arena, sizeof *compute + sizeof compute->reads[0]);
	compute->op = (int)(op - lowering->plan->workload->ops);
	if (box->operand < op->read_count)
		compute->reads[compute->read_count++] = box;
	else
		compute->write = box;
	compute->finish = compute->write != NULL;
	instruction->compute = compute;
}

/* The two instructions of one chunk; `users[slot]` is the last that used a slot. */
static void add_chunk(struct lowering *lowering, int operand, const struct region *region,
	const int64_t *addresses, int64_t *turn, int64_t *users)
{
	int slot = (int)(*turn % SLOTS_MOST);
	struct operand_box *box = arena_new(lowering->queues.arena, struct operand_box);
	box->operand = operand;
	box->region = *region;
	box->lx = location_dense(region, addresses[slot], STICK_BYTES);
	int64_t first;
	if (operand < lowering->step.op->read_count) {
		add_transfer(lowering, ENGINE_DMA_IN, *turn, box, users[slot], &first);
		add_compute(lowering, *turn, box, first, &users[slot]);
	} else {
		const struct instruction *list = lowering->queues.list.at;
		bool sent = users[slot] >= 0 && list[users[slot]].engine == ENGINE_DMA_OUT;
		add_compute(lowering, *turn, box, sent ? users[slot] : -1, &first);
		add_transfer(lowering, ENGINE_DMA_OUT, *turn, box, first, &users[slot]);
	}
	++*turn;
}

static bool check_opaque(struct lowering *lowering, int64_t sticks)
{
	const struct step_state *step = &lowering->step;
	for (int i = 0; i < op_operands(step->op); i++) {
		int t = op_operand(step->op, i)->tensor;
		if (plan_lx(lowering->plan, t, step->number))
			return refuse(lowering, "opaque op '%s' uses '%s' in LX", step->op->name,
				lowering->plan->workload->tensors[t].name);
	}
	if (sticks < 1)
		return refuse(lowering, "op '%s' finds no room for a tile buffer", step->op->name);
	return true;
}

bool opaque_lower(struct lowering *lowering)
{
	const struct step_state *step = &lowering->step;
	const struct plan *plan = lowering->plan;
	int64_t sticks = slot_sticks(plan->arch), address = arch_stream_address(plan->arch);
	int64_t addresses[SLOTS_MOST] = {address, address + sticks * STICK_BYTES};
	int64_t turn = 0, users[SLOTS_MOST] = {-1, -1};
	if (!check_opaque(lowering, sticks))
		return false;
	for (int i = 0; i < op_operands(step->op); i++) {
		struct opaque_chunk chunk =
			chunk_first(plan->workload, op_operand(step->op, i)->tensor, sticks);
		do
			add_chunk(lowering, i, &chunk.box, addresses, &turn, users);
		while (chunk_next(plan->workload, &chunk));
	}
	*array_add(lowering->queues.arena, &lowering->allotments) = (struct allotment){
		.tensor = -1,
		.address = address,
		.size = SLOTS_MOST * sticks * STICK_BYTES,
		.from = step->number,
		.to = step->number + 1,
		.in_place_of = -1,
		.cores = 1,
	};
	return true;
}
