#include "model/machine/topology.h"

#include "base/arena.h"

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
static void list_links(struct arena *arena, struct topology *t,
	bool (*has)(const struct topology *t, int from, int to), const struct topology *of)
{
	int ranks = t->ranks, *first = arena_array(arena, int, ranks + 1);
	for (int from = 0; from < ranks; from++)
		for (int to = 0; to < ranks; to++)
			first[from + 1] += has(of, from, to);
	for (int r = 0; r < ranks; r++)
		first[r + 1] += first[r];
	struct link *links = arena_array(arena, struct link, first[ranks]);
	for (int from = 0; from < ranks; from++)
		for (int to = 0; to < ranks; to++)
			if (has(of, from, to))
				links[t->link_count++] = (struct link){from, to};
	t->links = links;
	t->first = first;
}

const struct topology *topology_make(struct arena *arena, enum topology_kind kind,
	enum port_count ports, int ranks, int root, int columns)
{
	struct topology *t = arena_new(arena, struct topology);
	*t = (struct topology){
		.kind = kind, .ports = ports, .ranks = ranks, .root = root, .channels = 1};
	t->columns = kind == TOPOLOGY_MESH ? columns : ranks;
	t->rows = ranks / t->columns;
	list_links(arena, t, linked, t);
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

static bool linked_back(const struct topology *t, int from, int to)
{
	return topology_link(t, to, from) >= 0;
}

const struct topology *topology_reverse(struct arena *arena, const struct topology *topology)
{
	struct topology *t = arena_copy(arena, topology, sizeof *t);
	t->link_count = 0;
	list_links(arena, t, linked_back, topology);
	return t;
}

int topology_link(const struct topology *topology, int from, int to)
{
	for (int l = topology->first[from]; l < topology->first[from + 1]; l++)
		if (topology->links[l].to == to)
			return l;
	return -1;
}

/* Over links as they are, or the other way. */
static void spread(const struct topology *topology, int start, bool back, int *out)
{
	int far = 0;
	bool grew = true;
	for (int r = 0; r < topology->ranks; r++)
		out[r] = r == start ? 0 : -1;
	for (; grew; far++) {
		grew = false;
		for (size_t l = 0; l < topology->link_count; l++) {
			const struct link *link = &topology->links[l];
			int from = back ? link->to : link->from, to = back ? link->from : link->to;
			if (out[from] == far && out[to] < 0) {
				out[to] = far + 1;
				grew = true;
			}
		}
	}
}

void topology_distances(const struct topology *topology, int from, int *out)
{
	spread(topology, from, false, out);
}

void topology_distances_to(const struct topology *topology, int to, int *out)
{
	spread(topology, to, true, out);
}

int topology_before(const struct topology *topology, const int *distances, int to)
{
	for (int r = 0; r < topology->ranks; r++)
		if (distances[to] > 0 && distances[r] == distances[to] - 1 &&
			topology_link(topology, r, to) >= 0)
			return r;
	return -1;
}
