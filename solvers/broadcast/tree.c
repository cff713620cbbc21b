#include "solvers/broadcast/tree.h"

#include "base/arena.h"

/* A rank's next message: so many chunks went to all children, this child comes next. */
struct sender {
	int64_t chunk;
	int child;
	int64_t came; /* chunks that were there before the round */
};

struct send_tree {
	const struct synthesis *synthesis;
	int *first, *next; /* by rank: its first child, and its parent's child after it; -1: none */
	struct sender *senders;
	struct arena *arena;
	struct messages messages;
};

static void send(struct send_tree *tree, int round, int from)
{
	struct sender *sender = &tree->senders[from];
	*array_add(tree->arena, &tree->messages) =
		(struct message){round, from, sender->child, sender->chunk, 1};
	sender->child = tree->next[sender->child];
	if (sender->child < 0) {
		sender->child = tree->first[from];
		sender->chunk++;
	}
}

/* All messages of a round; what they bring is there in the next. */
static bool send_all(struct send_tree *tree, int round)
{
	const struct topology *topology = tree->synthesis->topology;
	size_t before = tree->messages.count;
	for (int r = 0; r < topology->ranks; r++) {
		struct sender *sender = &tree->senders[r];
		int64_t end = sender->chunk + topology->channels;
		if (sender->child < 0 || sender->chunk >= sender->came)
			continue;
		end = number_min(end, sender->came);
		do
			send(tree, round, r);
		while (topology->ports == PORTS_ALL && sender->chunk < end);
	}
	for (size_t i = before; i < tree->messages.count; i++)
		tree->senders[tree->messages.at[i].to].came++;
	return tree->messages.count > before;
}

/* Children in the order in which ranks follow the root. */
static void list_children(struct send_tree *tree, const int *parents)
{
	const struct topology *topology = tree->synthesis->topology;
	for (int r = 0; r < topology->ranks; r++)
		tree->first[r] = tree->next[r] = -1;
	for (int step = topology->ranks - 1; step > 0; step--) {
		int rank = broadcast_rank(topology, step), parent = parents[rank];
		tree->next[rank] = tree->first[parent];
		tree->first[parent] = rank;
	}
	for (int r = 0; r < topology->ranks; r++)
		tree->senders[r].child = tree->first[r];
}

void tree_offer(struct run *run, const struct synthesis *synthesis, const int *parents)
{
	int ranks = synthesis->topology->ranks;
	struct arena *arena = run_arena(run);
	struct send_tree tree = {.synthesis = synthesis,
		.first = arena_array(arena, int, ranks),
		.next = arena_array(arena, int, ranks),
		.senders = arena_array(arena, struct sender, ranks),
		.arena = arena};
	if (!run_spend(run, (uint64_t)ranks * (uint64_t)synthesis->chunks))
		return;
	list_children(&tree, parents);
	tree.senders[synthesis->topology->root].came = synthesis->chunks;
	for (int round = 0; send_all(&tree, round);)
		round++;
	broadcast_offer(run, schedule_make(arena, synthesis, &tree.messages));
}

void messages_offer(struct run *run, const struct problem *problem, const struct messages *messages)
{
	struct send_schedule schedule =
		*schedule_make(run_arena(run), problem->synthesis, messages);
	if (problem->stage == STAGE_SCATTER)
		schedule.operation = OPERATION_SCATTER;
	if (run_spend(run, messages->count))
		broadcast_offer(run, arena_copy(run_arena(run), &schedule, sizeof schedule));
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

bool broadcast_fans(const struct topology *topology)
{
	const int *first = &topology->first[topology->root];
	return first[1] - first[0] == topology->ranks - 1;
}

bool broadcast_full(const struct topology *topology)
{
	size_t ranks = (size_t)topology->ranks;
	return topology->link_count == ranks * (ranks - 1);
}
