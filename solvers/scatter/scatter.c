#include "base/arena.h"
#include "solvers/broadcast/tree.h"

/*
 * The rank that has the chunks of a run of ranks sends the half that begins with 2^k to its first rank, for
 * falling k: ceil(log2 N) rounds.
 */
static void run_binomial(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct messages messages = {0};
	int half = 1, round = 0;
	if (!broadcast_full(topology))
		return;
	while (half < topology->ranks)
		half *= 2;
	for (half /= 2; half >= 1; half /= 2, round++)
		for (int step = 0; step + half < topology->ranks; step += 2 * half)
			*array_add(run_arena(run), &messages) =
				(struct message){round, broadcast_rank(topology, step),
					broadcast_rank(topology, step + half), step + half,
					number_min(half, topology->ranks - step - half)};
	messages_offer(run, problem, &messages);
}

const struct solver scatter_binomial_solver = {
	.stage = STAGE_SCATTER,
	.name = "binomial",
	.summary = "halves of what is left go on to the rank in the middle",
	.purposes = FOR_SCHEDULES,
	.run = run_binomial,
};

/* Chunks on their shortest ways, those with the farthest to go first. */
struct chunk_ways {
	const struct topology *topology;
	int *distances, *parents;
	int *at;                     /* by chunk: the rank that has it */
	int *order;                  /* chunks, the farthest first */
	int *sent, *received, *used; /* of ranks and links, in this round */
};

/* The rank after the chunk's on its way. */
static int next_on_way(const struct chunk_ways *ways, int chunk)
{
	int rank = broadcast_rank(ways->topology, chunk);
	while (ways->parents[rank] != ways->at[chunk])
		rank = ways->parents[rank];
	return rank;
}

static bool chunk_ways_takes(struct chunk_ways *ways, int from, int to)
{
	const struct topology *topology = ways->topology;
	int link = topology_link(topology, from, to);
	bool one = topology->ports == PORTS_ONE;
	if (ways->used[link] == topology->channels ||
		(one && (ways->sent[from] || ways->received[to])))
		return false;
	ways->used[link]++;
	ways->sent[from] = ways->received[to] = 1;
	return true;
}

static void list_order(struct chunk_ways *ways)
{
	const struct topology *topology = ways->topology;
	int count = 0;
	for (int far = topology->ranks; far > 0; far--)
		for (int chunk = 1; chunk < topology->ranks; chunk++)
			if (ways->distances[broadcast_rank(topology, chunk)] == far)
				ways->order[count++] = chunk;
}

/* One round; false once all have come. */
static bool send_round(
	struct chunk_ways *ways, struct arena *arena, int round, struct messages *messages)
{
	const struct topology *topology = ways->topology;
	size_t before = messages->count;
	memset(ways->sent, 0, (size_t)topology->ranks * sizeof *ways->sent);
	memset(ways->received, 0, (size_t)topology->ranks * sizeof *ways->received);
	memset(ways->used, 0, topology->link_count * sizeof *ways->used);
	for (int i = 0; i < topology->ranks - 1; i++) {
		int chunk = ways->order[i], from = ways->at[chunk];
		if (from == broadcast_rank(topology, chunk))
			continue;
		int to = next_on_way(ways, chunk);
		if (chunk_ways_takes(ways, from, to))
			*array_add(arena, messages) = (struct message){round, from, to, chunk, 1};
	}
	for (size_t i = before; i < messages->count; i++)
		ways->at[messages->at[i].first] = messages->at[i].to;
	return messages->count > before;
}

static void run_shortest_tree(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct arena *arena = run_arena(run);
	int ranks = topology->ranks;
	struct chunk_ways ways = {topology, arena_array(arena, int, ranks),
		arena_array(arena, int, ranks), arena_array(arena, int, ranks),
		arena_array(arena, int, ranks), arena_array(arena, int, ranks),
		arena_array(arena, int, ranks), arena_array(arena, int, topology->link_count + 1)};
	struct messages messages = {0};
	topology_distances(topology, topology->root, ways.distances);
	for (int r = 0; r < ranks; r++) {
		ways.parents[r] = topology_before(topology, ways.distances, r);
		ways.at[r] = topology->root;
	}
	list_order(&ways);
	for (int round = 0; run_spend(run, (uint64_t)ranks); round++)
		if (!send_round(&ways, arena, round, &messages)) {
			messages_offer(run, problem, &messages);
			break;
		}
}

const struct solver scatter_shortest_tree_solver = {
	.stage = STAGE_SCATTER,
	.name = "shortest_tree",
	.summary =
		"each chunk on a shortest way over any links, those with the farthest to go first",
	.purposes = FOR_SCHEDULES,
	.run = run_shortest_tree,
};
