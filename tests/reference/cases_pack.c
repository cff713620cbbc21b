#include "base/arena.h"
#include "base/array.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "solvers/place/pack/pack.h"
#include "solvers/place/packing.h"
#include "tests/support/tally.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Family placement: eleven instances that fill their capacity.  Each is placed within this many nodes at
 * most, from each of some seeds, and the layouts are lawful; so are those of J and D in less, where
 * starts have to return.  The least peak of C is found and proven.  Those of D and J are their
 * loads: from one of some seeds on, the packer places them there.
 */
enum {
	LINE_MOST = 256,
	SEEDS = 3,
	CAPACITY = 1048576,
	NODES_MOST = 400000,
	TIGHT_NODES_MOST = 1000000,
	LOAD_SEEDS = 60
};

static struct packing read_instance(struct arena *arena, const char *path)
{
	struct array(struct buffer) buffers = {0};
	struct packing packing = {.capacity = CAPACITY, .alignment = 1, .goal = PACKING_FIT};
	char line[LINE_MOST];
	FILE *in = fopen(path, "r");
	while (in && fgets(line, sizeof line, in)) {
		struct buffer buffer = {.name = ""};
		int64_t id;
		if (sscanf(line, "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64, &id, &buffer.start,
			    &buffer.end, &buffer.size) == 4)
			*array_add(arena, &buffers) = buffer;
	}
	if (in)
		fclose(in);
	packing.count = buffers.count;
	packing.buffers = buffers.at;
	return packing;
}

static const char *judge(struct arena *arena, const struct packing *packing,
	const struct answer *answer, double value)
{
	if (!answer->candidate_count)
		return arena_format(arena, "not placed in %" PRIu64 " ticks", answer->ticks);
	size_t last = answer->candidate_count - 1;
	struct packing_fault fault = packing_check(packing, answer->candidates[last].placement);
	if (fault.a >= 0)
		return arena_format(arena, "buffers %d, %d: %s", fault.a, fault.b, fault.why);
	if (answer->values[last] > value)
		return arena_format(arena, "a peak of %.0f, not %.0f", answer->values[last], value);
	return answer->status == PROOF_OPTIMAL ? NULL : "not proven";
}

static struct packing read_letter(struct arena *arena, const char *folder, char letter)
{
	return read_instance(
		arena, arena_format(arena, "%s/placement/%c.1048576.csv", folder, letter));
}

static void check(struct tally *tally, const char *folder, char letter, int64_t capacity,
	enum packing_goal goal, double value, uint64_t seed)
{
	struct arena *arena = arena_open();
	struct packing packing = read_letter(arena, folder, letter);
	uint64_t nodes = capacity < CAPACITY ? TIGHT_NODES_MOST : NODES_MOST;
	packing.capacity = capacity;
	packing.goal = goal;
	struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
	struct answer answer =
		solve(solver_find(STAGE_PLACE, "exact"), &problem, nodes, seed, arena);
	const char *why = judge(arena, &packing, &answer, value);
	if (why)
		tally_fail(tally, arena_format(arena, "%c, seed %d", letter, (int)seed), "%s", why);
	else
		tally_pass(tally);
	arena_close(arena);
}

/* As for one more layout of very many, with each start's order drawn. */
static void pack_at_load(struct run *run, const struct problem *problem)
{
	struct pack_question question = {.packing = problem->packing,
		.capacity = problem->packing->capacity,
		.returns = true,
		.varied = true};
	struct pack_answer answer = pack(run, &question, run_arena(run));
	struct candidate candidate = {.stage = STAGE_PLACE, .placement = answer.placement};
	if (answer.status == VERDICT_YES)
		run_offer(run, &candidate,
			(double)placement_peak(problem->packing, answer.placement));
}

/* No peak is below the load, so a layout at the load has the least. */
static void check_load(
	struct tally *tally, const char *folder, char letter, int64_t load, uint64_t seed)
{
	static const struct solver packer = {
		.stage = STAGE_PLACE, .name = "packer", .run = pack_at_load};
	struct arena *arena = arena_open();
	struct packing packing = read_letter(arena, folder, letter);
	packing.capacity = packing_load(&packing, arena);
	struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
	struct answer answer = {0};
	for (uint64_t k = 0; k < LOAD_SEEDS && !answer.candidate_count; k++)
		answer = solve(&packer, &problem, NODES_MOST, seed + k, arena);
	struct packing_fault fault = {.a = -1};
	if (answer.candidate_count)
		fault = packing_check(&packing, answer.candidates[0].placement);
	if (packing.capacity != load || !answer.candidate_count ||
		answer.values[0] != (double)load || fault.a >= 0)
		tally_fail(tally, arena_format(arena, "%c", letter), "not placed at its load");
	else
		tally_pass(tally);
	arena_close(arena);
}

int main(int argc, char **argv)
{
	struct tally tally = {.family = "placement/challenging"};
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct arena *arena = arena_open();
	FILE *there = fopen(arena_format(arena, "%s/placement/A.1048576.csv", root), "r");
	arena_close(arena);
	if (!there)
		return tally_skip(&tally);
	fclose(there);
	for (char letter = 'A'; letter <= 'K'; letter++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			check(&tally, root, letter, CAPACITY, PACKING_FIT, 0, seed);
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		check(&tally, root, 'J', 1008640, PACKING_FIT, 0, seed);
	check(&tally, root, 'D', 986112, PACKING_FIT, 0, 16);
	check(&tally, root, 'C', CAPACITY, PACKING_PEAK, 1039360, 1);
	check_load(&tally, root, 'D', 986112, 4);
	check_load(&tally, root, 'J', 989184, 109);
	return tally_end(&tally);
}
