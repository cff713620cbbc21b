#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/nest/feasible.h"
#include "tests/support/complaints.h"
#include "tests/support/nest_request.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * Quality of the mappings of solvers, at equal evaluations and at equal time of one thread: energy
 * x latency above the proven optimum, in percent, or as multiples of the optimum, the median of
 * three seeds; in brackets above the lower bound of `exact` if its budget was not enough.  A solver
 * gets as many evaluations for a time as it made in a second before, and the time it took is
 * measured.  If the constraints leave an easy start, all solvers begin from it, as in explore.
 *
 * LAYERS= the number of layers, EVALUATIONS= the most evaluations, PROOF= the budget of the proof,
 * in ticks.
 */
#define EYERISS "specs/arch/eyeriss.yaml", "specs/constraints/residency_only.yaml"
#define GEMMINI "specs/arch/gemmini.yaml", "specs/constraints/weight_stationary.yaml"

static const struct layer {
	const char *name, *arch, *constraints, *extents;
	bool grouped;
} layers[] = {
	{"ResNet-50 3x3, 128 channels, 28 x 28, Eyeriss", EYERISS,
		"C: 128, M: 128, R: 3, S: 3, P: 28, Q: 28", false},
	{"ResNet-50 1x1, 1024 to 256 channels, 14 x 14, Eyeriss", EYERISS,
		"C: 1024, M: 256, R: 1, S: 1, P: 14, Q: 14", false},
	{"ResNet-50 3x3, stride 2, 256 channels, 14 x 14, Eyeriss", EYERISS,
		"C: 256, M: 256, R: 3, S: 3, P: 14, Q: 14, Hstride: 2, Wstride: 2", false},
	{"BERT-large, 512 x 4096 x 1024, Gemmini", GEMMINI,
		"C: 1024, M: 4096, R: 1, S: 1, P: 512, Q: 1", false},
	{"Llama 3 8B, 2048 x 6144 x 4096, Gemmini", GEMMINI,
		"C: 4096, M: 6144, R: 1, S: 1, P: 2048, Q: 1", false},
	{"MobileNetV2 depthwise 3x3, 384 channels, 14 x 14, Eyeriss", EYERISS,
		"G: 384, C: 1, M: 1, R: 3, S: 3, P: 14, Q: 14", true},
};
enum { LAYERS = sizeof layers / sizeof *layers, SEEDS = 3, SOLVERS_MOST = 16, BUDGETS = 3 };

static const double times[] = {0.1, 1};
enum { TIMES = sizeof times / sizeof *times };

static long setting(const char *name, long by_default)
{
	const char *text = getenv(name);
	return text && *text ? atol(text) : by_default;
}

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static const char *problem_text(struct arena *arena, const struct layer *layer)
{
	const char *group = layer->grouped ? "[[G]], " : "";
	return arena_format(arena,
		"problem:\n"
		"  shape:\n"
		"    name: layer\n"
		"    dimensions: [%sC, M, R, S, N, P, Q]\n"
		"    coefficients: [{name: Hstride, default: 1}, {name: Wstride, default: 1}]\n"
		"    data_spaces:\n"
		"    - {name: Weights, projection: [%s[[C]], [[M]], [[R]], [[S]]]}\n"
		"    - {name: Inputs, projection: [[[N]], %s[[C]], [[R], [P, Hstride]], "
		"[[S], [Q, Wstride]]]}\n"
		"    - {name: Outputs, projection: [[[N]], %s[[M]], [[P]], [[Q]]], "
		"read_write: true}\n"
		"  instance: {N: 1, %s}\n",
		layer->grouped ? "G, " : "", group, group, group, layer->extents);
}

/* Result of one run; value INFINITY: nothing was found. */
struct ended_run {
	double value, seconds, bound;
	bool proven;
	uint64_t spent; /* ticks */
};

static struct ended_run run(
	const struct nest_search *request, const char *solver, uint64_t budget, uint64_t seed)
{
	struct arena *arena = arena_open();
	struct nest_search search = *request;
	search.solver = solver_find(STAGE_MAP, solver);
	search.wishes.budget = budget ? budget : 1;
	search.wishes.seed = seed;
	double start = seconds();
	struct explored explored = nest_explore(&search, arena);
	struct ended_run outcome = {.value = INFINITY,
		.seconds = seconds() - start,
		.bound = explored.bound,
		.proven = explored.complete,
		.spent = explored.effort.ticks};
	if (explored.frontier.count)
		outcome.value = objective_value(OBJECTIVE_EDP, &explored.frontier.points[0].score);
	arena_close(arena);
	return outcome;
}

