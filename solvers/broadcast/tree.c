#include "solvers/broadcast/tree.h"

#include "base/arena.h"

/* A rank's next message: this many chunks went to all children, this child comes next. */
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

static void send_next(struct send_tree *tree, int round, int from)
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
static bool send_round(struct send_tree *tree, int round)
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
			send_next(tree, round, r);
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

/* Offers what goes down a tree, if the budget lasts: parents[root] is -1; every other rank's is
 * before it on its way to the root. */
static void tree_offer(struct run *run, const struct synthesis *synthesis, const int *parents)
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
	for (int round = 0; send_round(&tree, round);)
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

static bool broadcast_fans(const struct topology *topology)
{
	const int *first = &topology->first[topology->root];
	return first[1] - first[0] == topology->ranks - 1;
}

bool broadcast_full(const struct topology *topology)
{
	size_t ranks = (size_t)topology->ranks;
	return topology->link_count == ranks * (ranks - 1);
}

/* Only over links of the root: no other rank sends. */
static void run_flat(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct arena *arena = run_arena(run);
	struct messages messages = {0};
	int round = 0;
	if (!broadcast_fans(topology))
		return;
	for (int64_t chunk = 0; chunk < synthesis->chunks; chunk++)
		for (int r = 0; r < topology->ranks; r++)
			if (r != topology->root)
				*array_add(arena, &messages) =
					(struct message){round++, topology->root, r, chunk, 1};
	messages_offer(run, problem, &messages);
}

const struct solver broadcast_flat_solver = {
	.stage = STAGE_BROADCAST,
	.name = "flat",
	.summary = "the root sends each chunk to each rank, one by one, as published",
	.purposes = FOR_SCHEDULES,
	.run = run_flat,
};

static void run_parallel(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	int *parents = arena_array(run_arena(run), int, topology->ranks);
	if (topology->ports == PORTS_ONE || !broadcast_fans(topology))
		return;
	for (int r = 0; r < topology->ranks; r++)
		parents[r] = r == topology->root ? -1 : topology->root;
	tree_offer(run, synthesis, parents);
}

const struct solver broadcast_parallel_solver = {
	.stage = STAGE_BROADCAST,
	.name = "parallel",
	.summary = "the root sends each chunk to all ranks at once, where it has the ports",
	.purposes = FOR_SCHEDULES,
	.run = run_parallel,
};

/* Over the links of a full topology, or of a tree whose root is its own. */
static void run_binary_tree(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	bool own = topology->kind == TOPOLOGY_TREE && topology->root == 0;
	int *parents = arena_array(run_arena(run), int, topology->ranks);
	if (!broadcast_full(topology) && !own)
		return;
	parents[topology->root] = -1;
	for (int step = 1; step < topology->ranks; step++)
		parents[broadcast_rank(topology, step)] = broadcast_rank(topology, (step - 1) / 2);
	tree_offer(run, synthesis, parents);
}

const struct solver broadcast_binary_tree_solver = {
	.stage = STAGE_BROADCAST,
	.name = "binary_tree",
	.summary = "a tree of two children each, in heap order, pipelined",
	.purposes = FOR_SCHEDULES,
	.run = run_binary_tree,
};

static void run_shortest_tree(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct arena *arena = run_arena(run);
	int *parents = arena_array(arena, int, topology->ranks);
	int *distances = arena_array(arena, int, topology->ranks);
	topology_distances(topology, topology->root, distances);
	for (int r = 0; r < topology->ranks; r++)
		parents[r] = topology_before(topology, distances, r);
	tree_offer(run, synthesis, parents);
}

const struct solver broadcast_shortest_tree_solver = {
	.stage = STAGE_BROADCAST,
	.name = "shortest_tree",
	.summary = "a tree of shortest ways over any links, pipelined",
	.purposes = FOR_SCHEDULES,
	.run = run_shortest_tree,
};

/* A way over links that meets every rank once, found by going first where fewest ways lead on. */
struct rank_path {
	const struct topology *topology;
	struct run *run;
	bool *met;
	int *parents;
};

static int count_ways(const struct rank_path *way, int rank)
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
		int to = topology->links[l].to, ways = count_ways(way, to);
		bool later = ways > *least || (ways == *least && to > after);
		if (!way->met[to] && later && (best < 0 || ways < best_ways)) {
			best = to;
			best_ways = ways;
		}
	}
	*least = best_ways;
	return best;
}

