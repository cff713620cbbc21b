#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/engine/milp.h"
#include "search/joint/joint_graph.h"
#include "search/joint/joint_plan.h"
#include "solvers/joint/ilp_program.h"

#include <math.h>

/*
 * The integer program of a joint space (ilp_program.h), given to GLPK.  What a point says is followed step by
 * step before it counts.  Larger spaces are refused: cut_dp takes them.
 */
enum { OPTIONS_MOST = 5000, COLUMNS_MOST = 60000, ROWS_OF_A_TICK = 64, ROUNDS_MOST = 20 };

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

/* NULL, or why not. */
static const char *refusal(const struct joint_space *space, struct arena *arena)
{
	for (int t = 0; t < space->tensor_count; t++)
		if (joint_is_relayed(&space->tensors[t]))
			return "ilp knows no relayouts; cut_dp does";
	if (space->option_count > OPTIONS_MOST)
		return arena_format(arena,
			"ilp takes at most %d options, here are %zu; cut_dp takes them",
			OPTIONS_MOST, space->option_count);
	return NULL;
}

/* NULL, and *why. */
static const struct ilp_program *make_program(
	const struct joint_space *space, struct arena *arena, const char **why)
{
	*why = refusal(space, arena);
	if (*why)
		return NULL;
	const struct ilp_program *program = ilp_program_make(space, arena);
	int columns = milp_size(program->milp).columns;
	if (columns > COLUMNS_MOST)
		*why = arena_format(arena,
			"ilp takes programs of at most %d columns, this has %d; cut_dp takes it",
			COLUMNS_MOST, columns);
	return *why ? NULL : program;
}

static const char *ilp_text(const struct problem *problem, struct arena *arena, const char **why)
{
	const struct joint_space *space = problem->joint;
	if (!space) {
		struct joint_question question = {.arch = problem->arch,
			.workload = problem->workload,
			.planning = problem->planning,
			.aim = *problem->aim};
		question.aim.fixed |= KIND_RELAY;
		space = joint_graph_make(&question, arena, why);
	}
	const struct ilp_program *program = space ? make_program(space, arena, why) : NULL;
	return program ? ilp_program_text(program, arena) : NULL;
}

static double bound_of(const struct asking *asking, const struct milp_answer *answer)
{
	double bound = answer->status == PROOF_NONE ? 0 : answer->bound;
	return fmax(0, ceil(bound - milp_margin(asking->program->mass, bound)));
}

/* The best point with addresses.  What has none is forbidden, and the rest looked through again: no
 * bound before is too high for it. */
static void solve_all(struct asking *asking)
{
	struct run *run = asking->run;
	struct milp_wishes wishes = {
		.user = asking, .go_on = go_on, .found = found, .covers = true};
	for (int round = 0; round < ROUNDS_MOST; round++) {
		asking->found = false;
		struct milp_answer answer =
			milp_solve(asking->program->milp, &wishes, run_arena(run));
		if (answer.values)
			found(asking, answer.values);
		if (answer.status == PROOF_NONE)
			run_complain(run, false, -1, "ilp: GLPK gave up: %s", answer.fault);
		if (answer.status == PROOF_INFEASIBLE && !asking->found)
			run_prove(run, PROOF_INFEASIBLE, 0);
		if (!asking->found)
			return;
		double value = (double)asking->best.value,
		       bound = fmin(bound_of(asking, &answer), value);
		if (joint_plan_offer(run, asking->program->space, &asking->best)) {
			joint_plan_prove(run, asking->program->space,
				value <= bound ? PROOF_OPTIMAL : PROOF_BOUND, bound);
			return;
		}
		ilp_program_forbid(asking->program, &asking->best);
	}
	run_complain(run, false, -1,
		"ilp: %d answers have no addresses, and it looks for no others", ROUNDS_MOST);
}

static void ilp_run(struct run *run, const struct problem *problem)
{
	/* A space that is made here has no relayouts. */
	struct joint_aim aim = problem->aim ? *problem->aim : (struct joint_aim){0};
	struct problem without = *problem;
	aim.fixed |= KIND_RELAY;
	without.aim = &aim;
	const struct joint_space *space = joint_plan_space(run, &without);
	const char *why = NULL;
	if (!space)
		return;
	struct asking asking = {.run = run, .program = make_program(space, run_arena(run), &why)};
	if (why)
		run_complain(run, true, -1, "%s", why);
	else
		solve_all(&asking);
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
