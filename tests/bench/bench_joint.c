#include "base/arena.h"
#include "cost/graph/floor.h"
#include "model/graph/planning.h"
#include "search/drive/solver.h"
#include "search/engine/kept.h"
#include "search/joint/joint_graph.h"
#include "search/joint/joint_space.h"
#include "tests/support/arch_text.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Best plans of whole graphs, with their proofs: bench_joint OBJECTIVE PRICE TILES SOLVER TICKS WORKLOAD...
 * OBJECTIVE is cycles, energy or hbm_bytes; PRICE bound or estimate; TILES price or published; TICKS 0: no limit.
 * FIXED in the environment: a set of enum joint_kind that is not decided.
 *
 * bench_joint roof MACHINE WORKLOAD...: the cycles that compulsory bytes or computes take at least.
 */
static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void report(void *listener, const struct progress *progress)
{
	if (getenv("PROGRESS"))
		fprintf(stderr, "%8.2f s  value %.0f bound %.0f\n", seconds() - *(double *)listener,
			progress->best, progress->bound);
}

static const char *packed(
	const struct joint_space *space, const struct joint_answer *found, struct arena *arena)
{
	static const char *const names[] = {"does not pack", "packs", "perhaps packs"};
	struct joint_packing packing = joint_pack(space, found, NULL, 1000000, arena);
	return names[packing.status == VERDICT_YES ? 1 : packing.status == VERDICT_NO ? 0 : 2];
}

static void show(char **arguments, const char *path)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_file(arena, "specs/arch/spyre32_published.yaml", diag);
	struct planning planning = planning_default(arch);
	planning.published_tiles = arguments[2][1] == 'u';
	planning.price = arguments[1][0] == 'b' ? PRICE_BOUND : PRICE_ESTIMATE;
	struct kept *kept = kept_open();
	struct joint_question question = {.arch = planning_arch(arena, arch, &planning),
		.workload = workload_of_file(arena, path, NULL),
		.planning = &planning,
		.aim = {.cycles = arguments[0][0] == 'c',
			.energy = arguments[0][0] == 'e',
			.hbm_bytes = arguments[0][0] == 'h',
			.fixed = getenv("FIXED") ? (unsigned)atoi(getenv("FIXED")) : 0,
			.kept = kept}};
	const char *why = "the workload is unknown";
	double start = seconds();
	const struct joint_space *space =
		question.workload ? joint_graph_make(&question, arena, &why) : NULL;
	double made = seconds();
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (!space) {
		printf("%-28s %s\n", name, why);
		return;
	}
	struct problem problem = {.stage = STAGE_JOINT, .joint = space};
	struct asker asker = {.progress = report, .stopper = {.listener = &made}};
	struct answer answer = solve_for(&asker, solver_find(STAGE_JOINT, arguments[3]), &problem,
		strtoull(arguments[4], NULL, 10), 1, arena);
	const struct joint_answer *found =
		answer.candidate_count ? answer.candidates[answer.candidate_count - 1].joint : NULL;
	printf("%-28s %6zu options %6.2f s | value %10" PRId64
	       " bound %12.1f %5.2f %% %-9s %7.2f s "
	       "%10" PRIu64 " labels %10" PRIu64 " states %6.0f MB %s\n",
		name, space->option_count, made - start, found ? found->value : -1, answer.bound,
		found ? 100 * (1 - answer.bound / (double)found->value) : 100.0,
		proof_names[answer.status], seconds() - made, answer.effort.labels,
		answer.effort.states, (double)arena_used(arena) * 1e-6,
		found ? packed(space, found, arena) : "");
	fflush(stdout);
	kept_close(kept);
	arena_close(arena);
}

static void show_roof(const char *machine, const char *path)
{
	struct arena *arena = arena_open();
	const struct arch *arch = arch_of_file(arena, machine, diag_open(arena));
	struct planning planning = planning_default(arch);
	const struct workload *workload = workload_of_file(arena, path, NULL);
	if (workload)
		printf("roof %" PRId64 "\n", latency_floor(planning_arch(arena, arch, &planning),
						     workload, planning.cores));
	arena_close(arena);
}

int main(int argc, char **argv)
{
	bool roof = argc > 1 && strcmp(argv[1], "roof") == 0;
	for (int i = 3; roof && i < argc; i++)
		show_roof(argv[2], argv[i]);
	for (int i = 6; !roof && i < argc; i++)
		show(argv + 1, argv[i]);
	return 0;
}
