#include "search/graph/lx_passes.h"

#include "base/arena.h"

struct lx_graph lx_graph_open(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning, struct arena *arena)
{
	struct lx_graph graph = {.arch = arch,
		.planning = planning,
		.arena = arena,
		.workload = workload,
		.mappings = mappings,
		.reasons = arena_array(arena, const char *, workload->tensor_count)};
	lx_graph_look(&graph);
	return graph;
}

void lx_graph_look(struct lx_graph *graph)
{
	graph->users = users_make(graph->arena, graph->workload);
	graph->stays = graph_stays(graph->arena, graph->planning->constraints, graph->workload);
}

bool lx_is_moved(const struct lx_graph *graph, int tensor)
{
	int producer = graph->workload->tensors[tensor].producer;
	if (producer < 0 || graph->planning->clones != CLONE_READERS)
		return false;
	const struct op *op = &graph->workload->ops[producer];
	return op->move && op->primitive == &primitive_clone;
}
