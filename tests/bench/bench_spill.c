#include "base/arena.h"
#include "solvers/place/spill/spill.h"
#include "tests/support/draws.h"
#include "tests/support/spill_instances.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * Which buffers to keep, one weight for each: what is lost, the least that must be, and the gap
 * relative to what is kept, in at most so many seconds (SECONDS) of one thread; of several threads
 * (JOBS), in so many seconds on the wall.  Random packings of SEED, SEED + 1, ...; and the tables
 * A to D of the directory PLACEMENTS.
 */
static double seconds_most, started;
static int jobs;

static double now(void)
{
	struct timespec time;
	clock_gettime(jobs > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_late(void *listener)
{
	return now() - started > seconds_most;
}

static void run_spill(struct run *run, const struct problem *problem)
{
	spill_run(run, problem);
}

static const struct solver solver = {.stage = STAGE_PLACE, .name = "spill", .run = run_spill};

static void answer(struct arena *arena, const char *name, const struct packing *packing)
{
	struct problem problem = {.stage = STAGE_PLACE, .packing = packing};
	struct asker asker = {.jobs = jobs, .stopper.stop = is_late};
	double all = 0;
	for (size_t i = 0; i < packing->count; i++)
		all += (double)packing->buffers[i].weight;
	started = now();
	struct answer found = solve_for(&asker, &solver, &problem, 0, 1, arena);
	double seconds = now() - started, least = all;
	const struct placement *placement = NULL;
	for (size_t i = 0; i < found.candidate_count; i++)
		if (found.values[i] <= least) {
			least = found.values[i];
			placement = found.candidates[i].placement;
		}
	struct packing_fault fault = {-1, -1, NULL};
	if (placement)
		fault = packing_check(packing, placement);
	double gap = all > least ? (least - found.bound) / (all - least) : 0;
	printf("%-26s %12.0f %12.0f  ", name, least, found.bound);
	if (found.status == PROOF_OPTIMAL)
		printf("proven  ");
	else
		printf("%6.3f %%", 100 * gap);
	printf("  %6.2f s%s%s\n", seconds, fault.a >= 0 ? "  FAULT: " : "",
		fault.a >= 0 ? fault.why : "");
	fflush(stdout);
}

static void answer_random(size_t n, int percent, uint64_t seed)
{
	struct arena *arena = arena_open();
	struct packing packing = spill_random(arena, seed, n, percent);
	answer(arena,
		arena_format(arena, "random %3zu, %d %%, seed %llu", n, percent,
			(unsigned long long)seed),
		&packing);
	arena_close(arena);
}

static void answer_table(const char *folder, char letter, int percent, uint64_t seed)
{
	struct arena *arena = arena_open();
	struct packing packing;
	const char *path = arena_format(arena, "%s/%c.1048576.csv", folder, letter);
	if (spill_table(arena, path, seed, 1 << 20, percent, &packing))
		answer(arena,
			arena_format(arena, "%c, %d %%, seed %llu", letter, percent,
				(unsigned long long)seed),
			&packing);
	arena_close(arena);
}

int main(void)
{
	static const size_t sizes[] = {20, 40, 60, 100, 150, 200};
	const char *folder = getenv("PLACEMENTS"), *most = getenv("SECONDS");
	const char *threads = getenv("JOBS");
	long count = draws(3);
	uint64_t seed = draws_seed(1);
	seconds_most = most ? atof(most) : 10;
	jobs = threads ? atoi(threads) : 1;
	printf("spill %27s %12s  gap\n", "lost", "at least");
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
		for (int percent = 50; percent <= 75; percent += 25)
			for (long i = 0; i < count; i++)
				answer_random(sizes[k], percent, seed + (uint64_t)i);
	static const int percents[] = {50, 75, 90};
	for (char letter = 'A'; letter <= 'D'; letter++)
		for (int k = 0; k < 3; k++)
			answer_table(folder ? folder : "../shared/cases/placement", letter,
				percents[k], seed);
	return 0;
}
