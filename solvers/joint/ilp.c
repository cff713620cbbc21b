#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/engine/milp.h"
#include "search/joint/joint_plan.h"
#include "solvers/joint/ilp_program.h"

#include <math.h>

/*
 * The integer program of a joint space (ilp_program.h), given to GLPK.  What a point says is followed step by
 * step before it counts.  Larger spaces are refused: cut_dp takes them.
 */
enum { OPTIONS_MOST = 5000, COLUMNS_MOST = 60000, ROWS_OF_A_TICK = 64 };

struct asking {
	struct run *run;
	const struct ilp_program *program;
	struct joint_answer best;
	bool found;
};

static bool go_on(void *user, uint64_t iterations, int rows)
{
	struct asking *asking = user;
	return run_spend(asking->run, 1 + iterations * (uint64_t)rows / ROWS_OF_A_TICK);
}

static void found(void *user, const double *values)
{
	struct asking *asking = user;
	struct arena *arena = run_arena(asking->run);
	struct joint_answer answer = ilp_program_read(asking->program, values, arena);
	answer.value = joint_value(asking->program->space, &answer, arena, NULL);
	run_evaluated(asking->run, 1);
	if (answer.value == JOINT_NEVER || (asking->found && answer.value >= asking->best.value))
		return;
	asking->best = answer;
	asking->found = true;
}

static bool has_relays(const struct joint_space *space)
{
	for (int t = 0; t < space->tensor_count; t++) {
		const struct joint_tensor *tensor = &space->tensors[t];
		int views = tensor->view_count;
		for (int k = 0; k < views * views; k++)
			if (k / views != k % views && tensor->relay[k] != JOINT_NEVER)
				return true;
	}
	return false;
}

/* NULL, or why not. */
static const char *refusal(const struct joint_space *space, struct arena *arena)
{
	if (has_relays(space))
		return "ilp knows no relayouts; cut_dp does";
	if (space->option_count > OPTIONS_MOST)
		return arena_format(arena,
			"ilp takes at most %d options, here are %zu; cut_dp takes them",
			OPTIONS_MOST, space->option_count);
	return NULL;
}

/* NULL, and *why. */
static const struct ilp_program *make_program(
	const struct problem *problem, struct arena *arena, const char **why)
{
	*why = problem->joint ? refusal(problem->joint, arena)
			      : "ilp is for whole plans, not for divisions alone";
	if (*why)
		return NULL;
	const struct ilp_program *program = ilp_program_make(problem->joint, arena);
	int columns = milp_size(program->milp).columns;
	if (columns > COLUMNS_MOST)
		*why = arena_format(arena,
			"ilp takes programs of at most %d columns, this has %d; cut_dp takes it",
			COLUMNS_MOST, columns);
	return *why ? NULL : program;
}

static const char *ilp_text(const struct problem *problem, struct arena *arena, const char **why)
{
	const struct ilp_program *program = make_program(problem, arena, why);
	return program ? ilp_program_text(program, arena) : NULL;
}

static void conclude(struct asking *asking, const struct milp_answer *answer)
{
	struct run *run = asking->run;
	if (answer->status == PROOF_NONE)
		run_complain(run, false, -1, "ilp: GLPK gave up: %s", answer->fault);
	if (answer->status == PROOF_INFEASIBLE && !asking->found) {
		run_prove(run, PROOF_INFEASIBLE, 0);
		return;
	}
	double bound = answer->status == PROOF_NONE ? 0 : answer->bound;
	bound = fmax(0, ceil(bound - milp_margin(asking->program->mass, bound)));
	if (!asking->found)
		return;
	double value = (double)asking->best.value;
	bool packed = joint_plan_offer(run, asking->program->space, &asking->best);
	joint_plan_prove(run, asking->program->space,
		packed && value <= bound ? PROOF_OPTIMAL : PROOF_BOUND, fmin(bound, value));
}

static void ilp_run(struct run *run, const struct problem *problem)
{
	const char *why = NULL;
	struct problem of_space = *problem;
	of_space.joint = joint_plan_space(run, problem);
	if (!of_space.joint)
		return;
	struct asking asking = {
		.run = run, .program = make_program(&of_space, run_arena(run), &why)};
	if (why) {
		run_complain(run, true, -1, "%s", why);
		return;
	}
	struct milp_wishes wishes = {
		.user = &asking, .go_on = go_on, .found = found, .covers = true};
	struct milp_answer answer = milp_solve(asking.program->milp, &wishes, run_arena(run));
	if (answer.values)
		found(&asking, answer.values);
	conclude(&asking, &answer);
}

const struct solver joint_ilp_solver = {
	.stage = STAGE_JOINT,
	.name = "ilp",
	.summary = "an integer program of all decisions but relayouts; proves, for small graphs",
	.proves = true,
	.plans_all = true,
	.run = ilp_run,
	.program = ilp_text,
};
