#include "solvers/broadcast/tree.h"

/*
 * In round k, modulo q = ceil(log2 N), each rank sends to the one skip[k] after it, where
 * skip[q] = N and skip[k] is half of skip[k + 1], rounded up.  Which chunk a rank receives in
 * each of q rounds follows from ways from the root over skips; later rounds are the same with q
 * added to each.  J. L. Traff, Optimal broadcast schedules in logarithmic time with applications
 * to broadcast, all-broadcast, reduction and all-reduction, 2024.
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
