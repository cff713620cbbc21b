#include "solvers/map/ilp/ilp.h"
#include "base/arena.h"

#include <math.h>

/*
 * The compact integer program, solved a few times.  Every point on the way is made a mapping
 * and evaluated by the model; after each round the estimates touch at the point found.  What the
 * last round leaves is a bound where the program is a lower estimate of everything that it counts.
 */
static const double all_work = ILP_WORK_MILLIONS * 1e6;

struct rounds {
	struct run *run;
	struct nest_offers *offers;
	struct arena *arena;
	struct ilp_frame *frame;
	struct ilp_compact *compact; /* of this round */
	struct ilp_cuts cuts;
	double scale;
	double work, work_most; /* work_most: of this round */
	bool spent;
	double best;            /* of the first objective */
	struct ilp_point point; /* that has it */
};

static bool go_on(void *user, uint64_t iterations, int rows)
{
	struct rounds *rounds = user;
	rounds->work += (double)iterations * rows;
	rounds->spent |= !run_spend(rounds->run, iterations);
	return !rounds->spent && rounds->work < rounds->work_most;
}

/* The least value known. */
static double rounds_best(const struct rounds *rounds)
{
	const struct frontier *kept = &rounds->offers->kept;
	double least = INFINITY;
	for (size_t i = 0; i < kept->count; i++)
		least = fmin(least, objective_value(rounds->frame->search->wishes.objectives.at[0],
					    &kept->points[i].score));
	return least;
}

static void map_ilp_found(void *user, const double *values)
{
	struct rounds *rounds = user;
	struct ilp_point point;
	struct mapping mapping;
	struct offer_price price;
	ilp_compact_read(rounds->compact, values, &point);
	if (ilp_point_mapping(rounds->frame, &point, &mapping))
		rounds->spent |= !nest_offers_price(rounds->offers, &mapping, &price);
	if (rounds_best(rounds) < rounds->best) {
		rounds->best = rounds_best(rounds);
		rounds->point = point;
	}
}

/* True if no mapping can be below what the program says. */
static bool is_bound(const struct ilp_frame *frame)
{
	const struct nest_search *search = frame->search;
	bool sure = search->counting == COUNTING_EXACT && !frame->nest.flagged;
	for (int d = 0; d < frame->dimension_count; d++)
		sure &= !(search->domain->imperfect >> d & 1) || !frame->prime_count[d];
	for (int t = 0; t < frame->shape->space_count; t++) {
		sure &= frame->nest.spaces[t].plain;
		for (int k = 0; k < frame->chain_count[t]; k++)
			if (frame->shape->spaces[t].written)
				sure &= ilp_sums_meet(frame, t, frame->chains[t][k].at[0]);
	}
	return sure;
}

/* One program, near a point or (NULL) not; what it teaches is kept. */
static struct milp_answer solve_round(
	struct rounds *rounds, const struct ilp_near *near, double work)
{
	double scale = rounds->best < 50 * rounds->scale ? rounds->best : rounds->scale;
	struct ilp_compact *compact = rounds->compact =
		ilp_compact_make(rounds->arena, rounds->frame, &rounds->cuts, scale);
	if (near)
		ilp_compact_stay(compact, near);
	rounds->work_most = rounds->work + work;
	struct milp_wishes wishes = {.gap = ILP_GAP_PERMILLE / 1000.0,
		.user = rounds,
		.go_on = go_on,
		.found = map_ilp_found};
	struct milp_answer answer = milp_solve(compact->milp, &wishes, rounds->arena);
	if (!answer.values)
		return answer;
	map_ilp_found(rounds, answer.values);
	ilp_compact_learn(compact, answer.values, rounds->arena, &rounds->cuts);
	return answer;
}

/* INFINITY: no mapping exists. A program that disagrees with the model proves nothing. */
static void rounds_claim(struct rounds *rounds, double bound)
{
	if (bound > rounds->best * (1 + 1e-9))
		run_complain(rounds->run, true, -1,
			"ilp: the program's bound, %.17g, is above a mapping of %.17g: nothing is "
			"proven",
			bound, rounds->best);
	else if (bound == INFINITY)
		run_prove(rounds->run, PROOF_OPTIMAL, 0);
	else if (bound > 0)
		run_prove(rounds->run, PROOF_BOUND, bound);
}

