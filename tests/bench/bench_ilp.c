#include "base/arena.h"
#include "search/engine/milp.h"
#include "solvers/map/ilp/ilp.h"
#include "tests/support/complaints.h"
#include "tests/support/nest_request.h"

#include <stdio.h>
#include <time.h>

/*
 * Size of the integer program for the least energy x latency, its result, the gap to its bound, and
 * its time on one thread.
 */
static const struct question {
	const char *name, *files[4];
} questions[] = {
	{"GEMM 16, three levels, all kept",
		{"specs/arch/three_level.yaml", "specs/problems/gemm_16.yaml",
			"specs/constraints/keep_all.yaml"}},
	{"GEMM 16, three levels", {"specs/arch/three_level.yaml", "specs/problems/gemm_16.yaml"}},
	{"ResNet-50 3x3, Eyeriss, row stationary",
		{"specs/arch/eyeriss.yaml", "specs/problems/resnet50_3x3.yaml",
			"specs/constraints/row_stationary.yaml"}},
	{"ResNet-50 3x3, Eyeriss, residency only",
		{"specs/arch/eyeriss.yaml", "specs/problems/resnet50_3x3.yaml",
			"specs/constraints/residency_only.yaml"}},
	{"ResNet-50 3x3, Eyeriss", {"specs/arch/eyeriss.yaml", "specs/problems/resnet50_3x3.yaml"}},
};

static void print_size(const struct milp *milp)
{
	struct milp_size size = milp_size(milp);
	printf("  %d rows, %d columns, %d of them integers, %zu nonzeros\n", size.rows,
		size.columns, size.integers, size.entries);
}

static void solve_with(struct nest_search *search, const char *solver, enum objective objective,
	struct arena *arena)
{
	search->solver = solver_find(STAGE_MAP, solver);
	search->wishes.objectives = (struct objectives){1, {objective}};
	double start = (double)clock();
	struct explored explored = nest_explore(search, arena);
	double seconds = ((double)clock() - start) / CLOCKS_PER_SEC;
	printf("  %-9s %-6s", solver, objective_names[objective]);
	if (explored.complaint)
		printf(" %s", explored.complaint);
	else if (!explored.frontier.count)
		printf(" none found, %.1f s", seconds);
	else {
		double value = objective_value(objective, &explored.frontier.points[0].score);
		printf(" %.7g", value);
		if (explored.bound > 0)
			printf(", gap %.1e", 1 - explored.bound / value);
		printf(", %.1f s", seconds);
	}
	printf("\n");
}

static void answer(const struct question *question)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	struct nest_search search = {.counting = COUNTING_EXACT};
	size_t count = 0;
	while (question->files[count])
		count++;
	printf("%s\n", question->name);
	if (!nest_request_read(arena, diag, question->files, count, NULL, &search)) {
		printf("%s", complaints_text(arena, diag));
		arena_close(arena);
		return;
	}
	search.wishes.simulate = SIMULATE_NONE;
	search.wishes.budget = NEST_BUDGET;
	search.wishes.asker.jobs = 1;
	search.wishes.objectives = (struct objectives){1, {OBJECTIVE_EDP}};
	const struct ilp_frame *frame = ilp_frame_make(arena, &search);
	struct ilp_cuts cuts = {0};
	print_size(ilp_compact_make(arena, frame, &cuts, ilp_guess(frame))->milp);
	solve_with(&search, "ilp", OBJECTIVE_EDP, arena);
	solve_with(&search, "ilp", OBJECTIVE_ENERGY, arena);
	arena_close(arena);
}

int main(void)
{
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
		answer(&questions[i]);
	return 0;
}
