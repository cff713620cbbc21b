#include "search/transfer/rounds_bound.h"

/* The least rounds in which all chunks can come to a rank: a link brings none before one can be
 * where it begins. */
static int64_t arrival(const struct synthesis *synthesis, const int *distances, int rank)
{
	const struct topology *topology = synthesis->topology;
	int ways = topology_ways(topology, rank, true);
	int64_t rounds = distances[rank] - 1 + number_ceil_div(synthesis->chunks, ways),
		missing = 1;
	while (topology->ports == PORTS_ALL && missing > 0) {
		missing = synthesis->chunks;
		for (int l = topology->back_first[rank]; l < topology->back_first[rank + 1]; l++)
			missing -= topology->channels *
				   number_max(0, rounds - distances[topology->back[l].to]);
		rounds += missing > 0 ? number_ceil_div(missing, ways) : 0;
	}
	return rounds;
}

/* What a relay leads to, while it is found: all but the relay, part by part. */
struct relay {
	const struct topology *topology;
	int rank;
	int *marks; /* by rank: its part; 0: none yet */
	int *queue; /* ranks that are marked */
};

static void mark_next(struct relay *relay, const struct link *links, const int *first, int at,
	int mark, int *count)
{
	for (int l = first[at]; l < first[at + 1]; l++) {
		int to = links[l].to;
		if (to == relay->rank || relay->marks[to])
			continue;
		relay->marks[to] = mark;
		relay->queue[(*count)++] = to;
	}
}

/* Marks a rank and all that links lead to from there, either way if they may be taken back. */
static void mark_from(struct relay *relay, int from, bool backwards, int mark)
{
	const struct topology *topology = relay->topology;
	int count = 1;
	if (from == relay->rank)
		return;
	relay->marks[from] = mark;
	relay->queue[0] = from;
	for (int i = 0; i < count; i++) {
		int at = relay->queue[i];
		mark_next(relay, topology->links, topology->first, at, mark, &count);
		if (backwards)
			mark_next(relay, topology->back, topology->back_first, at, mark, &count);
	}
}

/* Rounds after a chunk has come into a part in which all of it gets to know: by the way to its
 * farthest rank, and by doubling, with the relay too where it has several links into the part. */
static int inside(const struct relay *relay, const int *distances, int mark)
{
	const struct topology *topology = relay->topology;
	int far = 0, size = 0, links = 0, doublings = 0;
	for (int r = 0; r < topology->ranks; r++) {
		if (relay->marks[r] != mark)
			continue;
		far = distances[r] > far ? distances[r] : far;
		links += topology_link(topology, relay->rank, r) >= 0;
		size++;
	}
	while ((1 << doublings) < size + (links > 1))
		doublings++;
	doublings -= links > 1;
	return far - 1 > doublings ? far - 1 : doublings;
}

/* Rounds that a rank with one port needs at least to serve the parts that only it leads to. */
static int64_t relay_rounds(
	const struct synthesis *synthesis, int rank, const int *from_root, struct arena *arena)
{
	const struct topology *topology = synthesis->topology;
	struct arena_mark before = arena_mark(arena);
	struct relay relay = {topology, rank, arena_array(arena, int, topology->ranks),
		arena_array(arena, int, topology->ranks)};
	int *distances = arena_array(arena, int, topology->ranks), parts = 0, least = 0;
	mark_from(&relay, topology->root, false, 1);
	topology_distances(topology, rank, distances);
	for (int r = 0; r < topology->ranks; r++) {
		if (relay.marks[r] || r == rank)
			continue;
		int mark = 2 + parts++;
		mark_from(&relay, r, true, mark);
		int rest = inside(&relay, distances, mark);
		if (parts == 1 || rest < least)
			least = rest;
	}
	arena_release(arena, before);
	return parts ? from_root[rank] + parts * synthesis->chunks + least : 0;
}

/* The ranks that a shortest way to another one leads through: without any other rank all the rest
 * is still reached, so that only these can be relays. */
static bool *find_between(
	const struct topology *topology, const int *distances, struct arena *arena)
{
	bool *between = arena_array(arena, bool, topology->ranks);
	for (int r = 0; r < topology->ranks; r++) {
		int before = topology_before(topology, distances, r);
		if (before >= 0)
			between[before] = true;
	}
	between[topology->root] = true;
	return between;
}

int64_t rounds_bound(const struct synthesis *synthesis, struct arena *arena)
{
	const struct topology *topology = synthesis->topology;
	int *distances = arena_array(arena, int, topology->ranks);
	int64_t chunks = synthesis->chunks, alone = 0, bound = 0;
	if (topology->ranks == 1 || chunks == 0)
		return 0;
	topology_distances(topology, topology->root, distances);
	for (int r = 0; r < topology->ranks; r++) {
		if (r == topology->root)
			continue;
		alone = number_max(alone, distances[r]);
		bound = number_max(bound, arrival(synthesis, distances, r));
	}
	for (int q = 0; topology->ports == PORTS_ONE && (1 << q) < topology->ranks; q++)
		alone = number_max(alone, q + 1);
	int leaving = topology_ways(topology, topology->root, false);
	bound = number_max(bound, number_ceil_div(chunks, leaving) - 1 + alone);
	const bool *between = find_between(topology, distances, arena);
	for (int r = 0; topology->ports == PORTS_ONE && r < topology->ranks; r++)
		if (between[r])
			bound = number_max(bound, relay_rounds(synthesis, r, distances, arena));
	return bound;
}

int64_t scatter_bound(const struct synthesis *synthesis, struct arena *arena)
{
	const struct synthesis one = {synthesis->topology, 1};
	return rounds_bound(&one, arena);
}
