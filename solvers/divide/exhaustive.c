#include "search/drive/solver.h"

#include "solvers/divide/two_pass.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "model/graph/box_nest.h"

#include <inttypes.h>

/*
 * Every legal division of one op, problem->op: each loop's split divides its sticks or elements, the product is at
 * most the cores, at most one reduction loop is split (none where no ring could combine it), and under strict
 * planning no span exceeds the limit.  Offered in lexicographic order of the splits, the undivided op first; one
 * tick each.  Divisions of different ops are independent, so a run over all ops is never needed: problem->op == -1
 * is a mistake of the caller.
 */
struct division_walk {
	struct run *run;
	const struct problem *problem;
	const struct iteration *iteration;
	int64_t limit, cores;
	struct divisors divisors[OP_LOOPS_MOST];
	int64_t splits[OP_LOOPS_MOST];
	bool ended;
	int offers;
};

static bool spans_fit(const struct division_walk *walk)
{
	for (int i = 0; i < walk->iteration->operand_count; i++)
		if (iteration_span(walk->iteration, i, walk->splits) > walk->limit)
			return false;
	return true;
}

static void splits_offer(struct run *run, const struct problem *problem, const int64_t *splits)
{
	struct mapping *mapping = arena_new(run_arena(run), struct mapping);
	*mapping = core_row_mapping(
		problem->arch, problem->planning, &problem->workload->ops[problem->op], splits);
	struct candidate candidate = {.stage = STAGE_DIVIDE, .mappings = mapping};
	run_offer(run, &candidate, 0);
}

/* Once `reduces`, no other reduction loop is split. */
static void division_visit(struct division_walk *walk, int l, int64_t used, bool reduces)
{
	const struct op *op = walk->iteration->op;
	if (l == op->loop_count) {
		if (!spans_fit(walk))
			return;
		walk->ended = !run_spend(walk->run, 1);
		if (walk->ended)
			return;
		splits_offer(walk->run, walk->problem, walk->splits);
		walk->offers++;
		return;
	}
	for (size_t i = 0; i < walk->divisors[l].count && !walk->ended; i++) {
		int64_t split = walk->divisors[l].at[i];
		bool reduction = op->loops[l].reduction && split > 1;
		if (split > walk->cores / used || (reduction && reduces))
			break;
		walk->splits[l] = split;
		division_visit(walk, l + 1, used * split, reduces || reduction);
	}
}

static void run_exhaustive(struct run *run, const struct problem *problem)
{
	if (problem->op < 0)
		BUG("divide/exhaustive is asked about one op at a time");
	const struct planning *planning = problem->planning;
	const struct op *op = &problem->workload->ops[problem->op];
	const char *why = NULL;
	struct division_walk walk = {
		.run = run,
		.problem = problem,
		.limit = core_row_span(planning, op, planning->strict),
		.cores = core_row_cores(problem->arch, planning, op),
	};
	for (int l = 0; l < op->loop_count; l++)
		walk.splits[l] = 1;
	if (core_row_divisible(op))
		walk.iteration = iteration_make(run_arena(run), problem->workload, op, &why);
	if (why)
		run_complain(run, planning->strict, problem->op, "op '%s': %s", op->name, why);
	if (!walk.iteration) {
		if (run_spend(run, 1))
			splits_offer(run, problem, walk.splits);
		return;
	}
	for (int l = 0; l < op->loop_count; l++)
		walk.divisors[l] = number_divisors(run_arena(run),
			number_gcd(walk.iteration->size[l], op_units(problem->workload, op, l)));
	division_visit(
		&walk, 0, 1, !ring_reduces(&problem->arch->reduce_ring, op->primitive->partial));
	if (!walk.offers && !walk.ended)
		run_complain(run, true, problem->op,
			"op '%s': no division over %" PRId64
			" cores keeps the span of every operand within %" PRId64 " bytes",
			op->name, walk.cores, walk.limit);
}

const struct solver divide_exhaustive_solver = {
	.stage = STAGE_DIVIDE,
	.name = "exhaustive",
	.summary = "every legal division of one op",
	.purposes = FOR_OPS,
	.sharing = SHARING_ENUMERATION,
	.run = run_exhaustive,
};
