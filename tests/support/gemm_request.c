#include "tests/support/gemm_request.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "search/drive/solver.h"
#include "tests/support/complaints.h"

#include <inttypes.h>
#include <math.h>

struct nest_search gemm_request(struct arena *arena, const char *const *paths, size_t count,
	const char *machine, const int64_t *extents, bool imperfect)
{
	struct diag *diag = diag_open(arena);
	struct nest_search search = {.counting = COUNTING_EXACT,
		.wishes.objectives = {1, {OBJECTIVE_EDP}},
		.solver = solver_find(STAGE_MAP, "exact"),
		.wishes.simulate = SIMULATE_NONE,
		.wishes.seed = 1,
		.wishes.asker.jobs = 1};
	const char *text = arena_format(arena,
		"%s"
		"problem:\n"
		"  shape:\n"
		"    name: gemm\n"
		"    dimensions: [M, K, N]\n"
		"    data_spaces:\n"
		"    - {name: Weights, projection: [[[K]], [[N]]]}\n"
		"    - {name: Inputs, projection: [[[M]], [[K]]]}\n"
		"    - {name: Outputs, projection: [[[M]], [[N]]], read_write: true}\n"
		"  instance: {M: %" PRId64 ", K: %" PRId64 ", N: %" PRId64 "}\n",
		machine ? machine : "", extents[0], extents[1], extents[2]);
	if (!nest_request_read(arena, diag, paths, count, text, &search))
		BUG("%s", complaints_text(arena, diag));
	if (imperfect) {
		struct domain *domain = arena_copy(arena, search.domain, sizeof *domain);
		domain->imperfect = UINT32_MAX;
		search.domain = domain;
		search.space = space_make(arena, domain);
	}
	return search;
}

double gemm_value(const struct explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	return frontier->count ? objective_value(OBJECTIVE_EDP, &frontier->points[0].score)
			       : INFINITY;
}
