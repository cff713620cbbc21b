#include "solvers/broadcast/tree.h"

#include "base/arena.h"

/* A way over links that meets every rank once, found by going first where fewest ways lead on. */
struct rank_path {
	const struct topology *topology;
	struct run *run;
	bool *met;
	int *parents;
};

static int ways_on(const struct rank_path *way, int rank)
{
	const struct topology *topology = way->topology;
	int count = 0;
	for (int l = topology->first[rank]; l < topology->first[rank + 1]; l++)
		count += !way->met[topology->links[l].to];
	return count;
}

/* The unmet neighbour with the fewest ways on, after those of `least` ways and number `after`. */
static int next_rank(const struct rank_path *way, int rank, int *least, int after)
{
	const struct topology *topology = way->topology;
	int best = -1, best_ways = 0;
	for (int l = topology->first[rank]; l < topology->first[rank + 1]; l++) {
		int to = topology->links[l].to, ways = ways_on(way, to);
		bool later = ways > *least || (ways == *least && to > after);
		if (!way->met[to] && later && (best < 0 || ways < best_ways)) {
			best = to;
			best_ways = ways;
		}
	}
	*least = best_ways;
	return best;
}

static bool go_on(struct rank_path *way, int rank, int met)
{
	int least = -1, next = -1;
	if (met == way->topology->ranks)
		return true;
	while (run_spend(way->run, 1) && (next = next_rank(way, rank, &least, next)) >= 0) {
		way->met[next] = true;
		way->parents[next] = rank;
		if (go_on(way, next, met + 1))
			return true;
		way->met[next] = false;
	}
	return false;
}

static void run_chain(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct arena *arena = run_arena(run);
	struct rank_path way = {topology, run, arena_array(arena, bool, topology->ranks),
		arena_array(arena, int, topology->ranks)};
	way.met[topology->root] = true;
	way.parents[topology->root] = -1;
	if (go_on(&way, topology->root, 1))
		tree_offer(run, synthesis, way.parents);
}

const struct solver broadcast_chain_solver = {
	.stage = STAGE_BROADCAST,
	.name = "chain",
	.summary = "from rank to rank along a way through all of them, pipelined",
	.purposes = FOR_SCHEDULES,
	.run = run_chain,
};
