#include "tests/support/least_edp.h"

#include "base/arena.h"
#include "cost/graph/cost.h"
#include "search/drive/solver.h"
#include "search/joint/joint_plan.h"

#include <math.h>

enum { LINES_MOST = 64 };
#define ENOUGH (1 - 1e-9)
#define VALUE_MOST 0x1p60

/* A sum that was minimised: no plan is below its value; the plan of least. */
struct line {
	double cycles, energy, value; /* weights of a cycle and of a pJ */
	double at_cycles, at_energy;  /* of the plan */
};

struct hull {
	const struct joint_question *question;
	const struct solver *solver;
	uint64_t ticks;
	struct arena *arena;
	int count;
	struct line lines[LINES_MOST]; /* by slope: the first bounds latency */
	struct least_edp out;
};

/* Weights as whole numbers, as large as values leave room for. */
static struct joint_aim make_aim(const struct hull *hull, double cycles, double energy)
{
	struct joint_aim aim = hull->question->aim;
	const struct score *score = &hull->out.score;
	aim.hbm_bytes = 0;
	aim.cycles = cycles > 0;
	aim.energy = energy > 0;
	if (cycles <= 0 || energy <= 0)
		return aim;
	double unit = energy / 1024; /* of 2^-10 pJ */
	double most = cycles * (double)score->cycles + energy * score->energy_pj;
	double scale = fmin(VALUE_MOST / 16 / most, 0x1p20 / fmin(cycles, unit));
	aim.cycles = (int64_t)fmax(1, round(cycles * scale));
	aim.energy = (int64_t)fmax(1, round(unit * scale));
	return aim;
}

/* Minimises a sum; false: no plan exists. */
static bool minimise(struct hull *hull, double cycles, double energy, struct line *line)
{
	struct joint_question question = *hull->question;
	struct plan_cost cost;
	question.aim = make_aim(hull, cycles, energy);
	const struct joint_space *space = joint_graph_make(&question, hull->arena, &hull->out.why);
	if (!space)
		return false;
	struct problem problem = {
		.stage = STAGE_JOINT, .planning = question.planning, .joint = space};
	struct answer answer = solve(hull->solver, &problem, hull->ticks, 0, hull->arena);
	hull->out.why = answer.complaint_count ? answer.complaints[0].text : "no answer was found";
	if (!answer.candidate_count)
		return false;
	const struct joint_answer *best = answer.candidates[answer.candidate_count - 1].joint;
	struct joint_packing packing = joint_pack(space, best, NULL, 0, hull->arena);
	hull->out.why = "the answer cannot be packed";
	if (packing.status != VERDICT_YES)
		return false;
	const struct plan *plan = joint_build(space, best, &packing, hull->arena);
	hull->out.why = "the plan has no cost";
	if (!cost_plan(plan, hull->arena, &cost))
		return false;
	hull->out.why = cost.score.rejected;
	if (hull->out.why)
		return false;
	const struct joint_graph *graph = space->graph;
	bool proven = answer.status == PROOF_OPTIMAL, best_found = proven || graph->unproven;
	hull->out.proven &= proven;
	hull->out.nests_unproven |= graph->unproven;
	hull->out.options = space->option_count;
	*line = (struct line){.cycles = (double)question.aim.cycles,
		.energy = (double)question.aim.energy * 1024,
		.value = best_found                     ? (double)best->value
			 : answer.status == PROOF_BOUND ? answer.bound
							: 0,
		.at_cycles = (double)cost.score.cycles,
		.at_energy = cost.score.energy_pj};
	double own = cost.score.energy_pj * (double)cost.score.cycles;
	if (!hull->out.plan || own < hull->out.score.energy_pj * (double)hull->out.score.cycles) {
		hull->out.plan = plan;
		hull->out.score = cost.score;
	}
	return true;
}

/* The product where lines i and i + 1 meet. */
static double corner(const struct hull *hull, int i)
{
	const struct line *a = &hull->lines[i], *b = &hull->lines[i + 1];
	double det = a->cycles * b->energy - b->cycles * a->energy;
	double cycles = (a->value * b->energy - b->value * a->energy) / det;
	double energy = (a->cycles * b->value - b->cycles * a->value) / det;
	return cycles * energy;
}

static int find_least(const struct hull *hull, double *product)
{
	int least = -1;
	for (int i = 0; i + 1 < hull->count; i++)
		if (least < 0 || corner(hull, i) < *product) {
			least = i;
			*product = corner(hull, i);
		}
	return least;
}

/* Cuts the corner of two lines off; false: that gains nothing. */
static bool cut(struct hull *hull, int i)
{
	const struct line a = hull->lines[i], b = hull->lines[i + 1];
	struct line line;
	double cycles = a.at_energy - b.at_energy, energy = b.at_cycles - a.at_cycles;
	if (cycles <= 0 || energy <= 0 || hull->count == LINES_MOST ||
		!minimise(hull, cycles, energy, &line))
		return false;
	for (int k = hull->count++; k > i + 1; k--)
		hull->lines[k] = hull->lines[k - 1];
	hull->lines[i + 1] = line;
	return true;
}

struct least_edp least_edp(const struct joint_question *question, const struct solver *solver,
	uint64_t ticks, struct arena *arena)
{
	struct hull hull = {.question = question,
		.solver = solver,
		.ticks = ticks,
		.arena = arena,
		.out.proven = true};
	if (!minimise(&hull, 1, 0, &hull.lines[0]) || !minimise(&hull, 0, 1, &hull.lines[1]))
		return hull.out;
	hull.count = 2;
	double product = 0, best;
	for (int least = 0; least >= 0;) {
		least = find_least(&hull, &product);
		best = hull.out.score.energy_pj * (double)hull.out.score.cycles;
		if (product >= best * ENOUGH || !cut(&hull, least))
			break;
	}
	hull.out.why = NULL;
	hull.out.bound = fmin(product, hull.out.score.energy_pj * (double)hull.out.score.cycles);
	hull.out.lines = hull.count;
	return hull.out;
}