static bool extend_path(struct rank_path *way, int rank, int met)
{
	int least = -1, next = -1;
	if (met == way->topology->ranks)
		return true;
	while (run_spend(way->run, 1) && (next = next_rank(way, rank, &least, next)) >= 0) {
		way->met[next] = true;
		way->parents[next] = rank;
		if (extend_path(way, next, met + 1))
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
	if (extend_path(&way, topology->root, 1))
		tree_offer(run, synthesis, way.parents);
}

const struct solver broadcast_chain_solver = {
	.stage = STAGE_BROADCAST,
	.name = "chain",
	.summary = "from rank to rank along a way through all of them, pipelined",
	.purposes = FOR_SCHEDULES,
	.run = run_chain,
};

/* Round k of a chunk doubles who has it. */
static void run_binomial(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct messages messages = {0};
	int round = 0;
	if (!broadcast_full(topology))
		return;
	for (int64_t chunk = 0; chunk < synthesis->chunks; chunk++)
		for (int have = 1; have < topology->ranks; have *= 2, round++)
			for (int step = 0; step < have && step + have < topology->ranks; step++)
				*array_add(run_arena(run), &messages) =
					(struct message){round, broadcast_rank(topology, step),
						broadcast_rank(topology, step + have), chunk, 1};
	messages_offer(run, problem, &messages);
}

const struct solver broadcast_binomial_solver = {
	.stage = STAGE_BROADCAST,
	.name = "binomial",
	.summary = "in each round all ranks that have the chunk send it on; then the next chunk",
	.purposes = FOR_SCHEDULES,
	.run = run_binomial,
};

/* The tensor in one part for each rank; part p belongs to the rank p after the root. */
struct tensor_parts {
	const struct synthesis *synthesis;
	struct arena *arena;
	struct messages messages;
};

static void send_parts(struct tensor_parts *parts, int round, int from, int to, int first, int end)
{
	const struct topology *topology = parts->synthesis->topology;
	int64_t chunks = parts->synthesis->chunks, ranks = topology->ranks;
	int64_t begin = first * chunks / ranks, count = end * chunks / ranks - begin;
	if (count)
		*array_add(parts->arena, &parts->messages) = (struct message){round,
			broadcast_rank(topology, from), broadcast_rank(topology, to), begin, count};
}

/* The holder of parts [first, end) sends the second half on.  Returns the round after the last. */
static int scatter_parts(struct tensor_parts *parts, int round, int first, int end)
{
	int middle = first + (end - first + 1) / 2;
	if (end - first == 1)
		return round;
	send_parts(parts, round, first, middle, middle, end);
	int left = scatter_parts(parts, round + 1, first, middle);
	int right = scatter_parts(parts, round + 1, middle, end);
	return left > right ? left : right;
}

/* In round k the rank p after the root hands on part p - k.  What the scatter left with a rank
 * beside its own part is not sent to it again, and so the root is sent nothing. */
static void gather_parts(struct tensor_parts *parts, int round, bool *const *has)
{
	int ranks = parts->synthesis->topology->ranks;
	for (int k = 0; k < ranks - 1; k++)
		for (int p = 0; p < ranks; p++) {
			int part = (p - k + ranks) % ranks, to = (p + 1) % ranks;
			if (!has[to][part])
				send_parts(parts, round + k, p, to, part, part + 1);
		}
}

static void mark_parts(bool *const *has, int first, int end)
{
	int middle = first + (end - first + 1) / 2;
	for (int part = first; part < end; part++)
		has[first][part] = true;
	if (end - first == 1)
		return;
	mark_parts(has, first, middle);
	mark_parts(has, middle, end);
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
	mark_parts(has, 0, ranks);
	gather_parts(&parts, scatter_parts(&parts, 0, 0, ranks), has);
	messages_offer(run, problem, &parts.messages);
}

const struct solver broadcast_scatter_allgather_solver = {
	.stage = STAGE_BROADCAST,
	.name = "scatter_allgather",
	.summary = "halves of the tensor go down a binomial tree, then parts around a ring",
	.purposes = FOR_SCHEDULES,
	.run = run_scatter_allgather,
};

/*
 * In round k, modulo q = ceil(log2 N), each rank sends to the one skip[k] after it, where skip[q] = N and skip[k]
 * is half of skip[k + 1], rounded up.  Which chunk a rank receives in each of q rounds follows from ways from the
 * root over skips; later rounds are the same with q added to each.  J. L. Traff, Optimal broadcast schedules in
 * logarithmic time with applications to broadcast, all-broadcast, reduction and all-reduction, 2024.
 */
enum { SKIPS_MOST = 12 };

struct circulant {
	int ranks, q;
	int skip[SKIPS_MOST + 1];
};

static struct circulant find_skips(int ranks)
{
	struct circulant c = {.ranks = ranks};
	while ((1 << c.q) < ranks)
		c.q++;
	c.skip[c.q] = ranks;
	for (int k = c.q - 1; k >= 0; k--)
		c.skip[k] = (c.skip[k + 1] + 1) / 2;
	return c;
}

/* The last skip of the way that takes the largest ones first: the first chunk of a rank. */
static int first_chunk(const struct circulant *c, int rank)
{
	int at = 0;
	for (int k = c->q - 1; k >= 0; k--) {
		if (at + c->skip[k] == rank)
			return k;
		if (at + c->skip[k] < rank)
			at += c->skip[k];
	}
	return c->q;
}

/* Skips not yet used as the last of a way, in a list from the largest down; -1 ends it. */
struct skip_ways {
	const struct circulant *c;
	int target; /* the rank, once around */
	int before; /* where the way found last ends */
	int next[SKIPS_MOST + 2], previous[SKIPS_MOST + 2];
	int received[SKIPS_MOST + 1];
};

static void take_out(struct skip_ways *ways, int skip)
{
	int next = ways->next[skip], previous = ways->previous[skip];
	ways->next[previous] = next;
	if (next >= 0)
		ways->previous[next] = previous;
}

/* Finds for round k, and those after it, the farthest way that ends early enough. */
static int find_ways(struct skip_ways *ways, int at, int skip, int k)
{
	const struct circulant *c = ways->c;
	for (; skip >= 0; skip = ways->next[skip]) {
		int end = at + c->skip[skip];
		if (k >= c->q)
			return k;
		if (end > ways->target - c->skip[k] || end >= ways->before)
			continue;
		if (end <= ways->target - c->skip[k + 1])
			k = find_ways(ways, end, skip, k);
		if (k >= c->q || at > ways->target - c->skip[k + 1])
			return k;
		ways->before = end;
		ways->received[k++] = skip;
		take_out(ways, skip);
	}
	return k;
}

/* By round: the chunk that the rank receives, q less where it comes in the q rounds after. */
static void find_received(const struct circulant *c, int rank, int *out)
{
	struct skip_ways ways = {.c = c, .target = c->ranks + rank, .before = 2 * c->ranks};
	int first = first_chunk(c, rank), head = c->q + 1;
	for (int k = head; k >= 0; k--) {
		ways.next[k] = k - 1;
		ways.previous[k] = k + 1;
	}
	take_out(&ways, first);
	find_ways(&ways, 0, ways.next[head], 0);
	for (int k = 0; k < c->q; k++)
		out[k] = ways.received[k] == c->q ? first : ways.received[k] - c->q;
}

static void run_round_optimal(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct circulant c = find_skips(topology->ranks);
	struct messages messages = {0};
	int64_t chunks = synthesis->chunks;
	if (!broadcast_full(topology) || topology->ranks < 2)
		return;
	int64_t rounds = chunks - 1 + c.q, left_out = (c.q - (chunks - 1) % c.q) % c.q;
	for (int to = 1; to < topology->ranks; to++) {
		int received[SKIPS_MOST + 1];
		bool ended = false; /* the last chunk is there: it stands for all after it */
		find_received(&c, to, received);
		for (int64_t i = left_out; i < rounds + left_out; i++) {
			int k = (int)(i % c.q), from = (to - c.skip[k] + c.ranks) % c.ranks;
			int64_t chunk = received[k] + i / c.q * c.q - left_out;
			bool last = chunk >= chunks - 1;
			if (chunk < 0 || (last && ended))
				continue;
			ended |= last;
			*array_add(run_arena(run), &messages) = (struct message){
				(int)(i - left_out), broadcast_rank(topology, from),
				broadcast_rank(topology, to), number_min(chunk, chunks - 1), 1};
		}
	}
	messages_offer(run, problem, &messages);
}

const struct solver broadcast_round_optimal_solver = {
	.stage = STAGE_BROADCAST,
	.name = "round_optimal",
	.summary = "C - 1 + ceil(log2 N) rounds: every rank sends and receives in each",
	.purposes = FOR_SCHEDULES,
	.run = run_round_optimal,
};
