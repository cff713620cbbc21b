#include "base/arena.h"
#include "base/array.h"
#include "search/solver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * CPU seconds of the exact packer, one thread, over SEEDS= seeds (default 5): the eleven challenging
 * instances of CASES= (default ../shared/cases) in their capacity of 1048576.  The median and the
 * worst of each, and the sum of the medians.
 */
enum { LINE_MOST = 256, CAPACITY = 1048576, SEEDS_MOST = 100 };

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

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

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

/* The median; 0 if there is no such file. */
static double measure(const char *folder, char letter, int seeds, double *worst)
{
	struct arena *arena = arena_open();
	const char *path = arena_format(arena, "%s/placement/%c.1048576.csv", folder, letter);
	struct packing packing = read_instance(arena, path);
	struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
	double seconds[SEEDS_MOST], median = 0;
	uint64_t ticks = 0;
	for (int s = 0; packing.count && s < seeds; s++) {
		struct arena *scratch = arena_open();
		double start = now();
		struct answer answer = solve(
			solver_find(STAGE_PLACE, "exact"), &problem, 0, (uint64_t)s + 1, scratch);
		seconds[s] = now() - start;
		ticks += answer.ticks;
		arena_close(scratch);
	}
	if (packing.count) {
		qsort(seconds, (size_t)seeds, sizeof *seconds, compare);
		median = seconds[seeds / 2];
		*worst = seconds[seeds - 1] > *worst ? seconds[seeds - 1] : *worst;
		printf("%c %5zu buffers  median %.4f s  worst %.4f s  %9" PRIu64 " nodes\n", letter,
			packing.count, median, seconds[seeds - 1], ticks / (uint64_t)seeds);
	}
	arena_close(arena);
	return median;
}

int main(void)
{
	const char *folder = getenv("CASES") ? getenv("CASES") : "../shared/cases";
	int seeds = getenv("SEEDS") ? atoi(getenv("SEEDS")) : 5;
	double sum = 0, worst = 0;
	seeds = seeds < 1 ? 1 : seeds > SEEDS_MOST ? SEEDS_MOST : seeds;
	printf("exact packing, CPU seconds over %d seeds\n", seeds);
	for (char letter = 'A'; letter <= 'K'; letter++)
		sum += measure(folder, letter, seeds, &worst);
	printf("sum of medians %.4f s, worst %.4f s\n", sum, worst);
	return 0;
}
