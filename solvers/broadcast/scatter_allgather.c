#include "solvers/broadcast/tree.h"

#include "base/arena.h"

/* The tensor in one part for each rank; part p belongs to the rank p after the root. */
struct tensor_parts {
	const struct synthesis *synthesis;
	struct arena *arena;
	struct messages messages;
};

static void send(struct tensor_parts *parts, int round, int from, int to, int first, int end)
{
	const struct topology *topology = parts->synthesis->topology;
	int64_t chunks = parts->synthesis->chunks, ranks = topology->ranks;
	int64_t begin = first * chunks / ranks, count = end * chunks / ranks - begin;
	if (count)
		*array_add(parts->arena, &parts->messages) = (struct message){round,
			broadcast_rank(topology, from), broadcast_rank(topology, to), begin, count};
}

/* Who holds parts [first, end) sends the second half on; how many rounds that takes. */
static int scatter(struct tensor_parts *parts, int round, int first, int end)
{
	int middle = first + (end - first + 1) / 2;
	if (end - first == 1)
		return round;
	send(parts, round, first, middle, middle, end);
	int left = scatter(parts, round + 1, first, middle);
	int right = scatter(parts, round + 1, middle, end);
	return left > right ? left : right;
}

/* In round k the rank p after the root hands on part p - k.  What the scatter left with a rank
 * beside its own part is not sent to it again, and so the root is sent nothing. */
static void gather(struct tensor_parts *parts, int round, bool *const *has)
{
	int ranks = parts->synthesis->topology->ranks;
	for (int k = 0; k < ranks - 1; k++)
		for (int p = 0; p < ranks; p++) {
			int part = (p - k + ranks) % ranks, to = (p + 1) % ranks;
			if (!has[to][part])
				send(parts, round + k, p, to, part, part + 1);
		}
}

static void mark(bool *const *has, int first, int end)
{
	int middle = first + (end - first + 1) / 2;
	for (int part = first; part < end; part++)
		has[first][part] = true;
	if (end - first == 1)
		return;
	mark(has, first, middle);
	mark(has, middle, end);
}

static void run_scatter_allgather(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	int ranks = synthesis->topology->ranks;
	struct tensor_parts parts = {synthesis, run_arena(run), {0}};
	if (!broadcast_full(synthesis->topology) || ranks < 2)
		return;
	bool **has = arena_array(parts.arena, bool *, ranks);
	for (int r = 0; r < ranks; r++)
		has[r] = arena_array(parts.arena, bool, ranks);
	mark(has, 0, ranks);
	gather(&parts, scatter(&parts, 0, 0, ranks), has);
	messages_offer(run, problem, &parts.messages);
}

const struct solver broadcast_scatter_allgather_solver = {
	.stage = STAGE_BROADCAST,
	.name = "scatter_allgather",
	.summary = "halves of the tensor go down a binomial tree, then parts around a ring",
	.purposes = FOR_SCHEDULES,
	.run = run_scatter_allgather,
};
