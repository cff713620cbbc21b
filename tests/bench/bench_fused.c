#include "base/arena.h"
#include "model/graph/plan_file.h"
#include "model/graph/planning.h"
#include "model/graph/workload_read.h"
#include "model/machine/arch_read.h"
#include "search/drive/solver.h"
#include "search/engine/kept.h"
#include "search/graph/nests.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/least_edp.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* bench_fused TICKS FIXED FILE... : the least energy x latency of a graph on a machine without boxes. */
int main(int argc, char **argv)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	for (int i = 3; i < argc; i++)
		sheet_add_file(sheet, argv[i]);
	struct reading reading = sheet_reading(sheet);
	const struct arch *arch = arch_read(&reading, sheet_find(sheet, "architecture"));
	const struct workload *workload =
		arch ? workload_read(&reading, sheet_find(sheet, "workload"), arch_home(arch))
		     : NULL;
	if (workload)
		workload = op_constraints_flag(arch, workload, diag, arena);
	if (!workload) {
		printf("%s\n", complaints_text(arena, diag));
		return 1;
	}
	struct planning planning = planning_default(arch);
	struct kept *kept = kept_open();
	struct joint_question question = {.arch = planning_arch(arena, arch, &planning),
		.workload = workload,
		.planning = &planning,
		.aim = {.kept = kept,
			.nest_ticks = strtoull(argv[1], NULL, 10),
			.fixed = (unsigned)strtoul(argv[2], NULL, 0)}};
	double start = seconds();
	struct least_edp least = least_edp(&question, solver_find(STAGE_JOINT, "cut_dp"), 0, arena);
	if (!least.plan) {
		printf("%s\n", least.why);
		return 1;
	}
	double edp = least.score.energy_pj * (double)least.score.cycles;
	struct kept_tally tally = kept_tally(kept);
	printf("%.6g pJ x %ld cycles = %.6g, bound %.6g (%.4f), %d lines, %s, nests %s, %zu options, %.1f s, %lu nests\n",
		least.score.energy_pj, (long)least.score.cycles, edp, least.bound,
		least.bound / edp, least.lines, least.proven ? "proven" : "unproven",
		least.nests_unproven ? "unproven" : "proven", least.options, seconds() - start,
		(unsigned long)tally.distinct);
	struct text text = text_open(arena);
	plan_write(least.plan, &text);
	if (getenv("PLAN"))
		printf("%s", text_read(&text));
	return 0;
}
