/*
 * Broadcasts in rounds: the known algorithms against their formulas, the round-optimal one for
 * every N and C up to 64, the fewest rounds against trying everything, bounds, and schedules that
 * are wrong.
 */
#include "base/arena.h"
#include "cost/transfer/broadcast.h"
#include "search/drive/solver.h"
#include "search/transfer/broadcast_search.h"
#include "sim/transfer/schedule.h"
#include "tests/support/algorithm_rounds.h"
#include "tests/support/broadcast_ilp.h"
#include "tests/support/schedule_case.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

BARE_TEST(the_round_optimal_schedule_meets_its_bound)
{
	for (int ranks = 2; ranks <= 64; ranks++)
		for (int64_t chunks = 1; chunks <= 64; chunks++) {
			struct arena *arena = arena_open();
			int q = 0;
			while ((1 << q) < ranks)
				q++;
			const struct topology *topology = topology_make(
				arena, TOPOLOGY_FULL, PORTS_ONE, ranks, (int)(chunks % ranks), 0);
			const struct synthesis synthesis = {topology, chunks};
			const struct send_schedule *schedule =
				schedule_ask(arena, STAGE_BROADCAST, "round_optimal", &synthesis);
			assert_int_equal(schedule->rounds, chunks - 1 + q);
			schedule_executed(arena, schedule, topology, chunks + 5);
			arena_close(arena);
		}
}

BARE_TEST(algorithms_have_the_rounds_of_their_formulas)
{
	static const char *const names[] = {
		"flat", "chain", "binomial", "binary_tree", "round_optimal"};
	for (int ranks = 2; ranks <= 20; ranks++)
		for (int64_t chunks = 1; chunks <= 9; chunks++) {
			struct arena *arena = arena_open();
			const struct topology *topology =
				topology_make(arena, TOPOLOGY_FULL, PORTS_ONE, ranks, ranks / 2, 0);
			const struct synthesis synthesis = {topology, chunks};
			int64_t bound = rounds_bound(&synthesis, arena);
			for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
				const struct send_schedule *schedule =
					schedule_ask(arena, STAGE_BROADCAST, names[i], &synthesis);
				int64_t formula = algorithm_rounds(names[i], ranks, chunks);
				if (schedule->rounds != formula)
					fail_msg("%s, %d ranks, %" PRId64
						 " chunks: %d, not %" PRId64,
						names[i], ranks, chunks, schedule->rounds, formula);
				assert_true(bound <= formula);
				schedule_executed(arena, schedule, topology, 100);
			}
			schedule_executed(arena,
				schedule_ask(
					arena, STAGE_BROADCAST, "scatter_allgather", &synthesis),
				topology, 100);
			arena_close(arena);
		}
}

/* 2^(h + 1) - 1 ranks: 2 (C - 1) + 2 h rounds; the pipelined chain C + N - 2; both known. */
BARE_TEST(every_topology_carries_some)
{
	for (int kind = 0; kind < TOPOLOGY_COUNT; kind++)
		for (int ports = 0; ports < 2; ports++)
			for (int ranks = 1; ranks <= 12; ranks++) {
				struct arena *arena = arena_open();
				int columns = kind == TOPOLOGY_MESH && ranks % 3 == 0 ? 3 : 1;
				const struct topology *topology = topology_make(arena,
					(enum topology_kind)kind, (enum port_count)ports, ranks,
					kind == TOPOLOGY_ROOT_ONLY ? ranks / 2 : ranks - 1,
					columns);
				const struct synthesis synthesis = {topology, 4};
				int offered = 0;
				for (size_t s = 0; solvers[s]; s++) {
					if (solvers[s]->stage != STAGE_BROADCAST ||
						solvers[s]->proves)
						continue;
					const struct send_schedule *schedule = schedule_ask(arena,
						STAGE_BROADCAST, solvers[s]->name, &synthesis);
					if (!schedule)
						continue;
					offered++;
					schedule_executed(arena, schedule, topology, 37);
				}
				assert_true(offered > 0);
				arena_close(arena);
			}
}

/* ---- fewest rounds by trying everything: what each rank has is a bit set of chunks */

struct trial {
	const struct topology *topology;
	int chunks;
	unsigned full;
};

static bool done(const struct trial *trial, const unsigned *has)
{
	for (int r = 0; r < trial->topology->ranks; r++)
		if (has[r] != trial->full)
			return false;
	return true;
}

static bool reach(const struct trial *trial, const unsigned *has, int rounds);

