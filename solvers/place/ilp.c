#include "base/arena.h"
#include "model/packing/packing_sums.h"
#include "search/engine/milp.h"
#include "solvers/place/ilp_order.h"
#include "solvers/place/load.h"
#include "solvers/place/packing.h"

#include <math.h>

/*
 * The order program (ilp_order.h), given to GLPK.  What a point says is put in whole numbers and
 * checked before it counts.  Beyond a few thousand pairs GLPK finds no point in any time that one
 * would wait, so larger packings are refused.
 */
enum { PAIRS_MOST = 3000, BUFFERS_MOST = 400, ROWS_OF_A_TICK = 64 };

struct ilp_asking {
	struct run *run;
	const struct order_program *program;
	struct placement *best, *draft;
	bool found;
	double value;
};

static bool go_on(void *user, uint64_t iterations, int rows)
{
	struct ilp_asking *asking = user;
	return run_spend(asking->run, 1 + iterations * (uint64_t)rows / ROWS_OF_A_TICK);
}

static bool is_whole(const struct packing *packing, const struct placement *placement)
{
	for (size_t i = 0; i < packing->count; i++)
		if (placement->addresses[i] == UNPLACED && packing->goal != PACKING_SPILL)
			return false;
	return packing_check(packing, placement).a < 0;
}

static void found(void *user, const double *values)
{
	struct ilp_asking *asking = user;
	const struct packing *packing = asking->program->packing;
	order_program_read(asking->program, values, asking->draft);
	placement_note(packing, asking->draft);
	double value = packing_value(packing, asking->draft);
	if (!is_whole(packing, asking->draft) || (asking->found && value >= asking->value))
		return;
	struct placement *draft = asking->draft;
	asking->draft = asking->best;
	asking->best = draft;
	asking->value = value;
	asking->found = true;
}

/* The program's bound in bytes or weights, which are whole. */
static double bound_of(const struct ilp_asking *asking, double bound)
{
	const struct order_program *program = asking->program;
	const struct packing *packing = program->packing;
	double value = bound - milp_margin(program->mass, bound);
	if (packing->goal == PACKING_SPILL)
		return fmax(0, ceil(value + program->constant));
	bool whole = true;
	for (size_t i = 0; i < packing->count; i++)
		whole &= packing->buffers[i].size % program->unit == 0;
	double bytes =
		whole ? ceil(value) * (double)program->unit : ceil(value * (double)program->unit);
	return fmax(bytes, (double)packing_load(packing, run_arena(asking->run)));
}

static void conclude(struct ilp_asking *asking, const struct milp_answer *answer)
{
	const struct packing *packing = asking->program->packing;
	if (answer->status == PROOF_NONE)
		run_complain(asking->run, false, -1, "ilp: GLPK gave up: %s", answer->fault);
	if (asking->found || packing->goal == PACKING_SPILL)
		packing_offer(asking->run, packing, asking->best);
	if (answer->status == PROOF_INFEASIBLE && !asking->found) {
		run_prove(asking->run, PROOF_INFEASIBLE, 0);
		return;
	}
	if (packing->goal == PACKING_FIT)
		return;
	double bound = answer->status == PROOF_NONE ? -INFINITY : answer->bound;
	bound = bound_of(asking, bound);
	if (asking->found)
		run_prove(asking->run, asking->value <= bound ? PROOF_OPTIMAL : PROOF_BOUND, bound);
}

static bool is_small(struct run *run, const struct packing *packing)
{
	size_t pairs = packing->count > BUFFERS_MOST
			       ? 0
			       : order_pairs(packing, PAIRS_MOST, run_arena(run));
	if (packing->count > BUFFERS_MOST)
		run_complain(run, true, -1,
			"ilp takes at most %d buffers, here are %zu; exact takes them",
			BUFFERS_MOST, packing->count);
	else if (pairs > PAIRS_MOST)
		run_complain(run, true, -1,
			"ilp takes at most %d pairs of buffers that live at the same time, each a "
			"decision; these %zu buffers have more; exact takes them",
			PAIRS_MOST, packing->count);
	return packing->count <= BUFFERS_MOST && pairs <= PAIRS_MOST;
}

static void ilp_run(struct run *run, const struct problem *problem)
{
	const struct packing *packing = problem->packing;
	size_t culprit;
	if (!packing_declared(run, packing) || !packing_whole(run, packing) ||
		!is_small(run, packing))
		return;
	if (!packing->count) {
		packing_offer(run, packing, packing_open(run, packing));
		return;
	}
	struct ilp_asking asking = {.run = run,
		.program = order_program_make(packing, run_arena(run), &culprit),
		.best = packing_open(run, packing),
		.draft = packing_open(run, packing)};
	if (!asking.program) {
		run_complain(run, false, -1, "'%s' has no place even alone",
			packing->buffers[culprit].name);
		run_prove(run, PROOF_INFEASIBLE, 0);
		return;
	}
	struct milp_wishes wishes = {.user = &asking, .go_on = go_on, .found = found};
	struct milp_answer answer = milp_solve(asking.program->milp, &wishes, run_arena(run));
	if (answer.values)
		found(&asking, answer.values);
	conclude(&asking, &answer);
}

const struct solver place_ilp_solver = {
	.stage = STAGE_PLACE,
	.name = "ilp",
	.summary =
		"an integer program of which buffer lies below which; proves, for small packings",
	.proves = true,
	.run = ilp_run,
};