static int by_value(const void *a, const void *b)
{
	const struct ended_run *x = a, *y = b;
	return (x->value > y->value) - (x->value < y->value);
}

/* The median of several seeds; one run of a solver without chance. */
static struct ended_run median(
	const struct nest_search *request, const struct solver *solver, uint64_t budget)
{
	struct ended_run outcomes[SEEDS];
	int count = solver->sharing == SHARING_NONE ? 1 : SEEDS;
	for (int i = 0; i < count; i++)
		outcomes[i] = run(request, solver->name, budget, (uint64_t)i + 1);
	qsort(outcomes, (size_t)count, sizeof *outcomes, by_value);
	return outcomes[count / 2];
}

struct table {
	int count;
	const struct solver *solvers[SOLVERS_MOST];
	double rate[SOLVERS_MOST];  /* ticks per second */
	double worst[SOLVERS_MOST]; /* seconds that the longest run with a time took */
	struct ended_run proof;
};

static void print_gap(const struct table *table, double value)
{
	if (value == INFINITY)
		printf(" %10s", "none");
	else if (table->proof.proven && value > 10 * table->proof.value)
		printf(" %9.3gx", value / table->proof.value);
	else if (table->proof.proven)
		printf(" %9.2f%%", 100 * (value / table->proof.value - 1));
	else if (table->proof.bound > 0)
		printf(" (%7.1f%%)", 100 * (value / table->proof.bound - 1));
	else
		printf(" %10.4g", value);
}

static void print_row(
	struct table *table, const struct nest_search *request, uint64_t evaluations, double time)
{
	if (time > 0)
		printf("  %8.1f s          ", time);
	else
		printf("  %8" PRIu64 " evaluations", evaluations);
	for (int s = 0; s < table->count; s++) {
		uint64_t budget = time > 0 ? (uint64_t)(table->rate[s] * time) : evaluations;
		struct ended_run outcome = median(request, table->solvers[s], budget);
		print_gap(table, outcome.value);
		fflush(stdout);
		if (time > 0)
			table->worst[s] = fmax(table->worst[s], outcome.seconds / time);
		else if (outcome.seconds > 0)
			table->rate[s] = (double)outcome.spent / outcome.seconds;
	}
	printf("\n");
}

static void print_layer(struct table *table, const struct layer *layer, uint64_t most)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	struct nest_search request = {.counting = COUNTING_EXACT,
		.wishes.objectives = {1, {OBJECTIVE_EDP}},
		.wishes.simulate = SIMULATE_NONE,
		.wishes.asker.jobs = 1};
	const char *paths[] = {layer->arch, layer->constraints};
	if (!nest_request_read(arena, diag, paths, 2, problem_text(arena, layer), &request)) {
		printf("%s\n%s", layer->name, complaints_text(arena, diag));
		arena_close(arena);
		return;
	}
	struct feasible feasible = feasible_find(request.domain, FEASIBLE_WORK_MOST);
	if (feasible.verdict == VERDICT_YES)
		request.start = &feasible.witness;
	table->proof = run(&request, "exact", (uint64_t)setting("PROOF", 4000000), 1);
	printf("\n%s\n", layer->name);
	if (table->proof.proven)
		printf("  optimum %.6g pJ x cycles, proven in %.2f s\n", table->proof.value,
			table->proof.seconds);
	else
		printf("  best of the proof %.6g pJ x cycles, bound %.6g, cut after %.2f s\n",
			table->proof.value, table->proof.bound, table->proof.seconds);
	static const uint64_t parts[BUDGETS] = {100, 10, 1};
	for (int b = 0; b < BUDGETS; b++)
		print_row(table, &request, most / parts[b], 0);
	for (int t = 0; t < TIMES; t++)
		print_row(table, &request, 0, times[t]);
	arena_close(arena);
}

int main(void)
{
	struct table table = {.count = 0};
	long count = setting("LAYERS", LAYERS);
	for (size_t i = 0; solvers[i]; i++)
		if (solvers[i]->stage == STAGE_MAP && table.count < SOLVERS_MOST &&
			solvers[i]->sharing != SHARING_ENUMERATION)
			table.solvers[table.count++] = solvers[i];
	printf("mappers: pJ x cycles above the optimum\n  %-20s", "");
	for (int s = 0; s < table.count; s++)
		printf(" %10s", table.solvers[s]->name);
	printf("\n");
	for (long i = 0; i < count && i < LAYERS; i++)
		print_layer(&table, &layers[i], (uint64_t)setting("EVALUATIONS", 200000));
	printf("\n  longest run, of its time");
	for (int s = 0; s < table.count; s++)
		printf(" %5.2f", table.worst[s]);
	printf("\n");
	return 0;
}
