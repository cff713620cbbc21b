#include "search/graph/lx_buffers.h"

#include "base/arena.h"
#include "model/graph/op_mapping.h"
#include "search/graph/lx_staging.h"
#include "search/graph/lx_views.h"
#include "search/graph/nests.h"

#include <string.h>

struct buffer_gathering {
	const struct lx_graph *graph;
	size_t count;
	struct buffer *buffers;
	int *tensors;
	struct view *views;
	int *buffer_of; /* by tensor; -1 */
	int *opaque;    /* by step: the first opaque op from there on */
	int *crowd;     /* by step: those before in which a tensor lives that must live in LX */
};

/* How far the first opaque op from each step on is, and steps in which a tensor lives that must
 * live in LX. */
static void look_ahead(struct buffer_gathering *gathering)
{
	const struct lx_graph *graph = gathering->graph;
	const struct workload *workload = graph->workload;
	int ops = (int)workload->op_count, from, to;
	gathering->opaque = arena_array(graph->arena, int, ops + 1);
	gathering->crowd = arena_array(graph->arena, int, ops + 1);
	gathering->opaque[ops] = ops;
	for (int o = ops - 1; o >= 0; o--)
		gathering->opaque[o] = workload->ops[o].primitive->kind == OP_OPAQUE
					       ? o
					       : gathering->opaque[o + 1];
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		users_life(&graph->users, t, &from, &to);
		gathering->crowd[from] += graph->stays[t] == STAY_LX;
		gathering->crowd[to] -= graph->stays[t] == STAY_LX;
	}
	/* Sums: how many live; then how many of the steps before have one. */
	for (int o = 0, living = 0, steps = 0; o <= ops; o++) {
		living += gathering->crowd[o];
		gathering->crowd[o] = steps;
		steps += living > 0;
	}
}

/* An opaque op at work while the tensor lives; NULL if there is none. */
static const struct op *find_opaque(const struct buffer_gathering *gathering, int from, int to)
{
	int o = gathering->opaque[from];
	return o < to ? &gathering->graph->workload->ops[o] : NULL;
}

/* True if a tensor lives while one does that must live in LX. */
static bool stands_in_way(const struct buffer_gathering *gathering, int t)
{
	int from, to;
	users_life(&gathering->graph->users, t, &from, &to);
	return gathering->crowd[to] > gathering->crowd[from];
}

/* Why the machine keeps a tensor out of the scratchpad in one of its ops; NULL if it does not. */
static const char *find_unfit(const struct lx_graph *graph, int t)
{
	const struct users *users = &graph->users;
	const char *why = NULL;
	for (size_t i = users->first[t]; !why && i < users->first[t + 1]; i++) {
		const struct op *op = &graph->workload->ops[users->at[i].op];
		if (!arch_moves_boxes(graph->arch) && op_is_tiled(op))
			why = nests_home(graph->arch, graph->workload, op,
				1u << users->at[i].operand, graph->arena);
	}
	return why;
}

/* NULL if the op's output may live in LX, under *view. */
static const char *check_output(
	const struct buffer_gathering *gathering, const struct op *op, int t, struct view *view)
{
	const struct lx_graph *graph = gathering->graph;
	const struct workload *workload = graph->workload;
	if (op->primitive->kind == OP_OPAQUE)
		return arena_format(graph->arena, "the opaque op '%s' writes it", op->name);
	if (workload->tensors[t].role == TENSOR_OUTPUT)
		return "it is a graph output";
	enum stay stay = graph->stays[t];
	if (stay == STAY_HBM)
		return "a constraint keeps it in HBM";
	if (stay == STAY_ANYWHERE && graph->crowded && stands_in_way(gathering, t))
		return "it gives way to tensors that must live in LX";
	if (!name_list_has(&graph->planning->eligible, op->type))
		return arena_format(graph->arena, "outputs of '%s' ops are not eligible", op->type);
	const char *why = NULL;
	struct arena_mark mark = arena_mark(graph->arena);
	struct lx_uses uses =
		lx_uses(graph->arch, workload, &graph->users, graph->mappings, t, graph->arena);
	if (!lx_residence(graph->arch, workload, graph->mappings, &uses, lx_is_moved(graph, t),
		    graph->arena, view, &why))
		return why;
	arena_release(graph->arena, mark);
	why = find_unfit(graph, t);
	if (why)
		return why;
	int from, to;
	users_life(&graph->users, t, &from, &to);
	const struct op *opaque = find_opaque(gathering, from, to);
	if (opaque)
		return arena_format(
			graph->arena, "it lives across the opaque op '%s'", opaque->name);
	return NULL;
}