/* Channels from this number on may still bring something in this round. */
static bool choose(const struct trial *trial, const unsigned *has, unsigned *next, size_t way,
	unsigned sent, unsigned received, int rounds)
{
	const struct topology *topology = trial->topology;
	size_t l = way / (size_t)topology->channels;
	if (l == topology->link_count)
		return reach(trial, next, rounds - 1);
	int from = topology->links[l].from, to = topology->links[l].to;
	bool one = topology->ports == PORTS_ONE;
	bool taken = one && ((sent >> from & 1) || (received >> to & 1));
	for (int c = 0; c < trial->chunks && !taken; c++) {
		if (!(has[from] >> c & 1) || (next[to] >> c & 1))
			continue;
		next[to] |= 1U << c;
		bool good = choose(
			trial, has, next, way + 1, sent | 1U << from, received | 1U << to, rounds);
		next[to] &= ~(1U << c);
		if (good)
			return true;
	}
	return choose(trial, has, next, way + 1, sent, received, rounds);
}

static bool reach(const struct trial *trial, const unsigned *has, int rounds)
{
	unsigned next[8];
	if (done(trial, has))
		return true;
	if (!rounds)
		return false;
	memcpy(next, has, sizeof next);
	return choose(trial, has, next, 0, 0, 0, rounds);
}

static int fewest(const struct synthesis *synthesis)
{
	struct trial trial = {
		synthesis->topology, (int)synthesis->chunks, (1U << synthesis->chunks) - 1};
	unsigned has[8] = {0};
	int rounds = 0;
	has[synthesis->topology->root] = trial.full;
	while (!reach(&trial, has, rounds))
		rounds++;
	return rounds;
}

static void check_ilp(struct arena *arena, const struct synthesis *synthesis, int least)
{
	const struct problem problem = {.stage = STAGE_BROADCAST, .synthesis = synthesis};
	struct answer answer = solve(&broadcast_ilp_solver, &problem, 0, 1, arena);
	assert_int_equal(answer.status, PROOF_OPTIMAL);
	assert_int_equal(answer.candidates[0].schedule->rounds, least);
	schedule_executed(arena, answer.candidates[0].schedule, synthesis->topology, 16);
}

BARE_TEST(the_fewest_rounds_are_those_of_trying_everything)
{
	for (int kind = 0; kind < TOPOLOGY_COUNT; kind++)
		for (int ports = 0; ports < 2; ports++)
			for (int ranks = 2; ranks <= 4; ranks++)
				for (int64_t chunks = 1; chunks <= (ranks < 4 ? 3 : 2); chunks++) {
					struct arena *arena = arena_open();
					const struct topology *topology = topology_make(arena,
						(enum topology_kind)kind, (enum port_count)ports,
						ranks, 0, ranks % 2 ? 1 : 2);
					const struct synthesis synthesis = {topology, chunks};
					const struct send_schedule *schedule = schedule_ask(
						arena, STAGE_BROADCAST, "exact", &synthesis);
					int least = fewest(&synthesis);
					if (schedule->rounds != least)
						fail_msg("%s %s, %d ranks, %d chunks: %d, not %d",
							topology_names[kind],
							port_count_names[ports], ranks, (int)chunks,
							schedule->rounds, least);
					assert_true(rounds_bound(&synthesis, arena) <= least);
					schedule_executed(arena, schedule, topology, 16);
					check_ilp(arena, &synthesis, least);
					arena_close(arena);
				}
}

/* Two channels a link: as trying everything finds, and no more rounds than with one. */
BARE_TEST(links_of_two_channels_take_two_chunks)
{
	static const struct {
		enum topology_kind kind;
		enum port_count ports;
		int ranks;
		int64_t chunks;
		int rounds;
	} rows[] = {
		{TOPOLOGY_RING, PORTS_ALL, 3, 4, 3},
		{TOPOLOGY_RING, PORTS_ALL, 4, 3, 4},
		{TOPOLOGY_BIDIRECTIONAL_RING, PORTS_ALL, 3, 4, 2},
		{TOPOLOGY_TREE, PORTS_ALL, 4, 3, 3},
		{TOPOLOGY_ROOT_ONLY, PORTS_ALL, 3, 5, 3},
		{TOPOLOGY_FULL, PORTS_ONE, 3, 2, 3},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		const struct copying copying = {
			.topology = rows[i].kind, .ports = rows[i].ports, .channels = 2};
		const struct topology *topology = topology_of(arena, &copying, rows[i].ranks, 0, 0);
		const struct synthesis synthesis = {topology, rows[i].chunks};
		const struct send_schedule *schedule =
			schedule_ask(arena, STAGE_BROADCAST, "exact", &synthesis);
		assert_int_equal(schedule->rounds, rows[i].rounds);
		assert_int_equal(fewest(&synthesis), rows[i].rounds);
		assert_true(rounds_bound(&synthesis, arena) <= rows[i].rounds);
		schedule_executed(arena, schedule, topology, 16);
		check_ilp(arena, &synthesis, rows[i].rounds);
		for (size_t s = 0; solvers[s]; s++) {
			if (solvers[s]->stage != STAGE_BROADCAST || solvers[s]->proves)
				continue;
			schedule =
				schedule_ask(arena, STAGE_BROADCAST, solvers[s]->name, &synthesis);
			if (schedule)
				schedule_executed(arena, schedule, topology, 16);
		}
		arena_close(arena);
	}
}

