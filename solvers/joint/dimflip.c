#include "base/arena.h"
#include "base/fatal.h"
#include "model/mapping.h"
#include "search/lx_plan.h"

#include <string.h>

/*
 * The published co-optimizer (StrategyBCoOptimizingAllocator): an op whose
 * output is divided along exactly one loop may move that factor to another
 * loop of its output; reduction splits stay.  Every combination of the ops'
 * variants is planned and the one that leaves the fewest output bytes outside
 * LX wins, the first of equals.
 *
 * A variant must divide the loop's units; the published code counts elements
 * there and fails later on half a stick.
 */
enum { VARIANTS_MOST = 6 }; /* of one op, the given division included */

struct variants {
	int count;
	struct mapping at[VARIANTS_MOST];
};

struct search {
	struct run *run;
	const struct problem *problem;
	const struct solver *place;
	struct variants *variants; /* by op */
	struct mapping *current, *best;
	int64_t best_bytes;
	bool cut;
};

static bool indexes_output(const struct op *op, int l)
{
	return op->writes[0].linear.loop[l] != 0;
}

/* The one loop of the output that is divided; -1 when there are none or several. */
static int divided_loop(const struct op *op, const struct mapping_row *row)
{
	int divided = -1;
	for (int l = 0; l < op->loop_count; l++) {
		if (row->spatial[l] <= 1 || !indexes_output(op, l))
			continue;
		if (divided >= 0)
			return -1;
		divided = l;
	}
	return divided;
}

static void find_variants(const struct problem *problem, int o, struct variants *variants)
{
	const struct op *op = &problem->workload->ops[o];
	int core = problem->arch->core;
	variants->count = 1;
	variants->at[0] = problem->division[o];
	if (op->kind == OP_OPAQUE || core < 0)
		return;
	int from = divided_loop(op, &variants->at[0].rows[core]);
	if (from < 0)
		return;
	uint32_t factor = variants->at[0].rows[core].spatial[from];
	for (int l = 0; l < op->loop_count && variants->count < VARIANTS_MOST; l++) {
		if (l == from || !indexes_output(op, l) ||
			op_units(problem->workload, op, l) % factor)
			continue;
		struct mapping *variant = &variants->at[variants->count++];
		*variant = variants->at[0];
		variant->rows[core].spatial[from] = 1;
		variant->rows[core].spatial[l] = factor;
	}
}

static void score_leaf(struct search *search)
{
	const struct problem *problem = search->problem;
	struct arena *arena = run_arena(search->run);
	size_t op_count = problem->workload->op_count;
	if (!run_spend(search->run, op_count)) {
		search->cut = true;
		return;
	}
	struct arena_mark mark = arena_mark(arena);
	struct lx_layout layout = lx_layout(problem->arch, problem->workload, search->current,
		problem->planning, search->place, arena);
	int64_t bytes = lx_unplaced_bytes(&layout);
	search->cut = !run_spend(search->run, layout.ticks);
	arena_release(arena, mark);
	if (bytes < search->best_bytes) {
		search->best_bytes = bytes;
		memcpy(search->best, search->current, op_count * sizeof *search->best);
	}
}

static void search_from(struct search *search, size_t o)
{
	if (o == search->problem->workload->op_count) {
		score_leaf(search);
		return;
	}
	for (int v = 0; v < search->variants[o].count && !search->cut; v++) {
		search->current[o] = search->variants[o].at[v];
		search_from(search, o + 1);
	}
}

static void dimflip_run(struct run *run, const struct problem *problem)
{
	struct arena *arena = run_arena(run);
	size_t op_count = problem->workload->op_count;
	struct search search = {
		.run = run,
		.problem = problem,
		.place = solver_find(STAGE_PLACE, problem->place_solver),
		.variants = arena_array(arena, struct variants, op_count),
		.current = arena_array(arena, struct mapping, op_count),
		.best = arena_array(arena, struct mapping, op_count),
		.best_bytes = INT64_MAX,
	};
	if (!search.place)
		BUG("joint/dimflip: no solver place/%s", problem->place_solver);
	for (size_t o = 0; o < op_count; o++)
		find_variants(problem, (int)o, &search.variants[o]);
	search_from(&search, 0);
	if (search.best_bytes == INT64_MAX)
		memcpy(search.best, problem->division, op_count * sizeof *search.best);
	if (search.cut) {
		run_prove(run, PROOF_BUDGET, 0);
		run_complain(run, false, -1,
			"dimflip stopped at its budget before it had seen every combination");
	}
	struct candidate candidate = {.stage = STAGE_JOINT, .mappings = search.best};
	run_offer(run, &candidate, (double)search.best_bytes);
}

const struct solver joint_dimflip_solver = {
	.stage = STAGE_JOINT,
	.name = "dimflip",
	.summary =
		"moves each op's single split to other output loops; all combinations (StrategyB)",
	.run = dimflip_run,
};
