#include "search/graph/lx_spill.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "cost/graph/cost.h"
#include "model/graph/plan.h"
#include "model/graph/workload.h"

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
	size_t at;
	bisect(at, 0, placement->part_count, placement->parts[at].buffer < (int)buffer);
	return at;
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

struct plan *lx_spill_move(
	const struct plan *plan, const struct lx_layout *layout, struct arena *arena)
{
	const struct placement *placement = layout->placement;
	struct plan_wish *wishes =
		arena_array(arena, struct plan_wish, 2 * (int)placement->part_count);
	size_t count = 0;
	for (size_t k = 0; k < placement->part_count; k++) {
		const struct residence_part *part = &placement->parts[k];
		const struct buffer *buffer = &layout->buffers.packing.buffers[part->buffer];
		struct plan_wish wish = {.tensor = layout->buffers.tensors[part->buffer],
			.stay = {.view = layout->buffers.views[part->buffer],
				.address = part->address,
				.size = buffer->size}};
		if (part->from > buffer->start) {
			wish.kind = MOVE_RELOAD;
			wish.before = (int)part->from;
			wishes[count++] = wish;
		}
		if (part->to < buffer->end) {
			wish.kind = MOVE_EVICT;
			wish.before = (int)part->to;
			wishes[count++] = wish;
		}
	}
	return plan_with_moves(arena, plan, wishes, count);
}
