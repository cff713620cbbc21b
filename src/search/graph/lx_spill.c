#include "search/graph/lx_spill.h"

#include "base/arena.h"
#include "base/number.h"
#include "cost/graph/cost.h"
#include "model/graph/plan_move.h"
#include "model/graph/workload_move.h"

/* HBM bytes that an op moves of a tensor, if all else that it uses lies in LX. */
static int64_t weigh(const struct lx_graph *graph, int op, int tensor)
{
	const struct workload *workload = graph->workload;
	const struct op *user = &workload->ops[op];
	struct mapping mapping = graph->mappings[op];
	int64_t bytes, room;
	uint32_t in_lx = 0;
	for (int l = 0; l < user->loop_count; l++)
		mapping.rows[graph->arch->lx].temporal[l] = 1;
	for (int i = 0; i < op_operands(user); i++)
		if (op_operand(user, i)->tensor != tensor)
			in_lx |= 1u << i;
	if (!cost_stream(graph->arch, workload, user, &mapping, in_lx, &bytes, &room))
		return workload->tensors[tensor].layout.bytes;
	return bytes;
}

static void add_uses(const struct lx_graph *graph, struct buffer *buffer, int tensor)
{
	const struct workload *workload = graph->workload;
	int producer = workload->tensors[tensor].producer;
	bool is_copy = workload_copy_in_hbm(workload, tensor) >= 0;
	int64_t made = weigh(graph, producer, tensor);
	size_t first = graph->users.first[tensor], end = graph->users.first[tensor + 1];
	struct use *uses = arena_array(graph->arena, struct use, end - first + 1);
	size_t count = 0;
	uses[count++] = (struct use){.at = producer, .write = !is_copy, .weight = made};
	for (size_t i = first; i < end; i++) {
		int o = graph->users.at[i].op;
		if (o == uses[count - 1].at)
			continue;
		int64_t bytes = weigh(graph, o, tensor);
		if (is_copy && count == 1)
			number_add(bytes, made, &bytes);
		uses[count++] = (struct use){.at = o, .weight = bytes};
	}
	buffer->weight = workload->tensors[tensor].layout.bytes;
	buffer->uses = uses;
	buffer->use_count = count;
}

/* Everything that placing all buffers could save, and one byte. */
static int64_t weigh_all(const struct packing *packing)
{
	int64_t sum = 1;
	for (size_t b = 0; b < packing->count; b++)
		for (size_t u = 0; u < packing->buffers[b].use_count; u++)
			if (!number_add(sum, packing->buffers[b].uses[u].weight, &sum))
				return sum;
	return sum;
}

void lx_spill_ask(const struct lx_graph *graph, struct lx_buffers *buffers)
{
	size_t count = buffers->packing.count;
	struct buffer *asked = arena_copy(
		graph->arena, buffers->packing.buffers, count * sizeof *buffers->packing.buffers);
	buffers->packing.buffers = asked;
	for (size_t b = 0; b < buffers->tensor_count; b++)
		if (graph->stays[buffers->tensors[b]] != STAY_LX &&
			!stopper_stops(&graph->planning->stopper))
			add_uses(graph, &asked[b], buffers->tensors[b]);
	int64_t all = weigh_all(&buffers->packing);
	for (size_t b = 0; b < count; b++)
		if (!asked[b].use_count)
			asked[b].weight = all;
}

static size_t find_parts(const struct placement *placement, size_t buffer)
{
	size_t first = 0, end = placement->part_count;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (placement->parts[middle].buffer < (int)buffer)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

bool lx_spill_is_parted(const struct lx_layout *layout, size_t buffer)
{
	size_t k = find_parts(layout->placement, buffer);
	return k < layout->placement->part_count &&
	       layout->placement->parts[k].buffer == (int)buffer;
}

const struct residence_part *lx_spill_first(const struct lx_layout *layout, size_t buffer)
{
	if (!lx_spill_is_parted(layout, buffer))
		return NULL;
	const struct residence_part *part =
		&layout->placement->parts[find_parts(layout->placement, buffer)];
	return part->from == layout->buffers.packing.buffers[buffer].start ? part : NULL;
}

/* Where the graph's ops are in the plan by now. */
struct moving {
	struct arena *arena;
	const struct lx_layout *layout;
	struct plan *plan;
	int *steps; /* by op of the graph */
	int op_count;
};

static void make_way(struct moving *moving, int step)
{
	for (int o = 0; o < moving->op_count; o++)
		moving->steps[o] += moving->steps[o] >= step;
}

/* Brings a part of a life into the plan; answers what the tensor is afterwards. */
static int move_part(struct moving *moving, int tensor, const struct residence_part *part)
{
	const struct buffer *buffer = &moving->layout->buffers.packing.buffers[part->buffer];
	if (part->from > buffer->start) {
		int step = moving->steps[part->from];
		struct residency stay = {.view = moving->layout->buffers.views[part->buffer],
			.address = part->address,
			.size = buffer->size};
		tensor = plan_add_reload(moving->arena, moving->plan, tensor, step, &stay);
		make_way(moving, step);
	}
	if (part->to < buffer->end) {
		int step = moving->steps[part->to - 1] + 1;
		tensor = plan_add_evict(moving->arena, moving->plan, tensor, step);
		make_way(moving, step);
	}
	return tensor;
}

struct plan *lx_spill_move(
	const struct plan *plan, const struct lx_layout *layout, struct arena *arena)
{
	const struct placement *placement = layout->placement;
	struct moving moving = {.arena = arena,
		.layout = layout,
		.plan = plan_with_room(arena, plan, 2 * (int)placement->part_count),
		.steps = arena_array(arena, int, plan->step_count),
		.op_count = plan->step_count};
	for (int o = 0; o < moving.op_count; o++)
		moving.steps[o] = o;
	int tensor = -1;
	for (size_t k = 0; k < placement->part_count; k++) {
		const struct residence_part *part = &placement->parts[k];
		if (k == 0 || part[-1].buffer != part->buffer)
			tensor = layout->buffers.tensors[part->buffer];
		tensor = move_part(&moving, tensor, part);
	}
	return moving.plan;
}
