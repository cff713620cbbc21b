#include "solvers/broadcast/tree.h"

#include "base/arena.h"
#include "search/engine/sat.h"
#include "search/transfer/rounds_bound.h"
#include "search/transfer/schedule_best.h"

/*
 * Whether all chunks reach all ranks in T rounds, as clauses over
 *
 *	there(c, r, t)   rank r has chunk c after t rounds
 *	sent(c, l, t)    link l brings chunk c in round t
 *
 * A chunk that is there was there before or is brought, once; what is sent was there before.
 * Chunks are alike, so chunk c + 1 does not leave the root before chunk c has.  From the bound on
 * upwards, the first T that can be met is the optimum.
 */
struct rounds_question {
	const struct synthesis *synthesis;
	struct run *run;
	struct arena *arena;
	struct sat *sat;
	int rounds;
	int *distances;
	int *there, *sent; /* literals; -1: it cannot be */
};

static int *there(struct rounds_question *q, int64_t chunk, int rank, int round)
{
	const struct topology *topology = q->synthesis->topology;
	return &q->there[(chunk * topology->ranks + rank) * (q->rounds + 1) + round];
}

static int *sent(struct rounds_question *q, int64_t chunk, size_t link, int round)
{
	const struct topology *topology = q->synthesis->topology;
	return &q->sent[(chunk * (int64_t)topology->link_count + (int64_t)link) * q->rounds +
			round];
}

static void add_variables(struct rounds_question *q)
{
	const struct topology *topology = q->synthesis->topology;
	int64_t chunks = q->synthesis->chunks;
	q->there = arena_array(q->arena, int, chunks * topology->ranks * (q->rounds + 1));
	q->sent = arena_array(q->arena, int, chunks *(int64_t)topology->link_count * q->rounds + 1);
	for (int64_t c = 0; c < chunks; c++) {
		for (int r = 0; r < topology->ranks; r++)
			for (int t = 0; t <= q->rounds; t++)
				*there(q, c, r, t) = r == topology->root || t < q->distances[r]
							     ? -1
							     : sat_variable(q->sat);
		for (size_t l = 0; l < topology->link_count; l++)
			for (int t = 0; t < q->rounds; t++) {
				const struct link *link = &topology->links[l];
				bool can = link->to != topology->root &&
					   t >= q->distances[link->from] &&
					   t + 1 >= q->distances[link->to];
				*sent(q, c, l, t) = can ? sat_variable(q->sat) : -1;
			}
	}
}

/* The ways that bring a chunk in a round, and what each of them needs. */
static void add_arrival(struct rounds_question *q, int64_t chunk, int rank, int round)
{
	const struct topology *topology = q->synthesis->topology;
	int before = *there(q, chunk, rank, round), after = *there(q, chunk, rank, round + 1);
	int *clause = arena_array(q->arena, int, topology->ranks + 2);
	size_t count = 0, ways;
	if (after < 0)
		return;
	for (size_t l = 0; l < topology->link_count; l++) {
		int way = topology->links[l].to == rank ? *sent(q, chunk, l, round) : -1;
		if (way < 0)
			continue;
		int source = *there(q, chunk, topology->links[l].from, round);
		if (source >= 0)
			sat_clause(q->sat, (int[]){sat_not(way), source}, 2);
		if (before >= 0)
			sat_clause(q->sat, (int[]){sat_not(way), sat_not(before)}, 2);
		sat_clause(q->sat, (int[]){sat_not(way), after}, 2);
		clause[count++] = way;
	}
	ways = count;
	if (before >= 0) {
		sat_clause(q->sat, (int[]){sat_not(before), after}, 2);
		clause[count++] = before;
	}
	clause[count++] = sat_not(after);
	sat_clause(q->sat, clause, count);
	if (ways > 1)
		sat_at_most_one(q->sat, clause, ways);
}

/*
 * At most so many of them: more(i, n) holds where more than n of the first i + 1 do.  (C. Sinz,
 * Towards an optimal CNF encoding of Boolean cardinality constraints, 2005.)
 */
