#include "base/arena.h"
#include "constraints/graph.h"
#include "model/move.h"
#include "model/workload_move.h"
#include "search/lx_passes.h"
#include "search/lx_views.h"

#include <string.h>

/*
 * The published CloneInputNodesPass: a graph input that is read more than once
 * and fits the budget, the LX capacity at first, gets a clone right before its
 * first reader, and all readers read the clone.
 *
 * As published (CLONE_NONE) the clone is not divided, so on several cores it
 * never matches its readers and only costs a pass.  With CLONE_READERS it is
 * divided as they are; being a move it can leave a slice on several cores.
 */
struct fitting {
	int64_t bytes; /* on each core */
	struct view view;
};

/* Can the input be cloned, and at what price?  The answer is why not. */
static const char *fit(const struct lx_graph *graph, int t, const struct lx_uses *uses,
	int64_t budget, struct fitting *out)
{
	const struct tensor *tensor = &graph->workload->tensors[t];
	const char *why;
	enum stay stay = graph_stay(graph->planning->constraints, graph->workload, t);
	if (stay == STAY_HBM)
		return "a constraint keeps it in HBM";
	if (tensor_root(graph->workload, t) >= 0)
		return "it lies on the root of a broadcast alone";
	if (uses->count == 0 || (uses->count == 1 && stay != STAY_LX))
		return "it is a graph input, read once";
	if (graph->planning->clones == CLONE_READERS) {
		if (!lx_residence(graph->arch, graph->workload, graph->mappings, uses, true,
			    graph->arena, &out->view, &why))
			return arena_format(
				graph->arena, "it is a graph input, not cloned: %s", why);
		out->bytes = view_bytes(&tensor->layout, &out->view);
	} else {
		int64_t cores = lx_core_count(uses, graph->planning->cores);
		if (cores == LX_MISMATCH)
			return "it is a graph input, not cloned: its readers are divided "
			       "differently";
		out->bytes = tensor->layout.bytes / cores;
	}
	if (out->bytes > budget)
		return arena_format(graph->arena,
			"it is a graph input, not cloned: %lld bytes per core exceed the %lld left "
			"for clones",
			(long long)out->bytes, (long long)budget);
	return NULL;
}

/* The graph with clones in it, made when the first is wanted: all have room in one copy. */
struct cloning {
	struct lx_graph *graph;
	struct workload *workload; /* NULL: none yet */
	struct mapping *mappings;
};

/* Inputs that are read more than once, or must live in LX: no others get a clone. */
static size_t count_wanted(const struct lx_graph *graph)
{
	const struct workload *workload = graph->workload;
	struct arena *arena = graph->arena;
	int *reads = arena_array(arena, int, workload->tensor_count);
	size_t count = 0;
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		for (int i = 0; i < op->read_count; i++) {
			int t = op->reads[i].tensor;
			bool needed =
				graph_stay(graph->planning->constraints, workload, t) == STAY_LX;
			count +=
				workload->tensors[t].producer < 0 && ++reads[t] == (needed ? 1 : 2);
		}
	}
	return count;
}

static void open_copies(struct cloning *cloning)
{
	struct lx_graph *graph = cloning->graph;
	const struct workload *from = graph->workload;
	size_t room = count_wanted(graph);
	cloning->workload = workload_copy(graph->arena, from, room);
	cloning->mappings = arena_array(graph->arena, struct mapping, from->op_count + room);
	memcpy(cloning->mappings, graph->mappings, from->op_count * sizeof *cloning->mappings);
	const char **reasons = arena_array(graph->arena, const char *, from->tensor_count + room);
	memcpy(reasons, graph->reasons, from->tensor_count * sizeof *reasons);
	graph->workload = cloning->workload;
	graph->mappings = cloning->mappings;
	graph->reasons = reasons;
}

static void insert(struct cloning *cloning, int tensor, int before, const struct fitting *fitting)
{
	struct lx_graph *graph = cloning->graph;
	if (!cloning->workload)
		open_copies(cloning);
	struct mapping *mapping = &cloning->mappings[before];
	size_t behind = cloning->workload->op_count - (size_t)before;
	workload_add_move(graph->arena, cloning->workload, MOVE_CLONE, tensor, before);
	const struct op *clone = &graph->workload->ops[before];
	memmove(mapping + 1, mapping, behind * sizeof *mapping);
	*mapping = graph->planning->clones == CLONE_READERS
			   ? move_mapping(graph->arch, graph->workload, clone, &fitting->view)
			   : mapping_make(graph->arch, clone);
}

static void clone_inputs(struct lx_graph *graph)
{
	struct cloning cloning = {.graph = graph};
	int64_t budget = graph->planning->lx_capacity;
	int inputs = (int)graph->workload->tensor_count;
	bool wanted = graph->planning->clones != CLONE_OFF &&
		      name_list_has(&graph->planning->eligible, "clone");
	for (int t = 0; t < inputs; t++) {
		const struct tensor *tensor = &graph->workload->tensors[t];
		if (tensor->producer >= 0)
			continue;
		struct fitting fitting = {0};
		struct lx_uses uses =
			lx_uses(graph->arch, graph->workload, graph->mappings, t, graph->arena);
		graph->reasons[t] =
			wanted ? fit(graph, t, &uses, budget, &fitting) : "it is a graph input";
		if (graph->reasons[t])
			continue;
		insert(&cloning, t, uses.at[0].op, &fitting);
		graph->reasons[t] = "it is a graph input; its clone takes its place";
		budget -= fitting.bytes;
	}
}

const struct lx_pass lx_clone_pass = {.name = "clone", .before = clone_inputs};
