#include "base/arena.h"
#include "model/graph/planning.h"
#include "search/engine/kept.h"
#include "search/joint/joint_graph.h"
#include "tests/support/arch_text.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* Sizes of the joint spaces of workloads, and the time to make them: bench_joint_space
 * [bound|estimate] [price|published] WORKLOAD... */
static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void show(const char *path, enum price price, bool published)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_file(arena, "specs/arch/spyre32_published.yaml", diag);
	const struct workload *workload = workload_of_file(arena, path, NULL);
	struct planning planning = planning_default(arch);
	struct kept *kept = kept_open();
	planning.published_tiles = published;
	planning.price = price;
	struct joint_question question = {.arch = planning_arch(arena, arch, &planning),
		.workload = workload,
		.planning = &planning,
		.aim = {.cycles = 1, .kept = kept}};
	const char *why;
	double start = seconds();
	const struct joint_space *space = joint_graph_make(&question, arena, &why);
	double took = seconds() - start;
	if (!space) {
		printf("%-40s %s\n", path, why);
		return;
	}
	int views = 0;
	for (int t = 0; t < space->tensor_count; t++)
		views += space->tensors[t].view_count;
	struct kept_tally tally = kept_tally(kept);
	printf("%-40s %3d ops %6zu options %5d views %7.2f s %8" PRIu64 " asked %6" PRIu64
	       " priced %9" PRIu64 " tilings %5.1f MB\n",
		path, space->op_count, space->option_count, views, took, tally.asked,
		tally.distinct, tally.work, (double)arena_used(arena) * 1e-6);
	kept_close(kept);
	arena_close(arena);
}

int main(int argc, char **argv)
{
	enum price price = argc > 1 && argv[1][0] == 'b' ? PRICE_BOUND : PRICE_ESTIMATE;
	for (int i = 3; i < argc; i++)
		show(argv[i], price, argv[2][1] == 'u');
	return 0;
}