static void add_at_most(struct rounds_question *q, const int *literals, size_t count, int most)
{
	int *more = arena_array(q->arena, int, count *(size_t)most);
	if (most == 1 || count <= (size_t)most) {
		if (count > 1 && most == 1)
			sat_at_most_one(q->sat, literals, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		int not = sat_not(literals[i]), *now = &more[i * (size_t)most];
		const int *before = now - most;
		for (int n = 0; n < most; n++) {
			now[n] = sat_variable(q->sat);
			if (i)
				sat_clause(q->sat, (int[]){sat_not(before[n]), now[n]}, 2);
			if (n && i)
				sat_clause(q->sat, (int[]){not, sat_not(before[n - 1]), now[n]}, 3);
		}
		sat_clause(q->sat, (int[]){not, now[0]}, 2);
		if (i)
			sat_clause(q->sat, (int[]){not, sat_not(before[most - 1])}, 2);
	}
}

/* One chunk a channel and, where there is one port, one a sender and a receiver. */
static void add_limits(struct rounds_question *q, int round)
{
	const struct topology *topology = q->synthesis->topology;
	int64_t chunks = q->synthesis->chunks;
	int *literals = arena_array(q->arena, int, chunks *(int64_t)topology->link_count + 1);
	for (size_t l = 0; topology->ports == PORTS_ALL && l < topology->link_count; l++) {
		size_t count = 0;
		for (int64_t c = 0; c < chunks; c++)
			if (*sent(q, c, l, round) >= 0)
				literals[count++] = *sent(q, c, l, round);
		add_at_most(q, literals, count, topology->channels);
	}
	for (int r = 0; topology->ports == PORTS_ONE && r < topology->ranks; r++)
		for (int side = 0; side < 2; side++) {
			size_t count = 0;
			for (size_t l = 0; l < topology->link_count; l++) {
				const struct link *link = &topology->links[l];
				if ((side ? link->to : link->from) != r)
					continue;
				for (int64_t c = 0; c < chunks; c++)
					if (*sent(q, c, l, round) >= 0)
						literals[count++] = *sent(q, c, l, round);
			}
			if (count > 1)
				sat_at_most_one(q->sat, literals, count);
		}
}

/* left(c, t): the root has sent chunk c in one of the first t + 1 rounds. */
static void add_order(struct rounds_question *q)
{
	const struct topology *topology = q->synthesis->topology;
	int64_t chunks = q->synthesis->chunks;
	int *left = arena_array(q->arena, int, chunks * q->rounds);
	for (int64_t c = 0; c < chunks; c++)
		for (int t = 0; t < q->rounds; t++) {
			int *clause = arena_array(q->arena, int, topology->ranks + 2);
			size_t count = 0;
			int now = left[c * q->rounds + t] = sat_variable(q->sat);
			clause[count++] = sat_not(now);
			if (t) {
				int before = left[c * q->rounds + t - 1];
				sat_clause(q->sat, (int[]){sat_not(before), now}, 2);
				clause[count++] = before;
			}
			for (size_t l = 0; l < topology->link_count; l++)
				if (topology->links[l].from == topology->root &&
					*sent(q, c, l, t) >= 0) {
					sat_clause(q->sat, (int[]){sat_not(*sent(q, c, l, t)), now},
						2);
					clause[count++] = *sent(q, c, l, t);
				}
			sat_clause(q->sat, clause, count);
			if (c)
				sat_clause(q->sat,
					(int[]){sat_not(now), left[(c - 1) * q->rounds + t]}, 2);
		}
}

static bool go_on(void *user, uint64_t ticks)
{
	return run_spend(user, ticks);
}

static const struct send_schedule *read_answer(struct rounds_question *q, struct arena *arena)
{
	const struct topology *topology = q->synthesis->topology;
	struct messages messages = {0};
	for (int64_t c = 0; c < q->synthesis->chunks; c++)
		for (size_t l = 0; l < topology->link_count; l++)
			for (int t = 0; t < q->rounds; t++)
				if (*sent(q, c, l, t) >= 0 && sat_value(q->sat, *sent(q, c, l, t)))
					*array_add(q->arena, &messages) =
						(struct message){t, topology->links[l].from,
							topology->links[l].to, c, 1};
	return schedule_make(arena, q->synthesis, &messages);
}

static enum sat_status ask(struct rounds_question *q)
{
	const struct topology *topology = q->synthesis->topology;
	q->sat = sat_make(q->arena);
	add_variables(q);
	for (int t = 0; t < q->rounds; t++) {
		for (int64_t c = 0; c < q->synthesis->chunks; c++)
			for (int r = 0; r < topology->ranks; r++)
				if (r != topology->root)
					add_arrival(q, c, r, t);
		add_limits(q, t);
	}
	add_order(q);
	for (int64_t c = 0; c < q->synthesis->chunks; c++)
		for (int r = 0; r < topology->ranks; r++)
			if (r != topology->root) {
				int end = *there(q, c, r, q->rounds);
				sat_clause(q->sat, &end, end >= 0);
			}
	return sat_solve(q->sat, go_on, q->run);
}

/* What is too large to write down as clauses. */
enum { LITERALS_MOST = 1 << 22 };

static void run_exact(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct arena *arena = run_arena(run);
	const struct send_schedule *best = schedule_best(run, synthesis);
	int64_t bound = rounds_bound(synthesis, arena).rounds;
	int *distances = arena_array(arena, int, topology->ranks);
	topology_distances(topology, topology->root, distances);
	while (!best || best->rounds > bound) {
		struct rounds_question question = {.synthesis = synthesis,
			.run = run,
			.arena = arena_open(),
			.rounds = (int)bound,
			.distances = distances};
		bool small = synthesis->chunks * bound <=
			     LITERALS_MOST / (int64_t)(topology->link_count + 1);
		enum sat_status status = small ? ask(&question) : SAT_STOPPED;
		if (status == SAT_MET)
			best = read_answer(&question, arena);
		arena_close(question.arena);
		if (status == SAT_STOPPED)
			break;
		bound += status == SAT_NEVER;
	}
	if (best)
		broadcast_offer(run, best);
	run_prove(run, best && best->rounds == bound ? PROOF_OPTIMAL : PROOF_BOUND, (double)bound);
}

const struct solver broadcast_exact_solver = {
	.stage = STAGE_BROADCAST,
	.name = "exact",
	.summary = "the fewest rounds, over any links, by clauses; proves them",
	.proves = true,
	.run = run_exact,
};
