#include "base/arena.h"
#include "base/array.h"
#include "search/solver.h"
#include "tests/support/tally.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Family placement: eleven instances that fill their capacity.  Each is placed in so many nodes at
 * most, from each of some seeds, and the layouts are lawful.  The least peak of the one that is known
 * is found and proven.
 */
enum { LINE_MOST = 256, SEEDS = 3, CAPACITY = 1048576, NODES_MOST = 400000 };

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

static void check(struct tally *tally, const char *folder, char letter, enum packing_goal goal,
	double value, uint64_t seed)
{
	struct arena *arena = arena_open();
	const char *path = arena_format(arena, "%s/placement/%c.1048576.csv", folder, letter);
	struct packing packing = read_instance(arena, path);
	packing.goal = goal;
	struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
	struct answer answer =
		solve(solver_find(STAGE_PLACE, "exact"), &problem, NODES_MOST, seed, arena);
	const char *why = judge(arena, &packing, &answer, value);
	if (why)
		tally_fail(tally, arena_format(arena, "%c, seed %d", letter, (int)seed), "%s", why);
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
			check(&tally, root, letter, PACKING_FIT, 0, seed);
	check(&tally, root, 'C', PACKING_PEAK, 1039360, 1);
	return tally_end(&tally);
}
