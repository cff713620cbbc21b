#include "tests/support/broadcast_ilp.h"

#include "base/arena.h"
#include "search/engine/milp.h"
#include "search/transfer/broadcast_search.h"
#include "solvers/broadcast/tree.h"

#include <math.h>

/*
 * sent(c, l, t) is 1 if link l brings chunk c in round t.
 *
 *	each chunk comes to each rank but the root once, in round a(c, r) = sum of (t + 1) sent.
 *	A chunk that leaves a rank in a round came to it in an earlier one.
 *	A channel of a link, or a sender and a receiver if each has one port, takes one chunk a
 *	round.
 *	z is at least every a(c, r); z is least.
 *
 * The rounds of the best known algorithm are enough.
 */
struct round_program {
	const struct synthesis *synthesis;
	struct run *run;
	struct milp *milp;
	int rounds, last; /* last: the column of z */
	const int *distances;
	int *sent; /* columns; -1: it cannot be */
};

static int column_of(const struct round_program *p, int64_t chunk, size_t link, int round)
{
	const struct topology *topology = p->synthesis->topology;
	return p->sent[(chunk * (int64_t)topology->link_count + (int64_t)link) * p->rounds + round];
}

static void add_columns(struct round_program *p)
{
	const struct topology *topology = p->synthesis->topology;
	size_t number = 0;
	p->sent = arena_array(run_arena(p->run), int,
		p->synthesis->chunks *(int64_t)topology->link_count * p->rounds + 1);
	for (int64_t c = 0; c < p->synthesis->chunks; c++)
		for (size_t l = 0; l < topology->link_count; l++)
			for (int t = 0; t < p->rounds; t++) {
				const struct link *link = &topology->links[l];
				bool can =
					link->to != topology->root && t >= p->distances[link->from];
				p->sent[number++] = can ? milp_column(p->milp, 0, 1, true, 0) : -1;
			}
	p->last = milp_column(p->milp, 0, p->rounds, true, 1);
}

/* Adds the arrivals of a chunk at a rank before a round to the row made last. */
static void add_arrivals(struct round_program *p, int64_t chunk, int rank, int before, bool times)
{
	const struct topology *topology = p->synthesis->topology;
	for (size_t l = 0; l < topology->link_count; l++)
		for (int t = 0; t < before && topology->links[l].to == rank; t++) {
			int column = column_of(p, chunk, l, t);
			if (column >= 0)
				milp_entry(p->milp, column, times ? t + 1 : 1);
		}
}

static void add_chunk(struct round_program *p, int64_t chunk)
{
	const struct topology *topology = p->synthesis->topology;
	for (int r = 0; r < topology->ranks; r++) {
		if (r == topology->root)
			continue;
		milp_row(p->milp, 1, 1);
		add_arrivals(p, chunk, r, p->rounds, false);
		milp_row(p->milp, -INFINITY, 0);
		add_arrivals(p, chunk, r, p->rounds, true);
		milp_entry(p->milp, p->last, -1);
	}
	for (size_t l = 0; l < topology->link_count; l++)
		for (int t = 0; t < p->rounds; t++) {
			int column = column_of(p, chunk, l, t), from = topology->links[l].from;
			if (column < 0 || from == topology->root)
				continue;
			milp_row(p->milp, 0, INFINITY);
			add_arrivals(p, chunk, from, t, false);
			milp_entry(p->milp, column, -1);
		}
}

static void add_link(struct round_program *p, size_t link, int round)
{
	for (int64_t c = 0; c < p->synthesis->chunks; c++)
		if (column_of(p, c, link, round) >= 0)
			milp_entry(p->milp, column_of(p, c, link, round), 1);
}

static void add_limits(struct round_program *p, int round)
{
	const struct topology *topology = p->synthesis->topology;
	for (size_t l = 0; topology->ports == PORTS_ALL && l < topology->link_count; l++) {
		milp_row(p->milp, 0, topology->channels);
		add_link(p, l, round);
	}
	for (int r = 0; topology->ports == PORTS_ONE && r < topology->ranks; r++)
		for (int side = 0; side < 2; side++) {
			milp_row(p->milp, 0, 1);
			for (size_t l = 0; l < topology->link_count; l++)
				if ((side ? topology->links[l].to : topology->links[l].from) == r)
					add_link(p, l, round);
		}
}

static const struct send_schedule *read_answer(
	const struct round_program *p, const struct milp_answer *answer)
{
	const struct topology *topology = p->synthesis->topology;
	struct messages messages = {0};
	for (int64_t c = 0; c < p->synthesis->chunks; c++)
		for (size_t l = 0; l < topology->link_count; l++)
			for (int t = 0; t < p->rounds; t++) {
				int column = column_of(p, c, l, t);
				if (column >= 0 && answer->values[column] > 0.5)
					*array_add(run_arena(p->run), &messages) =
						(struct message){t, topology->links[l].from,
							topology->links[l].to, c, 1};
			}
	return schedule_make(run_arena(p->run), p->synthesis, &messages);
}

static bool go_on(void *user, uint64_t iterations, int rows)
{
	enum { ROWS_OF_A_TICK = 64 };
	return run_spend(user, 1 + iterations * (uint64_t)rows / ROWS_OF_A_TICK);
}

/* Programs with more columns are not tried. */
enum { COLUMNS_MOST = 20000 };

static void run_ilp(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	const struct send_schedule *best = schedule_best(run, synthesis);
	int *distances = arena_array(run_arena(run), int, topology->ranks);
	struct round_program program = {
		.synthesis = synthesis, .run = run, .milp = milp_make(run_arena(run))};
	if (!best ||
		(int64_t)topology->link_count * synthesis->chunks * best->rounds > COLUMNS_MOST)
		return;
	topology_distances(topology, topology->root, distances);
	program.distances = distances;
	program.rounds = best->rounds;
	add_columns(&program);
	for (int64_t c = 0; c < synthesis->chunks; c++)
		add_chunk(&program, c);
	for (int t = 0; t < program.rounds; t++)
		add_limits(&program, t);
	struct milp_wishes wishes = {.user = run, .go_on = go_on};
	struct milp_answer answer = milp_solve(program.milp, &wishes, run_arena(run));
	if (answer.status == PROOF_NONE) {
		run_complain(run, false, -1, "ilp: GLPK gave up: %s", answer.fault);
		return;
	}
	if (answer.values && round(answer.value) < best->rounds)
		best = read_answer(&program, &answer);
	double bound = ceil(answer.bound - 0.5);
	broadcast_offer(run, best);
	run_prove(run, bound >= best->rounds ? PROOF_OPTIMAL : PROOF_BOUND, bound);
}

const struct solver broadcast_ilp_solver = {
	.stage = STAGE_BROADCAST,
	.name = "ilp",
	.summary = "the fewest rounds, over any links, by an integer program; proves small ones",
	.proves = true,
	.run = run_ilp,
};
