#include "search/transfer/rounds_bound.h"

#include <string.h>

/*
 * Ranks over time: for each round and rank a node that holds, and where there are ports a node
 * each that sends and receives in the round.  Residual capacities by edge; edge i ^ 1 goes back.
 */
enum { HOLD, SEND, RECEIVE, ROLES };

struct edge {
	int to;
	int64_t left;
};

struct flow {
	const struct topology *topology;
	struct arena *arena;
	int rounds, nodes;
	struct array(struct edge) edges;
	struct array(int) * leaving; /* by node: edges */
	int *came;                   /* by node: the edge of the way */
};

static int node(const struct flow *flow, int round, int rank, int role)
{
	return (round * flow->topology->ranks + rank) * ROLES + role;
}

static void add_edge(struct flow *flow, int from, int to, int64_t capacity)
{
	*array_add(flow->arena, &flow->leaving[from]) = (int)flow->edges.count;
	*array_add(flow->arena, &flow->edges) = (struct edge){to, capacity};
	*array_add(flow->arena, &flow->leaving[to]) = (int)flow->edges.count;
	*array_add(flow->arena, &flow->edges) = (struct edge){from, 0};
}

/* The edges of one more round. */
static void add_round(struct flow *flow, int round)
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
static bool augment(struct flow *flow, int to)
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
			const struct edge *edge = &flow->edges.at[number];
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
	struct flow flow = {.topology = synthesis->topology, .arena = arena, .rounds = rounds};
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
	int count = 0;
	for (size_t l = 0; l < topology->link_count; l++)
		count += rank == (entering ? topology->links[l].to : topology->links[l].from);
	if (topology->ports == PORTS_ONE)
		return count > 1 ? 1 : count;
	return count * topology->channels;
}

/* Marks all that is reached from a rank without going through another, or into marked ones. */
static void mark_from(const struct topology *topology, int rank, int without, bool backwards,
	int mark, int *marks)
{
	bool grew = rank != without;
	if (grew)
		marks[rank] = mark;
	while (grew) {
		grew = false;
		for (size_t l = 0; l < topology->link_count; l++) {
			int from = topology->links[l].from, to = topology->links[l].to;
			bool on = marks[from] == mark && !marks[to] && to != without;
			bool back =
				backwards && marks[to] == mark && !marks[from] && from != without;
			if (on || back) {
				marks[on ? to : from] = mark;
				grew = true;
			}
		}
	}
}

/* Rounds after a chunk has come into a part in which all of it gets to know: by the way to its
 * farthest rank, and by doubling, with the rank outside too where it has several links in. */
static int inside(
	const struct topology *topology, int rank, const int *distances, const int *marks, int mark)
{
	int far = 0, size = 0, links = 0, doublings = 0;
	for (int r = 0; r < topology->ranks; r++) {
		if (marks[r] != mark)
			continue;
		far = distances[r] > far ? distances[r] : far;
		links += topology_link(topology, rank, r) >= 0;
		size++;
	}
	while ((1 << doublings) < size + (links > 1))
		doublings++;
	doublings -= links > 1;
	return far - 1 > doublings ? far - 1 : doublings;
}

/* Rounds that a rank with one port needs at least to serve the parts that only it leads to. */
static int64_t relay(
	const struct synthesis *synthesis, int rank, const int *from_root, struct arena *arena)
{
	const struct topology *topology = synthesis->topology;
	int *marks = arena_array(arena, int, topology->ranks);
	int *distances = arena_array(arena, int, topology->ranks), parts = 0, least = 0;
	mark_from(topology, topology->root, rank, false, 1, marks);
	topology_distances(topology, rank, distances);
	for (int r = 0; r < topology->ranks; r++) {
		if (marks[r] || r == rank)
			continue;
		int mark = 2 + parts++;
		mark_from(topology, r, rank, true, mark, marks);
		int rest = inside(topology, rank, distances, marks, mark);
		if (parts == 1 || rest < least)
			least = rest;
	}
	if (!parts)
		return 0;
	return from_root[rank] + parts * synthesis->chunks + least;
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
	for (int r = 0; topology->ports == PORTS_ONE && r < topology->ranks; r++)
		raise_to(&bound, relay(synthesis, r, distances, arena), "relay");
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
