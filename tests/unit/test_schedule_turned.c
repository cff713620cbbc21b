/*
 * Reductions, scatters and gathers in rounds: broadcasts turned around in time, over links turned
 * around, are executed as reductions in as many rounds, which trying every reduction confirms; so
 * are scatters as gathers; and what is wrong with them shows.
 */
#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/transfer/broadcast_search.h"
#include "sim/transfer/schedule.h"
#include "tests/support/schedule_case.h"

#include <string.h>

#include "tests/test.h"

BARE_TEST(every_broadcast_turned_around_is_a_reduction)
{
	for (int kind = 0; kind < TOPOLOGY_COUNT; kind++)
		for (int ports = 0; ports < 2; ports++)
			for (int ranks = 1; ranks <= 12; ranks++) {
				struct arena *arena = arena_open();
				int columns = kind == TOPOLOGY_MESH && ranks % 3 == 0 ? 3 : 1;
				const struct topology *back =
					topology_make(arena, (enum topology_kind)kind,
						(enum port_count)ports, ranks, ranks / 2, columns);
				const struct topology *topology = topology_reverse(arena, back);
				for (size_t s = 0; solvers[s]; s++) {
					bool scatters = solvers[s]->stage == STAGE_SCATTER;
					const struct synthesis synthesis = {
						back, scatters ? ranks : 4};
					if ((!scatters && solvers[s]->stage != STAGE_BROADCAST) ||
						solvers[s]->proves)
						continue;
					const struct send_schedule *schedule = schedule_ask(arena,
						solvers[s]->stage, solvers[s]->name, &synthesis);
					if (!schedule)
						continue;
					const struct send_schedule *turned =
						schedule_reverse(arena, schedule);
					assert_int_equal(turned->operation,
						scatters ? OPERATION_GATHER : OPERATION_REDUCE);
					assert_int_equal(turned->rounds, schedule->rounds);
					schedule_executed(arena, schedule, back, 8 * ranks);
					schedule_executed(arena, turned, topology, 8 * ranks);
				}
				arena_close(arena);
			}
}

BARE_TEST(scatters_have_the_rounds_of_their_formulas)
{
	for (int ranks = 2; ranks <= 64; ranks++) {
		struct arena *arena = arena_open();
		int q = 0;
		while ((1 << q) < ranks)
			q++;
		for (int ports = 0; ports < 2; ports++) {
			const struct topology *topology = topology_make(
				arena, TOPOLOGY_FULL, (enum port_count)ports, ranks, ranks - 1, 0);
			const struct synthesis synthesis = {topology, ranks};
			const struct send_schedule *binomial =
				schedule_ask(arena, STAGE_SCATTER, "binomial", &synthesis);
			const struct send_schedule *flat =
				schedule_ask(arena, STAGE_SCATTER, "shortest_tree", &synthesis);
			assert_int_equal(binomial->rounds, q);
			assert_int_equal(flat->rounds, ports == PORTS_ONE ? ranks - 1 : 1);
			assert_int_equal(
				scatter_bound(&synthesis, arena), ports == PORTS_ONE ? q : 1);
			schedule_executed(arena, binomial, topology, 3 * ranks);
		}
		const struct topology *ring =
			topology_make(arena, TOPOLOGY_RING, PORTS_ONE, ranks, 0, 0);
		const struct synthesis synthesis = {ring, ranks};
		const struct send_schedule *around =
			schedule_ask(arena, STAGE_SCATTER, "shortest_tree", &synthesis);
		assert_int_equal(around->rounds, ranks - 1);
		schedule_executed(arena, around, ring, 3 * ranks);
		arena_close(arena);
	}
}

/* ---- fewest rounds of a reduction by trying everything: who still holds a part of which chunk */

struct trial {
	const struct topology *topology;
	int chunks, all; /* all: ranks but the root, as bits */
};

static bool reach(const struct trial *trial, const unsigned *holds, int rounds);

/* Links from number l on may still carry parts in this round.  `now`: who holds a part of a chunk
 * and has neither sent it nor got something for it in this round. */
static bool choose(const struct trial *trial, const unsigned *holds, const unsigned *now, size_t l,
	unsigned sent, unsigned received, int rounds)
{
	const struct topology *topology = trial->topology;
	if (l == topology->link_count)
		return reach(trial, holds, rounds - 1);
	int from = topology->links[l].from, to = topology->links[l].to;
	bool one = topology->ports == PORTS_ONE;
	bool taken = one && ((sent >> from & 1) || (received >> to & 1));
	for (int c = 0; c < trial->chunks && !taken && from != topology->root; c++) {
		unsigned next[4], left[4];
		bool stays = to == topology->root || (holds[c] >> to & 1);
		if (!(now[c] >> from & 1) || !stays)
			continue;
		memcpy(next, holds, sizeof next);
		memcpy(left, now, sizeof left);
		next[c] &= ~(1U << from);
		left[c] &= ~(1U << from | 1U << to);
		if (choose(trial, next, left, l + 1, sent | 1U << from, received | 1U << to,
			    rounds))
			return true;
	}
	return choose(trial, holds, now, l + 1, sent, received, rounds);
}

