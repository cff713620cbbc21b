#include "search/transfer/rounds_bound.h"

#include <string.h>

/*
 * Ranks over time: for each round and rank a node that holds, and where there are ports a node
 * each that sends and receives in the round.  Residual capacities by edge; edge i ^ 1 goes back.
 */
enum { HOLD, SEND, RECEIVE, ROLES };

struct flow_edge {
	int to;
	int64_t left;
};

struct chunk_flow {
	const struct topology *topology;
	struct arena *arena;
	int rounds, nodes;
	struct array(struct flow_edge) edges;
	struct array(int) * leaving; /* by node: edges */
	int *came;                   /* by node: the edge of the way */
};

static int node(const struct chunk_flow *flow, int round, int rank, int role)
{
	return (round * flow->topology->ranks + rank) * ROLES + role;
}

static void add_edge(struct chunk_flow *flow, int from, int to, int64_t capacity)
{
	*array_add(flow->arena, &flow->leaving[from]) = (int)flow->edges.count;
	*array_add(flow->arena, &flow->edges) = (struct flow_edge){to, capacity};
	*array_add(flow->arena, &flow->leaving[to]) = (int)flow->edges.count;
	*array_add(flow->arena, &flow->edges) = (struct flow_edge){from, 0};
}

/* The edges of one more round. */
static void add_round(struct chunk_flow *flow, int round)
{
	const struct topology *topology = flow->topology;
	int64_t port = topology->ports == PORTS_ONE ? 1 : INT32_MAX;
	for (int r = 0; r < topology->ranks; r++) {
		int before = node(flow, round, r, HOLD), after = node(flow, round + 1, r, HOLD);
		add_edge(flow, before, after, INT32_MAX);
		add_edge(flow, before, node(flow, round, r, SEND), port);
		add_edge(flow, node(flow, round, r, RECEIVE), after, port);
	}
	for (size_t l = 0; l < topology->link_count; l++)
		add_edge(flow, node(flow, round, topology->links[l].from, SEND),
			node(flow, round, topology->links[l].to, RECEIVE), topology->channels);
}

/* One more chunk from the root at first to a rank at the end; false if none can. */
static bool augment(struct chunk_flow *flow, int to)
{
	int *queue = arena_array(flow->arena, int, flow->nodes), head = 0, tail = 0;
	int start = node(flow, 0, flow->topology->root, HOLD);
	int end = node(flow, flow->rounds, to, HOLD);
	for (int n = 0; n < flow->nodes; n++)
		flow->came[n] = -1;
	queue[tail++] = start;
	while (head < tail && flow->came[end] < 0) {
		int at = queue[head++];
		for (size_t i = 0; i < flow->leaving[at].count; i++) {
			int number = flow->leaving[at].at[i];
			const struct flow_edge *edge = &flow->edges.at[number];
			if (edge->left <= 0 || edge->to == start || flow->came[edge->to] >= 0)
				continue;
			flow->came[edge->to] = number;
			queue[tail++] = edge->to;
		}
	}
	if (flow->came[end] < 0)
		return false;
	for (int at = end; at != start;) {
		int number = flow->came[at];
		flow->edges.at[number].left--;
		flow->edges.at[number ^ 1].left++;
		at = flow->edges.at[number ^ 1].to;
	}
	return true;
}

/* Whether so many rounds are enough for all chunks to flow to a rank. */
static bool flows(const struct synthesis *synthesis, int rank, int rounds)
{
	struct arena *arena = arena_open();
	struct chunk_flow flow = {
		.topology = synthesis->topology, .arena = arena, .rounds = rounds};
	flow.nodes = (rounds + 1) * synthesis->topology->ranks * ROLES;
	flow.leaving = arena_alloc_array(arena, (size_t)flow.nodes, sizeof *flow.leaving);
	flow.came = arena_array(arena, int, flow.nodes);
	for (int round = 0; round < rounds; round++)
		add_round(&flow, round);
	int64_t chunks = 0;
	while (chunks < synthesis->chunks && augment(&flow, rank))
		chunks++;
	arena_close(arena);
	return chunks == synthesis->chunks;
}

/* Chunks that may enter or leave a rank in a round. */
static int links_of(const struct topology *topology, int rank, bool entering)
{
	const int *first = entering ? &topology->back_first[rank] : &topology->first[rank];
	int count = first[1] - first[0];
	if (topology->ports == PORTS_ONE)
		return count > 1 ? 1 : count;
	return count * topology->channels;
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

static void raise_to(struct rounds_bound *bound, int64_t rounds, const char *why)
{
	if (rounds > bound->rounds)
		*bound = (struct rounds_bound){rounds, why};
}

struct rounds_bound rounds_bound(const struct synthesis *synthesis, struct arena *arena)
{
	const struct topology *topology = synthesis->topology;
	struct rounds_bound bound = {0, "latency"};
	int *distances = arena_array(arena, int, topology->ranks);
	int64_t chunks = synthesis->chunks, alone = 0;
	if (topology->ranks == 1 || chunks == 0)
		return bound;
	topology_distances(topology, topology->root, distances);
	for (int r = 0; r < topology->ranks; r++) {
		if (r == topology->root)
			continue;
		alone = number_max(alone, distances[r]);
		raise_to(&bound,
			distances[r] - 1 + number_ceil_div(chunks, links_of(topology, r, true)),
			"latency");
	}
	for (int q = 0; topology->ports == PORTS_ONE && (1 << q) < topology->ranks; q++)
		alone = number_max(alone, q + 1);
	int leaving = links_of(topology, topology->root, false);
	raise_to(&bound, number_ceil_div(chunks, leaving) - 1 + alone, "spread");
	const bool *between = find_between(topology, distances, arena);
	for (int r = 0; topology->ports == PORTS_ONE && r < topology->ranks; r++)
		if (between[r])
			raise_to(&bound, relay_rounds(synthesis, r, distances, arena), "relay");
	if (topology->ranks > FLOW_RANKS_MOST || chunks > FLOW_CHUNKS_MOST)
		return bound;
	for (int r = 0; r < topology->ranks; r++)
		while (r != topology->root && !flows(synthesis, r, (int)bound.rounds))
			raise_to(&bound, bound.rounds + 1, "flow");
	return bound;
}

int64_t scatter_bound(const struct synthesis *synthesis, struct arena *arena)
{
	const struct synthesis one = {synthesis->topology, 1};
	return rounds_bound(&one, arena).rounds;
}
