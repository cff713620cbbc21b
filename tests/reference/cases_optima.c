#include "base/arena.h"
#include "search/certificate/certificate_check.h"
#include "search/drive/solver.h"
#include "tests/support/complaints.h"
#include "tests/support/family.h"
#include "tests/support/nest_request.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Family optima: the exact search against Timeloop's own, in Timeloop's counting.  What
 * Timeloop enumerated has the same optimum in the metric that it searched for first, proven;
 * what it only sampled is proven to be no better, and where more is known, that is reached.  The
 * certificate of each proof holds, the best mapping is executed as the model says, and in exact counting
 * there is a proof as well.
 */
enum { BUDGET = 50000000, EXECUTED_MOST = 20000000 };

/* The best known in a sampled space, pJ x cycles, to eleven digits. */
static const struct {
	const char *folder;
	double edp;
} known[] = {
	{"bestknown-eyeriss-r50c3-con-6000valid", 1.6102986917e14},
	{"bestknown-eyeriss-r50c3-free-1500valid", 1.6019832251e14},
};

/* The search that trusts no solver does not end in minutes; the output says so. */
static const char unverified[] = "bestknown-eyeriss-r50c3-free-1500valid";

struct request {
	struct arena *arena;
	struct diag *diag;
	struct nest_search search;
};

static bool read_all(struct request *request, const char *folder)
{
	static const char *const names[] = {
		"arch.yaml", "problem.yaml", "constraints.yaml", "ERT.yaml"};
	const char *paths[sizeof names / sizeof *names];
	size_t count = sizeof names / sizeof *names;
	for (size_t i = 0; i < count; i++)
		paths[i] = arena_format(request->arena, "%s/%s", folder, names[i]);
	return nest_request_read(
		request->arena, request->diag, paths, count, NULL, &request->search);
}

/* The metric that Timeloop was asked to minimise first. */
static enum objective asked_for(const struct family *family, const char *folder)
{
	enum objective objective = OBJECTIVE_EDP;
	const char *path = arena_format(family->arena, "%s/mapper.yaml", folder);
	FILE *file = fopen(path, "r");
	char line[256];
	bool metrics = false;
	while (file && fgets(line, sizeof line, file)) {
		if (metrics) {
			objective = strstr(line, "delay")    ? OBJECTIVE_LATENCY
				    : strstr(line, "energy") ? OBJECTIVE_ENERGY
							     : OBJECTIVE_EDP;
			break;
		}
		metrics = strstr(line, "optimization_metrics");
	}
	if (file)
		fclose(file);
	return objective;
}

static const char *const metrics[] = {
	[OBJECTIVE_LATENCY] = "cycles",
	[OBJECTIVE_ENERGY] = "energy_pJ",
	[OBJECTIVE_EDP] = "edp_pJcycles",
};

static void compare(struct family *family, const char *folder, const json_t *record,
	const struct nest_search *search, const struct explored *explored)
{
	family->compared++;
	if (!explored->complete || !explored->frontier.count) {
		family_note(family, "proof", "none within the budget");
		return;
	}
	enum objective objective = search->wishes.objectives.at[0];
	double value = objective_value(objective, &explored->frontier.points[0].score);
	double expected = json_number_value(
		json_object_get(json_object_get(record, "best"), metrics[objective]));
	bool sampled = strncmp(folder, "bestknown", 9) == 0, good;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].folder, folder) == 0) {
			expected = known[i].edp;
			sampled = false;
		}
	/* Timeloop prints energies of levels with two decimals. */
	good = sampled ? value <= expected : fabs(value - expected) <= 1e-6 * expected;
	if (!good)
		family_note(family, metrics[objective],
			arena_format(family->arena, "expected %.12g, came %.12g", expected, value));
}

/* The proof is found to hold without the solver. */
static void verify(
	struct family *family, const struct nest_search *search, const struct explored *explored)
{
	struct certificate *certificate = certificate_make(family->arena, search, explored);
	struct certificate_checking checking = {.certificate = certificate, .search = search};
	if (!certificate)
		return;
	struct certificate_result result = certificate_check(&checking, family->arena);
	if (result.answer != VERDICT_YES)
		family_note(family, "certificate", result.why);
}

/* Checks that the best mapping runs as modelled; if that takes too many steps, the output says
 * so. */
static void expect_executed(
	struct family *family, const char *folder, const struct explored *explored)
{
	const struct nest_found *found = explored->frontier.points[0].payload;
	if (explored->effort.disagreed)
		family_note(family, "execution", explored->fault);
	else if (!found->common.execution.finished)
		printf("optima: the best mapping of %s is not executed\n", folder);
}

/* In exact counting there is a proof, too. */
static void prove_exactly(struct family *family, const char *folder, struct nest_search search)
{
	search.counting = COUNTING_EXACT;
	search.model = search.exact;
	struct explored explored = nest_explore(&search, family->arena);
	if (!explored.complete || !explored.frontier.count) {
		family_note(family, "exact counting", "no proof within the budget");
		return;
	}
	printf("optima: %s in exact counting: %" PRId64 " cycles, %.10g pJ\n", folder,
		explored.frontier.points[0].score.cycles,
		explored.frontier.points[0].score.energy_pj);
	expect_executed(family, folder, &explored);
}

static void check(struct family *family, const char *root, const char *folder, const char *file)
{
	family_case(family, "%s", folder);
	const char *path = arena_format(family->arena, "%s/optima/%s", root, folder);
	json_t *record =
		json_load_file(arena_format(family->arena, "%s/optimum.json", path), 0, NULL);
	struct request request = {.arena = family->arena,
		.diag = diag_open(family->arena),
		.search = {.counting = COUNTING_TIMELOOP,
			.wishes.objectives = {1, {asked_for(family, path)}},
			.solver = solver_find(STAGE_MAP, "exact"),
			.wishes.simulate = SIMULATE_FRONTIER,
			.wishes.simulate_budget = EXECUTED_MOST,
			.wishes.budget = BUDGET,
			.wishes.asker.jobs = 1}};
	if (!record || !read_all(&request, path)) {
		family_note(family, "refused", complaints_text(family->arena, request.diag));
	} else {
		struct nest_search *search = &request.search;
		search->exact = nest_model_make(
			family->arena, search->hierarchy, search->shape, COUNTING_EXACT);
		struct explored explored = nest_explore(search, family->arena);
		compare(family, folder, record, search, &explored);
		if (explored.frontier.count)
			expect_executed(family, folder, &explored);
		prove_exactly(family, folder, *search);
		if (strcmp(folder, unverified) != 0)
			verify(family, &request.search, &explored);
		else
			printf("optima: the proof of %s is not verified\n", folder);
	}
	json_decref(record);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "optima/proofs", root, "optima"))
		return 0;
	family_each(&family, root, "optima", NULL, check);
	return family_close(&family);
}
