#include "search/claim/plan_passes.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/checked.h"

struct edging {
	const struct joint_space *space;
	int64_t scale;
	bool *fits;
	struct arena *arena;
};

struct edges array(struct plan_edge);

/* The least of its kind, by groups and cores. */
static void add_edge(struct edging *edging, struct edges *edges, struct plan_edge edge)
{
	for (size_t i = 0; i < edges->count; i++) {
		struct plan_edge *other = &edges->at[i];
		if (other->from != edge.from || other->to != edge.to || other->cores != edge.cores)
			continue;
		other->cost = number_min(other->cost, edge.cost);
		return;
	}
	*array_add(edging->arena, edges) = edge;
}

static void list_relays(struct edging *edging, const struct joint_tensor *tensor,
	const struct plan_codes *codes, struct edges *edges)
{
	int groups = codes->group_count, views = tensor->view_count;
	int64_t *least = arena_array(edging->arena, int64_t, groups * groups);
	for (int i = 0; i < groups * groups; i++)
		least[i] = JOINT_NEVER;
	for (int v = 0; v < views; v++)
		for (int w = 0; w < views; w++) {
			int64_t *to = &least[codes->group[v] * groups + codes->group[w]];
			if (v != w)
				*to = number_min(*to, tensor->relay[v * views + w]);
		}
	for (int i = 0; i < groups * groups; i++)
		for (int both = 0; both <= 1; both++)
			if (least[i] != JOINT_NEVER && i / groups != i % groups)
				*array_add(edging->arena, edges) = (struct plan_edge){
					.from = 1 + 2 * (i / groups) + both,
					.to = 1 + 2 * (i % groups) + both,
					.cost = checked_mul(edging->fits, least[i], edging->scale)};
}

struct plan_edges plan_edges_make(const struct joint_space *space, int64_t scale, int c, int t,
	const struct plan_codes *codes, bool *fits, struct arena *arena)
{
	struct edging edging = {space, scale, fits, arena};
	const struct joint_tensor *tensor = &space->tensors[t];
	struct edges edges = {0};
	if (codes->anywhere || !codes->group_count)
		return (struct plan_edges){0};
	for (int v = 0; v < tensor->view_count; v++) {
		int alone = 1 + 2 * codes->group[v], cores = tensor->cores[v];
		add_edge(&edging, &edges, (struct plan_edge){.from = alone + 1});
		if (tensor->last < c && !tensor->output)
			add_edge(&edging, &edges, (struct plan_edge){.from = alone});
		if (tensor->evict[v] == JOINT_NEVER)
			continue;
		int64_t value = checked_mul(fits, tensor->evict[v], scale);
		add_edge(&edging, &edges,
			(struct plan_edge){alone, alone + 1,
				checked_add(fits, value, plan_share(space, cores)), cores, 1});
	}
	list_relays(&edging, tensor, codes, &edges);
	return (struct plan_edges){edges.count, edges.at};
}
