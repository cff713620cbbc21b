#include "base/arena.h"
#include "cost/graph/cost.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "model/graph/planning.h"
#include "search/drive/solver.h"
#include "search/graph/evaluate.h"
#include "search/joint/joint_plan.h"
#include "tests/support/arch_text.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * Whole graphs planned with and without runs of ops that share tile loops, and executed: bench_runs FIXED TICKS
 * WORKLOAD...  FIXED has a bit for each kind of decision that is not free (enum joint_kind).
 */
static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int64_t execute(const struct plan *plan, const struct score *score, struct arena *arena)
{
	struct outcome outcome = evaluate_cost(plan, arena);
	struct simulation how = {
		.mode = evaluate_mode(plan->workload, plan->arch, score) == SIM_COUNT
				? SIM_COUNT
				: SIM_IDENTITY};
	evaluate_simulate(&outcome, &how, arena);
	if (!outcome.simulated || !outcome.agrees)
		printf("  it does not agree: %s\n", outcome.why ? outcome.why : "counts or faults");
	return outcome.sim.cycles;
}

static void show(const char *path, unsigned fixed, uint64_t ticks)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_file(arena, "specs/arch/spyre32_published.yaml", diag);
	struct planning planning = planning_default(arch);
	struct joint_question question = {.arch = planning_arch(arena, arch, &planning),
		.workload = workload_of_file(arena, path, NULL),
		.planning = &planning,
		.aim = {.cycles = 1, .fixed = fixed}};
	const char *why;
	double start = seconds();
	const struct joint_space *space = joint_graph_make(&question, arena, &why);
	if (!space) {
		printf("%s: %s\n", path, why);
		return;
	}
	double made = seconds();
	struct problem problem = {.stage = STAGE_JOINT, .joint = space};
	struct answer answer = solve(solver_find(STAGE_JOINT, "cut_dp"), &problem, ticks, 0, arena);
	double solved = seconds();
	printf("%-32s fixed %3u, %6zu options, %5.1f s + %6.1f s, %9" PRIu64 " ticks", path, fixed,
		space->option_count, made - start, solved - made, answer.ticks);
	if (!answer.candidate_count) {
		printf(", no answer\n");
		return;
	}
	const struct joint_answer *found = answer.candidates[answer.candidate_count - 1].joint;
	struct joint_packing packing = joint_pack(space, found, NULL, 0, arena);
	printf(", value %" PRId64 ", bound %.0f", found->value, answer.bound);
	if (packing.status != VERDICT_YES) {
		printf(", not packed\n");
		return;
	}
	const struct plan *plan = joint_build(space, found, &packing, arena);
	struct plan_faults faults = plan_check(plan, arena);
	struct plan_cost cost;
	if (faults.count || !cost_plan(plan, arena, &cost)) {
		printf(", wrong: %s\n", faults.count ? faults.at[0].why : "no cost");
		return;
	}
	printf(", estimate %" PRId64 ", bound of the plan %" PRId64 ", HBM %" PRId64,
		cost.score.estimate_cycles, cost.score.cycles, cost.score.hbm_bytes);
	printf(", executed %" PRId64 "\n", execute(plan, &cost.score, arena));
	if (getenv("PLAN")) {
		struct text text = text_open(arena);
		plan_write(plan, &text);
		printf("%s", text_read(&text));
	}
	arena_close(arena);
}

int main(int argc, char **argv)
{
	for (int i = 3; i < argc; i++)
		show(argv[i], (unsigned)strtoul(argv[1], NULL, 0), strtoull(argv[2], NULL, 0));
	return 0;
}
