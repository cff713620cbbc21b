#include "solvers/broadcast/tree.h"

#include "base/arena.h"
#include "search/engine/milp.h"
#include "search/transfer/broadcast_search.h"

#include <math.h>

/*
 * A 0-1 program whose points are the schedules by which all chunks reach all ranks in T rounds
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
	struct milp *milp;
	int rounds;
	int *distances;
	int *there, *sent; /* columns */
};

static int *rounds_column_there(struct rounds_question *q, int64_t chunk, int rank, int round)
{
	const struct topology *topology = q->synthesis->topology;
	return &q->there[(chunk * topology->ranks + rank) * (q->rounds + 1) + round];
}

static int *rounds_column_sent(struct rounds_question *q, int64_t chunk, size_t link, int round)
{
	const struct topology *topology = q->synthesis->topology;
	return &q->sent[(chunk * (int64_t)topology->link_count + (int64_t)link) * q->rounds +
			round];
}

static void add_columns(struct rounds_question *q)
{
	const struct topology *topology = q->synthesis->topology;
	int64_t chunks = q->synthesis->chunks;
	q->there = arena_array(q->arena, int, chunks * topology->ranks * (q->rounds + 1));
	q->sent = arena_array(q->arena, int, chunks *(int64_t)topology->link_count * q->rounds + 1);
	for (int64_t c = 0; c < chunks; c++) {
		for (int r = 0; r < topology->ranks; r++)
			for (int t = 0; t <= q->rounds; t++) {
				bool must = r == topology->root || t == q->rounds;
				*rounds_column_there(q, c, r, t) = milp_column(
					q->milp, must, must || t >= q->distances[r], true, 0);
			}
		for (size_t l = 0; l < topology->link_count; l++)
			for (int t = 0; t < q->rounds; t++) {
				const struct link *link = &topology->links[l];
				bool can = link->to != topology->root &&
					   t >= q->distances[link->from] &&
					   t + 1 >= q->distances[link->to];
				*rounds_column_sent(q, c, l, t) =
					milp_column(q->milp, 0, can, true, 0);
			}
	}
}

/* a <= b */
static void add_at_most(struct rounds_question *q, int a, int b)
{
	milp_row(q->milp, -INFINITY, 0);
	milp_entry(q->milp, a, 1);
	milp_entry(q->milp, b, -1);
}

/* The ways that bring a chunk in a round, and what each of them needs. */
static void add_arrival(struct rounds_question *q, int64_t chunk, int rank, int round)
{
	const struct topology *topology = q->synthesis->topology;
	for (size_t l = 0; l < topology->link_count; l++)
		if (topology->links[l].to == rank)
			add_at_most(q, *rounds_column_sent(q, chunk, l, round),
				*rounds_column_there(q, chunk, topology->links[l].from, round));
	milp_row(q->milp, 0, 0);
	milp_entry(q->milp, *rounds_column_there(q, chunk, rank, round + 1), -1);
	milp_entry(q->milp, *rounds_column_there(q, chunk, rank, round), 1);
	for (size_t l = 0; l < topology->link_count; l++)
		if (topology->links[l].to == rank)
			milp_entry(q->milp, *rounds_column_sent(q, chunk, l, round), 1);
}

static void enter_chunks(struct rounds_question *q, size_t link, int round)
{
	for (int64_t c = 0; c < q->synthesis->chunks; c++)
		milp_entry(q->milp, *rounds_column_sent(q, c, link, round), 1);
}

/* One chunk a channel and, where there is one port, one a sender and a receiver. */
static void add_limits(struct rounds_question *q, int round)
{
	const struct topology *topology = q->synthesis->topology;
	for (size_t l = 0; topology->ports == PORTS_ALL && l < topology->link_count; l++) {
		milp_row(q->milp, -INFINITY, topology->channels);
		enter_chunks(q, l, round);
	}
	for (int r = 0; topology->ports == PORTS_ONE && r < topology->ranks; r++)
		for (int side = 0; side < 2; side++) {
			milp_row(q->milp, -INFINITY, 1);
			for (size_t l = 0; l < topology->link_count; l++)
				if ((side ? topology->links[l].to : topology->links[l].from) == r)
					enter_chunks(q, l, round);
		}
}

/* Adds a column that is 1 if the root has sent a chunk by the end of a round. */
static int add_left(struct rounds_question *q, int64_t chunk, int round, int before)
{
	const struct topology *topology = q->synthesis->topology;
	int left = milp_column(q->milp, 0, 1, true, 0);
	add_at_most(q, before, left);
	for (size_t l = 0; l < topology->link_count; l++)
		if (topology->links[l].from == topology->root)
			add_at_most(q, *rounds_column_sent(q, chunk, l, round), left);
	milp_row(q->milp, 0, INFINITY);
	milp_entry(q->milp, left, -1);
	milp_entry(q->milp, before, 1);
	for (size_t l = 0; l < topology->link_count; l++)
		if (topology->links[l].from == topology->root)
			milp_entry(q->milp, *rounds_column_sent(q, chunk, l, round), 1);
	return left;
}

static void add_order(struct rounds_question *q)
{
	int *left = arena_array(q->arena, int, q->synthesis->chunks *(q->rounds + 1));
	for (int64_t c = 0; c < q->synthesis->chunks; c++, left += q->rounds + 1) {
		left[0] = milp_column(q->milp, 0, 0, true, 0);
		for (int t = 0; t < q->rounds; t++) {
			left[t + 1] = add_left(q, c, t, left[t]);
			if (c)
				add_at_most(q, left[t + 1], left[t - q->rounds]);
		}
	}
}

static bool go_on(void *user, uint64_t iterations, int rows)
{
	return run_spend(user, iterations);
}

static const struct send_schedule *read_answer(
	struct rounds_question *q, const double *values, struct arena *arena)
{
	const struct topology *topology = q->synthesis->topology;
	struct messages messages = {0};
	for (int64_t c = 0; c < q->synthesis->chunks; c++)
		for (size_t l = 0; l < topology->link_count; l++)
			for (int t = 0; t < q->rounds; t++)
				if (values[*rounds_column_sent(q, c, l, t)] > 0.5)
					*array_add(q->arena, &messages) =
						(struct message){t, topology->links[l].from,
							topology->links[l].to, c, 1};
	return schedule_make(arena, q->synthesis, &messages);
}

static struct milp_answer rounds_question_solve(struct rounds_question *q)
{
	const struct topology *topology = q->synthesis->topology;
	q->milp = milp_make(q->arena);
	add_columns(q);
	for (int t = 0; t < q->rounds; t++) {
		for (int64_t c = 0; c < q->synthesis->chunks; c++)
			for (int r = 0; r < topology->ranks; r++)
				if (r != topology->root)
					add_arrival(q, c, r, t);
		add_limits(q, t);
	}
	add_order(q);
	struct milp_wishes wishes = {.clauses = true, .user = q->run, .go_on = go_on};
	return milp_solve(q->milp, &wishes, q->arena);
}

/* Literals of the largest program that is written down. */
enum { LITERALS_MOST = 1 << 22 };

static void run_exact(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct arena *arena = run_arena(run);
	const struct send_schedule *best = schedule_best(run, synthesis);
	int64_t bound = rounds_bound(synthesis, arena);
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
		struct milp_answer answer = {.status = PROOF_BUDGET};
		if (small)
			answer = rounds_question_solve(&question);
		if (answer.values)
			best = read_answer(&question, answer.values, arena);
		arena_close(question.arena);
		if (!answer.values && answer.status != PROOF_INFEASIBLE)
			break;
		bound += answer.status == PROOF_INFEASIBLE;
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
