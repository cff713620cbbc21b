#include "base/arena.h"
#include "base/array.h"
#include "model/graph/run.h"
#include "model/graph/workload.h"
#include "search/graph/lx_passes.h"
#include "search/graph/lx_views.h"

#include <stdlib.h>
#include <string.h>

struct clone_fitting {
	int64_t bytes; /* on each core */
	struct view view;
};

/* Can the input be cloned, and at what price?  The answer is why not. */
static const char *fit(const struct lx_graph *graph, int t, const struct lx_uses *uses,
	int64_t budget, struct clone_fitting *out)
{
	const struct tensor *tensor = &graph->workload->tensors[t];
	const char *why;
	enum stay stay = graph->stays[t];
	if (stay == STAY_HBM)
		return "a constraint keeps it in HBM";
	if (users_root(graph->workload, &graph->users, t) >= 0)
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

/* A clone to be, in the order of inputs. */
struct wanted_clone {
	int tensor, before; /* its first reader */
	int number;         /* of the clone among tensors */
	const char *name;
	struct view view;
};

/* Before the op that reads them first, in the order of inputs. */
static int compare_clones(const void *left, const void *right)
{
	const struct wanted_clone *a = left, *b = right;
	if (a->before != b->before)
		return a->before < b->before ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

struct cloning {
	struct lx_graph *graph;
	struct array(struct wanted_clone) clones;
};

static void want(
	struct cloning *cloning, int tensor, int before, const struct clone_fitting *fitting)
{
	struct lx_graph *graph = cloning->graph;
	size_t number = graph->workload->tensor_count + cloning->clones.count;
	*array_add(graph->arena, &cloning->clones) = (struct wanted_clone){
		.tensor = tensor, .before = before, .number = (int)number, .view = fitting->view};
}

static void copy_inputs(struct cloning *cloning)
{
	struct lx_graph *graph = cloning->graph;
	struct arena *arena = graph->arena;
	const struct workload *from = graph->workload;
	struct wanted_clone *clones = cloning->clones.at;
	size_t count = cloning->clones.count, c = 0;
	struct growing growing = growing_open(arena, from, count);
	struct mapping *mappings = arena_array(arena, struct mapping, from->op_count + count);
	for (size_t i = 0; i < count; i++) {
		clones[i].name = growing_name(&growing, MOVE_CLONE, clones[i].tensor);
		growing_reserve(&growing, clones[i].name, clones[i].number);
	}
	qsort(clones, count, sizeof *clones, compare_clones);
	for (int o = 0; o < (int)from->op_count; o++) {
		for (; c < count && clones[c].before == o; c++) {
			growing_move(&growing, MOVE_CLONE, clones[c].tensor, clones[c].number,
				clones[c].name);
			const struct op *op = &growing.workload->ops[o + (int)c];
			mappings[o + (int)c] = graph->planning->clones == CLONE_READERS
						       ? move_mapping(graph->arch, growing.workload,
								 op, &clones[c].view)
						       : mapping_make(graph->arch, op);
		}
		growing_take(&growing);
		mappings[o + (int)c] = graph->mappings[o];
	}
	const char **reasons = arena_array(arena, const char *, from->tensor_count + count);
	memcpy(reasons, graph->reasons, from->tensor_count * sizeof *reasons);
	graph->workload = growing.workload;
	graph->mappings = mappings;
	graph->reasons = reasons;
	lx_graph_look(graph);
}

void lx_clone_inputs(struct lx_graph *graph)
{
	struct cloning cloning = {.graph = graph};
	const struct workload *workload = graph->workload;
	int64_t budget = graph->planning->lx_capacity;
	bool wanted = graph->planning->clones != CLONE_OFF && arch_moves_boxes(graph->arch) &&
		      name_list_has(&graph->planning->eligible, primitive_clone.name);
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		if (workload->tensors[t].producer >= 0)
			continue;
		struct clone_fitting fitting = {0};
		graph->reasons[t] = "it is a graph input";
		if (!wanted || stopper_stops(&graph->planning->stopper))
			continue;
		struct lx_uses uses = lx_uses(
			graph->arch, workload, &graph->users, graph->mappings, t, graph->arena);
		graph->reasons[t] = fit(graph, t, &uses, budget, &fitting);
		if (graph->reasons[t])
			continue;
		want(&cloning, t, uses.at[0].op, &fitting);
		graph->reasons[t] = "it is a graph input; its clone takes its place";
		budget -= fitting.bytes;
	}
	if (cloning.clones.count && !stopper_stops(&graph->planning->stopper))
		copy_inputs(&cloning);
}
