#include "solvers/joint/dimflip.h"

#include "base/arena.h"
#include "constraints/graph.h"
#include "model/graph/box_nest.h"
#include "search/graph/lx.h"

#include <string.h>

static bool indexes_output(const struct op *op, int l)
{
	return op->writes[0].linear.coefficient[l] != 0;
}

/* The one loop of the output that is divided; -1 when there are none or several. */
static int find_divided_loop(const struct op *op, const struct mapping_row *row)
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

struct flips flips_find(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *given)
{
	struct flips flips = {.count = 1, .at = {*given}};
	if (!op_is_tiled(op) || arch->core < 0)
		return flips;
	int from = find_divided_loop(op, &given->rows[arch->core]);
	if (from < 0)
		return flips;
	uint32_t factor = given->rows[arch->core].spatial[from];
	for (int l = 0; l < op->loop_count && flips.count < FLIPS_MOST; l++) {
		if (l == from || !indexes_output(op, l) || op->loops[l].extent % factor ||
			op_units(workload, op, l) % factor)
			continue;
		struct mapping *flip = &flips.at[flips.count++];
		*flip = *given;
		flip->rows[arch->core].spatial[from] = 1;
		flip->rows[arch->core].spatial[l] = factor;
	}
	return flips;
}

/*
 * The published co-optimizer (StrategyBCoOptimizingAllocator): every
 * combination of the ops' flips is planned, and the one that leaves the fewest
 * output bytes outside LX wins, the first of equals.
 */
struct flip_search {
	struct run *run;
	const struct problem *problem;
	const struct solver *place;
	struct flips *flips; /* by op */
	struct mapping *current, *best;
	int64_t best_bytes;
	bool cut;
};

static void score_leaf(struct flip_search *search)
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

static void search_from(struct flip_search *search, size_t o)
{
	if (o == search->problem->workload->op_count) {
		score_leaf(search);
		return;
	}
	for (int v = 0; v < search->flips[o].count && !search->cut; v++) {
		search->current[o] = search->flips[o].at[v];
		search_from(search, o + 1);
	}
}

/* True if a mapping keeps what constraints say about the spans of its op. */
static bool keeps_span(
	const struct problem *problem, size_t o, const struct mapping *mapping, struct arena *arena)
{
	const struct op *op = &problem->workload->ops[o];
	const char *why;
	int64_t most = graph_span(problem->planning->constraints, op), splits[OP_LOOPS_MOST];
	const struct iteration *iteration =
		most < INT64_MAX ? iteration_make(arena, problem->workload, op, &why) : NULL;
	for (int l = 0; iteration && l < op->loop_count; l++)
		splits[l] = mapping_split(problem->arch, mapping, l);
	for (int i = 0; iteration && i < iteration->operand_count; i++)
		if (iteration_span(iteration, i, splits) > most)
			return false;
	return true;
}

/* The flips of an op that may be; the first is what it has. */
static struct flips find_flips(const struct problem *problem, size_t o, struct arena *arena)
{
	struct flips flips = flips_find(problem->arch, problem->workload,
		&problem->workload->ops[o], &problem->division[o]);
	int kept = 1;
	for (int v = 1; v < flips.count; v++)
		if (keeps_span(problem, o, &flips.at[v], arena))
			flips.at[kept++] = flips.at[v];
	flips.count = kept;
	return flips;
}

static void dimflip_run(struct run *run, const struct problem *problem)
{
	struct arena *arena = run_arena(run);
	size_t op_count = problem->workload->op_count;
	struct flip_search search = {
		.run = run,
		.problem = problem,
		.place = problem->place,
		.flips = arena_array(arena, struct flips, op_count),
		.current = arena_array(arena, struct mapping, op_count),
		.best = arena_array(arena, struct mapping, op_count),
		.best_bytes = INT64_MAX,
	};
	for (size_t o = 0; o < op_count; o++) {
		if (!run_go_on(run, 1))
			return;
		search.flips[o] = find_flips(problem, o, arena);
	}
	memcpy(search.best, problem->division, op_count * sizeof *search.best);
	search_from(&search, 0);
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
	.purposes = FOR_GRAPHS,
	.run = dimflip_run,
};