static bool reach(const struct trial *trial, const unsigned *holds, int rounds)
{
	unsigned rest = 0, now[4];
	for (int c = 0; c < trial->chunks; c++)
		rest |= holds[c];
	if (!rest)
		return true;
	if (!rounds)
		return false;
	memcpy(now, holds, sizeof now);
	return choose(trial, holds, now, 0, 0, 0, rounds);
}

static int fewest(const struct topology *topology, int chunks)
{
	struct trial trial = {
		topology, chunks, ((1 << topology->ranks) - 1) & ~(1 << topology->root)};
	unsigned holds[4] = {0};
	int rounds = 0;
	for (int c = 0; c < chunks; c++)
		holds[c] = (unsigned)trial.all;
	while (!reach(&trial, holds, rounds))
		rounds++;
	return rounds;
}

/* The exact broadcast over links turned around is the exact reduction. */
BARE_TEST(the_fewest_rounds_are_those_of_trying_every_reduction)
{
	for (int kind = 0; kind < TOPOLOGY_ROOT_ONLY; kind++)
		for (int ports = 0; ports < 2; ports++)
			for (int ranks = 2; ranks <= 4; ranks++)
				for (int chunks = 1; chunks <= 2; chunks++) {
					struct arena *arena = arena_open();
					const struct topology *topology = topology_make(arena,
						(enum topology_kind)kind, (enum port_count)ports,
						ranks, 1, ranks % 2 ? 1 : 2);
					const struct synthesis back = {
						topology_reverse(arena, topology), chunks};
					const struct send_schedule *schedule = schedule_reverse(
						arena, schedule_ask(arena, STAGE_BROADCAST, "exact",
							       &back));
					assert_int_equal(
						schedule->rounds, fewest(topology, chunks));
					schedule_executed(arena, schedule, topology, 16);
					arena_close(arena);
				}
}

BARE_TEST(wrong_schedules_show)
{
	static const struct {
		enum operation operation;
		struct message messages[4];
		const char *why;
	} rows[] = {
		{OPERATION_REDUCE, {{0, 1, 0, 0, 1}, {1, 2, 0, 0, 1}}, NULL},
		{OPERATION_REDUCE, {{0, 2, 1, 0, 1}, {1, 1, 0, 0, 1}}, NULL},
		{OPERATION_REDUCE, {{0, 2, 1, 0, 1}, {0, 1, 0, 0, 1}}, "in the same round"},
		{OPERATION_REDUCE, {{0, 1, 0, 0, 1}, {0, 2, 1, 0, 1}},
			"the receiver has sent the chunk already"},
		{OPERATION_REDUCE, {{0, 1, 0, 0, 1}, {1, 1, 0, 0, 1}},
			"the sender has sent the chunk already"},
		{OPERATION_REDUCE, {{0, 1, 0, 0, 1}}, "holds the parts of 2 ranks, not of 3"},
		{OPERATION_SCATTER, {{0, 0, 1, 1, 1}, {1, 0, 2, 2, 1}}, NULL},
		{OPERATION_SCATTER, {{0, 0, 1, 1, 2}, {1, 1, 2, 2, 1}}, NULL},
		{OPERATION_SCATTER, {{0, 0, 1, 1, 1}, {1, 1, 2, 2, 1}},
			"the sender does not have the chunk yet"},
		{OPERATION_SCATTER, {{0, 0, 1, 1, 1}, {1, 0, 1, 2, 1}},
			"chunk 2 never comes to rank 2"},
		{OPERATION_GATHER, {{0, 1, 0, 1, 1}, {1, 2, 0, 2, 1}}, NULL},
		{OPERATION_GATHER, {{0, 1, 0, 2, 1}}, "the sender does not have the chunk yet"},
		{OPERATION_GATHER, {{0, 1, 0, 1, 1}}, "chunk 2 never comes to rank 0"},
	};
	struct copy_ticks ticks = copying_ticks(&schedule_speeds);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		int64_t chunks = rows[i].operation == OPERATION_REDUCE ? 1 : 3;
		const struct synthesis synthesis = {
			topology_make(arena, TOPOLOGY_FULL, PORTS_ONE, 3, 0, 0), chunks};
		struct messages messages = {0};
		for (int m = 0; m < 4 && rows[i].messages[m].count; m++)
			*array_add(arena, &messages) = rows[i].messages[m];
		struct send_schedule schedule = *schedule_make(arena, &synthesis, &messages);
		schedule.operation = rows[i].operation;
		struct schedule_result run = schedule_run(
			&schedule, synthesis.topology, &ticks, 12, 1, true, 1, NULL, arena);
		if (rows[i].why ? !run.fault || !strstr(run.fault, rows[i].why) : run.fault != NULL)
			fail_msg("row %zu: %s", i, run.fault ? run.fault : "no fault");
		arena_close(arena);
	}
}
