#include "search/graph/lx_passes.h"

extern const struct lx_pass lx_clone_pass;
extern const struct lx_pass lx_bundle_pass;

const struct lx_pass *const lx_passes[] = {
	&lx_clone_pass,
	&lx_bundle_pass,
	0,
};

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