/* The whole program. */
static void solve_whole(struct rounds *rounds, bool prove)
{
	double bound = 0, most = prove ? all_work / 2 : all_work / 4;
	for (int round = 0; round < ILP_ROUNDS_MOST && !rounds->spent; round++) {
		double before = rounds->best;
		struct milp_answer answer = solve_round(rounds, NULL, (most - rounds->work) / 2);
		if (answer.bound > -INFINITY)
			bound = fmax(bound,
				ilp_compact_value(rounds->compact,
					answer.bound -
						milp_margin(
							milp_size(rounds->compact->milp).columns,
							answer.bound)));
		if (answer.status == PROOF_INFEASIBLE && prove) {
			rounds_claim(rounds, INFINITY);
			return;
		}
		if (answer.status != PROOF_OPTIMAL || rounds->best >= before)
			break;
	}
	if (prove)
		rounds_claim(rounds, bound);
}

static bool better_near(struct rounds *rounds, struct ilp_near near)
{
	double before = rounds->best;
	struct ilp_point point = rounds->point;
	near.point = &point;
	if (!rounds->spent && rounds->work < all_work)
		solve_round(rounds, &near, (all_work - rounds->work) / 8);
	return rounds->best < before;
}

/* All bounds under the same orders; two neighbouring levels; two dimensions. */
static bool rounds_improve(struct rounds *rounds)
{
	const struct ilp_frame *frame = rounds->frame;
	uint64_t all = (UINT64_C(1) << frame->row_count) - 1;
	uint32_t every = (1u << frame->dimension_count) - 1;
	bool better = better_near(rounds, (struct ilp_near){.rows = all, .dimensions = every});
	for (int j = 0; j + 1 < frame->nest.count; j++) {
		uint64_t inside = j ? (UINT64_C(2) << frame->nest.tiling[j - 1]) - 1 : 0;
		uint64_t both = (UINT64_C(2) << frame->nest.tiling[j + 1]) - 1;
		better |= better_near(rounds, (struct ilp_near){.rows = both & ~inside,
						      .dimensions = every,
						      .orders = true,
						      .chains = true});
	}
	for (int a = 0; a < frame->dimension_count; a++)
		for (int b = a + 1; b < frame->dimension_count; b++)
			if (frame->prime_count[a] && frame->prime_count[b])
				better |=
					better_near(rounds, (struct ilp_near){.rows = all,
								    .dimensions = 1u << a | 1u << b,
								    .orders = true});
	return better;
}

static void ilp_rounds_solve_all(struct rounds *rounds, bool alone)
{
	solve_whole(rounds, alone && is_bound(rounds->frame));
	while (rounds->best < INFINITY && !rounds->spent && rounds->work < all_work &&
		rounds_improve(rounds))
		;
}

/* One objective of several: time and energy together are sought as their product. */
static enum objective objectives_part(const struct objectives *objectives, size_t i)
{
	bool time = objectives->at[i] == OBJECTIVE_LATENCY;
	for (size_t k = 0; k < objectives->count && time; k++)
		if (objectives->at[k] == OBJECTIVE_ENERGY)
			return OBJECTIVE_EDP;
	return objectives->at[i];
}

static bool has_chains(const struct ilp_frame *frame)
{
	for (int t = 0; t < frame->shape->space_count; t++)
		if (!frame->chain_count[t])
			return false;
	return true;
}

static void run_ilp(struct run *run, const struct problem *problem)
{
	const struct nest_search *search = problem->nest;
	struct nest_offers offers = nest_offers_open(run, search);
	bool spent = false;
	for (size_t i = 0; i < search->wishes.objectives.count && !spent; i++) {
		struct nest_search alone = *search;
		alone.wishes.objectives =
			(struct objectives){1, {objectives_part(&search->wishes.objectives, i)}};
		struct rounds rounds = {.run = run, .offers = &offers, .arena = arena_open()};
		rounds.frame = ilp_frame_make(rounds.arena, &alone);
		rounds.scale = ilp_guess(rounds.frame);
		rounds.best = INFINITY;
		if (!has_chains(rounds.frame))
			run_complain(run, false, -1,
				"ilp: a dataspace may be kept at no level, or at too many of them");
		else
			ilp_rounds_solve_all(&rounds, search->wishes.objectives.count == 1);
		spent = rounds.spent;
		arena_close(rounds.arena);
	}
	nest_offers_close(&offers);
}

const struct solver map_ilp_solver = {
	.stage = STAGE_MAP,
	.name = "ilp",
	.summary = "an integer program of prime factors and orders, by GLPK",
	.run = run_ilp,
};