static void add_buffer(struct buffer_gathering *gathering, int t, const struct view *view)
{
	const struct tensor *tensor = &gathering->graph->workload->tensors[t];
	int from, to;
	users_life(&gathering->graph->users, t, &from, &to);
	size_t b = gathering->count++;
	gathering->buffer_of[t] = (int)b;
	gathering->tensors[b] = t;
	gathering->views[b] = *view;
	gathering->buffers[b] = (struct buffer){.name = tensor->name,
		.size = view_bytes(&tensor->layout, view),
		.start = from,
		.end = to};
}

/* Does the op read the parent only where it writes the child? */
static bool reads_where_it_writes(const struct workload *workload, const struct op *op, int parent)
{
	int rank = workload->tensors[parent].layout.host_rank;
	for (int i = 0; i < op->read_count; i++)
		if (op->reads[i].tensor == parent &&
			!access_equal(op, &op->reads[i], &op->writes[0], rank))
			return false;
	return true;
}

static bool is_parent(
	const struct buffer_gathering *gathering, const struct op *op, size_t child, size_t b)
{
	const struct workload *workload = gathering->graph->workload;
	const struct buffer *ours = &gathering->buffers[child], *buffer = &gathering->buffers[b];
	int t = gathering->tensors[child], parent = gathering->tensors[b];
	return buffer->size == ours->size && buffer->end == ours->start + 1 &&
	       layout_equal(&workload->tensors[t].layout, &workload->tensors[parent].layout) &&
	       view_equal(&gathering->views[child], &gathering->views[b]) &&
	       reads_where_it_writes(workload, op, parent);
}

static void find_parents(struct buffer_gathering *gathering, size_t child)
{
	const struct lx_graph *graph = gathering->graph;
	const struct op *op =
		&graph->workload->ops[graph->workload->tensors[gathering->tensors[child]].producer];
	if (op->primitive->kind != OP_MAP || !name_list_has(&graph->planning->in_place, op->type))
		return;
	int *parents = arena_array(graph->arena, int, op->read_count);
	size_t count = 0;
	for (int i = 0; i < op->read_count; i++) {
		int b = gathering->buffer_of[op->reads[i].tensor];
		bool known = b < 0 || !is_parent(gathering, op, child, (size_t)b);
		for (size_t k = 0; k < count; k++)
			known |= parents[k] == b;
		if (!known)
			parents[count++] = b;
	}
	gathering->buffers[child].parents = parents;
	gathering->buffers[child].parent_count = count;
}

struct lx_buffers lx_buffers(const struct lx_graph *graph)
{
	const struct workload *workload = graph->workload;
	struct buffer_gathering gathering = {
		.graph = graph,
		.buffers = arena_array(graph->arena, struct buffer, workload->tensor_count),
		.tensors = arena_array(graph->arena, int, workload->tensor_count),
		.views = arena_array(graph->arena, struct view, workload->tensor_count),
		.buffer_of = arena_array(graph->arena, int, workload->tensor_count),
	};
	look_ahead(&gathering);
	memset(gathering.buffer_of, -1, workload->tensor_count * sizeof *gathering.buffer_of);
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		if (stopper_stops(&graph->planning->stopper))
			break;
		for (int i = 0; i < op->write_count; i++) {
			int t = op->writes[i].tensor;
			struct view view;
			graph->reasons[t] = check_output(&gathering, op, t, &view);
			if (!graph->reasons[t])
				add_buffer(&gathering, t, &view);
		}
	}
	for (size_t b = 0; b < gathering.count; b++)
		find_parents(&gathering, b);
	struct lx_buffers buffers = {
		.packing = {.capacity = graph->planning->lx_capacity,
			.alignment = graph->arch->levels[graph->arch->lx].alignment,
			.count = gathering.count,
			.buffers = gathering.buffers},
		.tensors = gathering.tensors,
		.views = gathering.views,
	};
	lx_staging_ask(graph, &buffers);
	return buffers;
}
