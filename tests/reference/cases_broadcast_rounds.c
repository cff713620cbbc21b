#include "base/arena.h"
#include "base/text.h"
#include "cost/transfer/broadcast.h"
#include "search/drive/solver.h"
#include "search/transfer/broadcast_search.h"
#include "sim/transfer/schedule.h"
#include "tests/support/algorithm_rounds.h"
#include "tests/support/case_json.h"
#include "tests/support/family.h"

#include <stdio.h>

/*
 * Family broadcast: the fewest rounds on small topologies, proven, and the rounds of the known
 * algorithms; every schedule is executed.
 */
static int find_word(const char *const *words, const char *word)
{
	int i = 0;
	while (words[i] && !text_equal(words[i], word))
		i++;
	return words[i] ? i : -1;
}

static void check_executed(struct family *family, const struct send_schedule *schedule,
	const struct topology *topology)
{
	struct copying copying = {.in = {.rate = {8, 1}},
		.out = {.rate = {9, 2}},
		.link = {.latency = {3, 1}, .rate = {4, 1}}};
	struct copy_ticks ticks = copying_ticks(&copying);
	struct schedule_cost cost;
	struct schedule_result run =
		schedule_run(schedule, topology, &ticks, 4096, 4, true, 1, NULL, family->arena);
	schedule_price(schedule, &ticks, 4096, 4, &cost);
	family_note(family, "execution", run.fault);
	if (run.rounds != cost.rounds || run.ticks != cost.ticks ||
		run.link_bytes != cost.link_bytes || run.buffer_bytes != cost.buffer_bytes)
		family_note(family, "execution", "the simulator counts otherwise");
}

static void check_optimum(struct family *family, const json_t *record)
{
	const json_t *dims = json_object_get(record, "dims");
	int kind = find_word(topology_names, case_text(record, "topology"));
	int ports = find_word(port_count_names, case_text(record, "ports"));
	int ranks = (int)case_integer(record, "nranks");
	int64_t chunks = case_integer(record, "chunks");
	family_case(family, "%s ports %s, %d ranks, %d chunks", case_text(record, "topology"),
		case_text(record, "ports"), ranks, (int)chunks);
	if (kind < 0 || ports < 0) {
		family_note(family, "topology", "it is none of ours");
		return;
	}
	const struct copying copying = {.topology = (enum topology_kind)kind,
		.ports = (enum port_count)ports,
		.channels = (int)case_integer(record, "link_capacity")};
	const struct topology *topology =
		topology_of(family->arena, &copying, ranks, (int)case_integer(record, "root"),
			(int)json_integer_value(json_array_get(dims, 1)));
	const struct synthesis synthesis = {topology, chunks};
	const struct problem problem = {.stage = STAGE_BROADCAST, .synthesis = &synthesis};
	struct answer answer =
		solve(solver_find(STAGE_BROADCAST, "exact"), &problem, 1 << 26, 1, family->arena);
	if (!answer.candidate_count || answer.status != PROOF_OPTIMAL) {
		family_note(family, "exact", "it proves no optimum");
		return;
	}
	family_expect(family, "optimal_rounds", json_object_get(record, "optimal_rounds"),
		json_integer(answer.candidates[0].schedule->rounds));
	check_executed(family, answer.candidates[0].schedule, topology);
}

static void check_algorithm(struct family *family, const json_t *record, const char *key,
	const char *name, const struct synthesis *synthesis)
{
	const struct problem problem = {.stage = STAGE_BROADCAST, .synthesis = synthesis};
	struct answer answer =
		solve(solver_find(STAGE_BROADCAST, name), &problem, 0, 1, family->arena);
	const json_t *expected = json_object_get(record, key);
	if (!answer.candidate_count) {
		family_note(family, key, "no schedule");
		return;
	}
	const struct send_schedule *schedule = answer.candidates[0].schedule;
	family_expect(family, key, expected, json_integer(schedule->rounds));
	family_expect(family, key, expected,
		json_integer(algorithm_rounds(name, schedule->ranks, schedule->chunks)));
	check_executed(family, schedule, synthesis->topology);
}

static void check_algorithms(struct family *family, const json_t *record)
{
	static const char *const names[][2] = {{"flat", "flat"}, {"chain", "chain"},
		{"binomial", "binomial"}, {"binary_tree", "binary_tree"},
		{"optimal_one_ported", "round_optimal"}};
	int ranks = (int)case_integer(record, "nranks");
	family_case(family, "algorithms, %d ranks, %d chunks", ranks,
		(int)case_integer(record, "chunks"));
	const struct synthesis synthesis = {
		topology_make(family->arena, TOPOLOGY_FULL, PORTS_ONE, ranks, 0, 0),
		case_integer(record, "chunks")};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		check_algorithm(family, record, names[i][0], names[i][1], &synthesis);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	size_t i;
	json_t *record;
	if (!family_open(&family, "broadcast/rounds", root, "broadcast"))
		return 0;
	json_t *all = family_file(&family, root, "broadcast/broadcast.json");
	json_array_foreach(json_object_get(all, "broadcast_rounds"), i, record)
		check_optimum(&family, record);
	json_array_foreach(json_object_get(all, "algorithm_rounds"), i, record)
		check_algorithms(&family, record);
	json_decref(all);
	return family_close(&family);
}