/* Says yes from the ask after `patience` on. */
struct person {
	int patience, asked;
};

static bool wants_to_stop(void *at)
{
	struct person *person = at;
	return ++person->asked > person->patience;
}

TEST(an_integer_program_ends_when_asked)
{
	const struct synthesis synthesis = {
		topology_make(arena, TOPOLOGY_BIDIRECTIONAL_RING, PORTS_ALL, 8, 0, 0), 6};
	const struct problem problem = {.stage = STAGE_BROADCAST, .synthesis = &synthesis};
	struct person person = {.patience = 40};
	const struct asker asker = {.stopper = {&person, wants_to_stop}};
	struct answer answer = solve_for(&asker, &broadcast_ilp_solver, &problem, 0, 1, arena);
	assert_true(answer.stopped && person.asked < 60);
	assert_true(answer.status == PROOF_BOUND && answer.candidate_count == 1);
}

/* Eight ranks and eight chunks: every answer is proven. */
BARE_TEST(eight_ranks_and_chunks_are_proven)
{
	static const struct {
		enum topology_kind kind;
		enum port_count ports;
		int columns, rounds;
	} rows[] = {
		{TOPOLOGY_FULL, PORTS_ONE, 0, 10},
		{TOPOLOGY_RING, PORTS_ONE, 0, 14},
		{TOPOLOGY_BIDIRECTIONAL_RING, PORTS_ALL, 0, 7},
		{TOPOLOGY_MESH, PORTS_ALL, 4, 7},
		{TOPOLOGY_ROOT_ONLY, PORTS_ALL, 0, 8},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		const struct synthesis synthesis = {
			topology_make(arena, rows[i].kind, rows[i].ports, 8, 0, rows[i].columns),
			8};
		const struct problem problem = {.stage = STAGE_BROADCAST, .synthesis = &synthesis};
		struct answer answer =
			solve(solver_find(STAGE_BROADCAST, "exact"), &problem, 1 << 24, 1, arena);
		assert_int_equal(answer.status, PROOF_OPTIMAL);
		assert_int_equal(answer.candidates[0].schedule->rounds, rows[i].rounds);
		schedule_executed(arena, answer.candidates[0].schedule, synthesis.topology, 64);
		arena_close(arena);
	}
}

BARE_TEST(wrong_schedules_show)
{
	static const struct {
		struct message message;
		const char *why;
	} rows[] = {
		{{0, 0, 2, 0, 1}, "they have no link"},
		{{0, 0, 1, 1, 1}, "the link is taken"},
		{{0, 0, 3, 1, 1}, "the sender has one port"},
		{{0, 1, 2, 0, 1}, "the sender does not have the chunk yet"},
		{{1, 0, 1, 0, 1}, "the receiver has the chunk already"},
		{{1, 0, 1, 1, 2}, "it sends chunks that do not exist"},
		{{1, 0, 1, 1, 1}, "chunk 0 never comes to rank 2"},
	};
	struct copy_ticks ticks = copying_ticks(&schedule_speeds);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		const struct synthesis synthesis = {
			topology_make(arena, TOPOLOGY_BIDIRECTIONAL_RING, PORTS_ONE, 4, 0, 0), 2};
		struct messages messages = {0};
		*array_add(arena, &messages) = (struct message){0, 0, 1, 0, 1};
		*array_add(arena, &messages) = rows[i].message;
		struct schedule_result run =
			schedule_run(schedule_make(arena, &synthesis, &messages),
				synthesis.topology, &ticks, 8, 1, true, 1, NULL, arena);
		if (!run.fault || !strstr(run.fault, rows[i].why))
			fail_msg("row %zu: %s", i, run.fault ? run.fault : "no fault");
		arena_close(arena);
	}
}
