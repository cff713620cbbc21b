#include "model/machine/topology.h"

#include "base/arena.h"
#include "base/array.h"

static bool linked(const struct topology *t, int from, int to)
{
	int last = t->ranks - 1;
	if (from == to)
		return false;
	switch (t->kind) {
	case TOPOLOGY_FULL:
		return true;
	case TOPOLOGY_RING:
		return to == (from == last ? 0 : from + 1);
	case TOPOLOGY_BIDIRECTIONAL_RING:
		return to == (from == last ? 0 : from + 1) || from == (to == last ? 0 : to + 1);
	case TOPOLOGY_MESH: {
		int rows = from / t->columns - to / t->columns;
		int columns = from % t->columns - to % t->columns;
		return rows * rows + columns * columns == 1;
	}
	case TOPOLOGY_TREE:
		return (to > 0 && (to - 1) / 2 == from) || (from > 0 && (from - 1) / 2 == to);
	case TOPOLOGY_ROOT_ONLY:
		return from == t->root;
	case TOPOLOGY_COUNT:
		break;
	}
	return false;
}

/* Links by the rank that they leave, then by the one that they enter. */
static void list_links(struct arena *arena, struct topology *t)
{
	int ranks = t->ranks, *first = arena_array(arena, int, ranks + 1);
	for (int from = 0; from < ranks; from++)
		for (int to = 0; to < ranks; to++)
			first[from + 1] += linked(t, from, to);
	for (int r = 0; r < ranks; r++)
		first[r + 1] += first[r];
	struct link *links = arena_array(arena, struct link, first[ranks]);
	for (int from = 0; from < ranks; from++)
		for (int to = 0; to < ranks; to++)
			if (linked(t, from, to))
				links[t->link_count++] = (struct link){from, to};
	t->links = links;
	t->first = first;
}

static void list_back(struct arena *arena, struct topology *t)
{
	int *first = arena_array(arena, int, t->ranks + 1);
	int *next = arena_array(arena, int, t->ranks + 1);
	struct link *back = arena_array(arena, struct link, t->link_count);
	for (size_t l = 0; l < t->link_count; l++)
		first[t->links[l].to + 1]++;
	for (int r = 0; r < t->ranks; r++)
		next[r + 1] = first[r + 1] += first[r];
	for (size_t l = 0; l < t->link_count; l++)
		back[next[t->links[l].to]++] = (struct link){t->links[l].to, t->links[l].from};
	t->back = back;
	t->back_first = first;
}

const struct topology *topology_make(struct arena *arena, enum topology_kind kind,
	enum port_count ports, int ranks, int root, int columns)
{
	struct topology *t = arena_new(arena, struct topology);
	*t = (struct topology){
		.kind = kind, .ports = ports, .ranks = ranks, .root = root, .channels = 1};
	t->columns = kind == TOPOLOGY_MESH ? columns : ranks;
	t->rows = ranks / t->columns;
	list_links(arena, t);
	list_back(arena, t);
	return t;
}

const struct topology *topology_of(
	struct arena *arena, const struct copying *copying, int ranks, int root, int columns)
{
	const struct topology *one =
		topology_make(arena, copying->topology, copying->ports, ranks, root, columns);
	struct topology *t = arena_copy(arena, one, sizeof *t);
	t->channels = copying->channels > 1 ? copying->channels : 1;
	return t;
}

const struct topology *topology_reverse(struct arena *arena, const struct topology *topology)
{
	struct topology *t = arena_copy(arena, topology, sizeof *t);
	t->links = topology->back;
	t->first = topology->back_first;
	t->back = topology->links;
	t->back_first = topology->first;
	return t;
}

int topology_link(const struct topology *topology, int from, int to)
{
	size_t at;
	int end = topology->first[from + 1];
	bisect(at, topology->first[from], end, topology->links[at].to < to);
	return (int)at < end && topology->links[at].to == to ? (int)at : -1;
}

/* Nearest first. */
static void spread(
	const struct link *links, const int *first, const struct topology *t, int start, int *out)
{
	int queue[RANKS_MOST], count = 1;
	for (int r = 0; r < t->ranks; r++)
		out[r] = -1;
	queue[0] = start;
	out[start] = 0;
	for (int at = 0; at < count; at++)
		for (int l = first[queue[at]]; l < first[queue[at] + 1]; l++) {
			int to = links[l].to;
			if (out[to] >= 0)
				continue;
			out[to] = out[queue[at]] + 1;
			queue[count++] = to;
		}
}

void topology_distances(const struct topology *topology, int from, int *out)
{
	spread(topology->links, topology->first, topology, from, out);
}

void topology_distances_to(const struct topology *topology, int to, int *out)
{
	spread(topology->back, topology->back_first, topology, to, out);
}

int topology_before(const struct topology *topology, const int *distances, int to)
{
	for (int l = topology->back_first[to]; l < topology->back_first[to + 1]; l++) {
		int before = topology->back[l].to;
		if (distances[to] > 0 && distances[before] == distances[to] - 1)
			return before;
	}
	return -1;
}

struct routes routes_open(const struct topology *topology, struct arena *arena)
{
	return (struct routes){topology, arena, arena_array(arena, int *, topology->ranks)};
}

static const int *distances_from(struct routes *routes, int rank)
{
	int **distances = &routes->distances[rank];
	if (!*distances) {
		*distances = arena_array(routes->arena, int, routes->topology->ranks);
		topology_distances(routes->topology, rank, *distances);
	}
	return *distances;
}

int routes_hops(struct routes *routes, int from, int to)
{
	if (from == to)
		return 0;
	if (topology_link(routes->topology, from, to) >= 0)
		return 1;
	return distances_from(routes, from)[to];
}

int routes_last(struct routes *routes, int from, int *to)
{
	if (from == *to)
		return -1;
	int before = routes_hops(routes, from, *to) == 1
			     ? from
			     : topology_before(routes->topology, distances_from(routes, from), *to);
	int link = before < 0 ? -1 : topology_link(routes->topology, before, *to);
	*to = before;
	return link;
}

int topology_ways(const struct topology *topology, int rank, bool entering)
{
	const int *first = entering ? &topology->back_first[rank] : &topology->first[rank];
	int count = first[1] - first[0];
	if (topology->ports == PORTS_ONE)
		return count > 1 ? 1 : count;
	return count * topology->channels;
}
