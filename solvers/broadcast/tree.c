#include "solvers/broadcast/tree.h"

#include "base/arena.h"

/* A rank's next message: so many chunks went to all children, this child comes next. */
struct sender {
	int64_t chunk;
	int child;
	int64_t came; /* chunks that were there before the round */
};

struct tree {
	const struct synthesis *synthesis;
	const int *parents;
	struct sender *senders;
	struct arena *arena;
	struct messages messages;
};

/* The child after another, in the order in which ranks follow the root; after -1 the first. */
static int next_child(const struct tree *tree, int parent, int after)
{
	const struct topology *topology = tree->synthesis->topology;
	int ranks = topology->ranks;
	int step = after < 0 ? 1 : (after - topology->root + ranks) % ranks + 1;
	for (; step < ranks; step++)
		if (tree->parents[broadcast_rank(topology, step)] == parent)
			return broadcast_rank(topology, step);
	return -1;
}

static void send(struct tree *tree, int round, int from)
{
	struct sender *sender = &tree->senders[from];
	*array_add(tree->arena, &tree->messages) =
		(struct message){round, from, sender->child, sender->chunk, 1};
	sender->child = next_child(tree, from, sender->child);
	if (sender->child < 0) {
		sender->child = next_child(tree, from, -1);
		sender->chunk++;
	}
}

/* All messages of a round; what they bring is there in the next. */
static bool send_all(struct tree *tree, int round)
{
	const struct topology *topology = tree->synthesis->topology;
	size_t before = tree->messages.count;
	for (int r = 0; r < topology->ranks; r++) {
		struct sender *sender = &tree->senders[r];
		int64_t chunk = sender->chunk;
		if (sender->child < 0 || chunk >= sender->came)
			continue;
		do
			send(tree, round, r);
		while (topology->ports == PORTS_ALL && sender->chunk == chunk);
	}
	for (size_t i = before; i < tree->messages.count; i++)
		tree->senders[tree->messages.at[i].to].came++;
	return tree->messages.count > before;
}

const struct send_schedule *tree_schedule(struct arena *arena, const char *algorithm,
	const struct synthesis *synthesis, const int *parents)
{
	int ranks = synthesis->topology->ranks;
	struct tree tree = {.synthesis = synthesis,
		.parents = parents,
		.senders = arena_array(arena, struct sender, ranks),
		.arena = arena};
	for (int r = 0; r < ranks; r++)
		tree.senders[r].child = next_child(&tree, r, -1);
	tree.senders[synthesis->topology->root].came = synthesis->chunks;
	for (int round = 0; send_all(&tree, round);)
		round++;
	return schedule_make(arena, algorithm, synthesis, &tree.messages);
}

void broadcast_offer(struct run *run, const struct send_schedule *schedule)
{
	struct candidate candidate = {.stage = STAGE_BROADCAST, .schedule = schedule};
	run_evaluated(run, 1);
	run_offer(run, &candidate, schedule->rounds);
}

int broadcast_rank(const struct topology *topology, int step)
{
	return (topology->root + step) % topology->ranks;
}

bool broadcast_full(const struct topology *topology)
{
	size_t ranks = (size_t)topology->ranks;
	return topology->link_count == ranks * (ranks - 1);
}
