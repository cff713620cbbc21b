#include "base/arena.h"
#include "solvers/map/ilp_line.h"
#include "solvers/map/ilp_tiles.h"

#include <math.h>
#include <stdlib.h>

/*
 * The assignment program (ilp_tiles.h): exact where every rank is one dimension, accesses
 * are counted as they are executed, and no flag changes that.  Its bound is GLPK's, less
 * milp_margin: a bound on all mappings of the space, for what the program leaves out (parts
 * of blocks and clusters, waiting ports in `edp`, partial sums that wait for a port, fill
 * and drain, networks) only adds.  Cycles, words and bytes are whole: a mapping less than one
 * above the bound is optimal.  Energies have no such step, and keep their gap.
 *
 * `edp` takes one program of least energy for each number of cycles that there can be.
 */
enum { COLUMNS_MOST = 8000, STEPS_MOST = 16 };
#define WORK_MOST 6e7

struct assignment {
	struct run *run;
	struct nest_offers *offers;
	struct arena *arena;
	const struct ilp_frame *frame;
	enum objective objective;
	struct ilp_tiles *tiles;
	struct ilp_line cost; /* of the objective; of edp the energy */
	double scale, work;
	bool spent;
};

static bool go_on(void *user, uint64_t iterations, int rows)
{
	struct assignment *assignment = user;
	assignment->work += (double)iterations * rows;
	assignment->spent |=
		!run_spend(assignment->run, iterations) || assignment->work > WORK_MOST;
	return !assignment->spent;
}

static void found(void *user, const double *values)
{
	struct assignment *assignment = user;
	struct ilp_point point;
	struct mapping mapping;
	enum nest_verdict verdict;
	ilp_tiles_read(assignment->tiles, values, &point);
	if (ilp_point_mapping(assignment->frame, &point, &mapping))
		assignment->spent |= !nest_offers_try(assignment->offers, &mapping, &verdict);
}

/* Rows of blocks outside storage level j, or inside it. */
static uint64_t blocks(const struct ilp_frame *frame, int j, bool outside)
{
	uint64_t rows = 0;
	for (int r = 0; r < frame->row_count; r++)
		if (ilp_spatial(frame, r) && ilp_inside(frame, r, j) != outside)
			rows |= UINT64_C(1) << r;
	return rows;
}

static void add_values(struct assignment *assignment, const struct ilp_factors *factors,
	double coefficient, struct ilp_line *line)
{
	if (coefficient == 0)
		return;
	struct ilp_values values = ilp_tiles_values(assignment->tiles, factors);
	for (size_t i = 0; i < values.count; i++) {
		double product = coefficient * values.at[i].value;
		if (values.at[i].column < 0)
			line->constant += product;
		else
			ilp_line_add(line, values.at[i].column, product);
	}
}

static struct ilp_factors every_loop(const struct ilp_frame *frame, uint64_t rows)
{
	struct ilp_factors factors = {.c = -1, .gate = -1};
	factors.dimensions = factors.all = (1u << frame->dimension_count) - 1;
	for (int d = 0; d < frame->dimension_count; d++)
		factors.blocks[d] = rows;
	return factors;
}

/* Words of dataspace t that cross for child c, all instances together; those of loops in
 * blocks inside storage level p once. */
static struct ilp_factors crossing(const struct ilp_frame *frame, int t, int chain, int c, int p)
{
	uint32_t every = (1u << frame->dimension_count) - 1;
	struct ilp_factors factors = {.t = t, .c = c, .gate = chain};
	factors.dimensions = every & ~frame->nest.spaces[t].relevant;
	for (int d = 0; d < frame->dimension_count; d++)
		factors.blocks[d] = blocks(frame, p, true);
	return factors;
}

/* The same as one instance of p sees them: its tiles, by the loops that it has. */
static struct ilp_factors port(const struct ilp_frame *frame, int t, int chain, int c, int p)
{
	struct ilp_factors factors = {.t = t, .c = c, .gate = chain};
	factors.dimensions = (1u << frame->dimension_count) - 1;
	factors.all = frame->nest.spaces[t].relevant;
	for (int d = 0; d < frame->dimension_count; d++)
		if (factors.all >> d & 1)
			factors.blocks[d] = blocks(frame, p, false);
	return factors;
}

/*
 * Partial sums, levels of the chain from the home inwards: what a level reads is its updates
 * but for first visits, and its child is filled with it.  First visits are the words of all
 * instances at the home, and what enters but does not come back inside.
 */
static void add_sums(struct assignment *assignment, int t, int chain)
{
	const struct ilp_frame *frame = assignment->frame;
	const struct ilp_chain *levels = &frame->chains[t][chain];
	double words = frame->words[t], each = 0; /* of a read here or further inwards */
	int home = levels->at[levels->count - 1];
	struct ilp_factors first = crossing(frame, t, chain, home, home);
	for (int i = 0; i < levels->count; i++) {
		int p = levels->at[i], c = i ? levels->at[i - 1] : -1;
		double read = ilp_price(frame, p, NEST_READ);
		read += c >= 0 ? ilp_price(frame, c, NEST_FILL) : 0;
		each += read;
		struct ilp_factors updates = crossing(frame, t, chain, c, p);
		struct ilp_factors entering = crossing(frame, t, chain, p, p);
		add_values(assignment, &updates, words * (each + ilp_price(frame, p, NEST_UPDATE)),
			&assignment->cost);
		if (i + 1 < levels->count)
			add_values(assignment, &entering, -words * each, &assignment->cost);
		add_values(assignment, &first, -words * read, &assignment->cost);
	}
}

static void add_reads(struct assignment *assignment, int t, int chain)
{
	const struct ilp_frame *frame = assignment->frame;
	const struct ilp_chain *levels = &frame->chains[t][chain];
	for (int i = 0; i < levels->count; i++) {
		int p = levels->at[i], c = i ? levels->at[i - 1] : -1;
		struct ilp_factors served = crossing(frame, t, chain, c, p);
		add_values(assignment, &served, frame->words[t] * ilp_price(frame, p, NEST_READ),
			&assignment->cost);
		struct ilp_factors entering = crossing(frame, t, chain, p, p);
		if (i + 1 < levels->count)
			add_values(assignment, &entering,
				frame->words[t] * ilp_price(frame, p, NEST_FILL),
				&assignment->cost);
	}
}

static void add_accesses(struct assignment *assignment)
{
	const struct ilp_frame *frame = assignment->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	for (int t = 0; t < frame->shape->space_count; t++)
		for (int k = 0; k < frame->chain_count[t]; k++)
			(frame->shape->spaces[t].written ? add_sums : add_reads)(assignment, t, k);
	if (assignment->objective != OBJECTIVE_ENERGY && assignment->objective != OBJECTIVE_EDP)
		return;
	assignment->cost.constant += frame->computes * hierarchy->compute_pj;
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct ilp_factors leaking = every_loop(frame, 0);
		for (int r = 0; r < frame->row_count; r++)
			if (ilp_spatial(frame, r) && frame->search->space->levels[r].level >
							     hierarchy->levels[i].gated_at)
				for (int d = 0; d < frame->dimension_count; d++)
					leaking.blocks[d] |= UINT64_C(1) << r;
		add_values(assignment, &leaking, hierarchy->levels[i].leak_pj, &assignment->cost);
	}
}

/* The numbers of cycles that there can be, each with its column; those that ask for more
 * multipliers than there are, or that are not `only` (0: any), are closed. */
static struct ilp_values find_steps(struct assignment *assignment, double only)
{
	const struct ilp_frame *frame = assignment->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	struct ilp_factors every = every_loop(frame, 0);
	struct ilp_values all = ilp_tiles_values(assignment->tiles, &every), open = {0};
	double least = frame->computes / (double)hierarchy->compute_mesh_x /
		       (double)hierarchy->compute_mesh_y;
	open.at = arena_array(assignment->arena, struct ilp_value, all.count);
	for (size_t i = 0; i < all.count; i++) {
		bool may = all.at[i].value >= least * (1 - 1e-9) &&
			   (only == 0 || all.at[i].value == only);
		if (may)
			open.at[open.count++] = all.at[i];
		else if (all.at[i].column >= 0)
			milp_fix(assignment->tiles->milp, all.at[i].column, 0);
	}
	return open;
}

/* Words that storage level j serves or updates for its children, and that fill it. */
static void add_port(struct assignment *assignment, int j, bool reads, bool writes,
	struct ratio rate, int cycles)
{
	const struct ilp_frame *frame = assignment->frame;
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->nest.level[j]];
	struct ilp_line line = {.arena = assignment->arena};
	if (!rate.num)
		return;
	for (int t = 0; t < frame->shape->space_count; t++)
		for (int k = 0; k < frame->chain_count[t]; k++) {
			const struct ilp_chain *levels = &frame->chains[t][k];
			bool written = frame->shape->spaces[t].written;
			for (int i = 0; i < levels->count; i++) {
				if (levels->at[i] != j)
					continue;
				int c = i ? levels->at[i - 1] : -1;
				struct ilp_factors serving = port(frame, t, k, c, j);
				struct ilp_factors filling = port(frame, t, k, j, j);
				if (written ? writes : reads)
					add_values(
						assignment, &serving, level->rate_scale[t], &line);
				if (!written && writes && i + 1 < levels->count)
					add_values(
						assignment, &filling, level->rate_scale[t], &line);
			}
		}
	struct ilp_line wait = {.arena = assignment->arena};
	ilp_line_add_line(&wait, &line, 1 / ratio_double(rate) / assignment->scale);
	ilp_line_add(&wait, cycles, -1);
	ilp_line_row(assignment->tiles->milp, &wait, -INFINITY, 0);
}

static void add_cycles(struct assignment *assignment)
{
	const struct ilp_frame *frame = assignment->frame;
	struct ilp_line wait = {.arena = assignment->arena};
	struct ilp_values steps = find_steps(assignment, 0);
	int cycles = milp_column(assignment->tiles->milp, 0, INFINITY, false, 0);
	for (size_t i = 0; i < steps.count; i++)
		if (steps.at[i].column >= 0)
			ilp_line_add(
				&wait, steps.at[i].column, steps.at[i].value / assignment->scale);
		else
			wait.constant += steps.at[i].value / assignment->scale;
	ilp_line_add(&wait, cycles, -1);
	ilp_line_row(assignment->tiles->milp, &wait, -INFINITY, 0);
	for (int j = 0; j < frame->nest.count; j++) {
		const struct nest_level *level =
			&frame->search->hierarchy->levels[frame->nest.level[j]];
		add_port(assignment, j, true, false, level->read_rate, cycles);
		add_port(assignment, j, false, true, level->write_rate, cycles);
		add_port(assignment, j, true, true, level->shared_rate, cycles);
	}
	ilp_line_add(&assignment->cost, cycles, assignment->scale);
}

/* False, after a complaint, if it is too large. */
static bool make_program(struct assignment *assignment)
{
	const struct ilp_frame *frame = assignment->frame;
	assignment->tiles = ilp_tiles_make(assignment->arena, frame, COLUMNS_MOST);
	assignment->cost = (struct ilp_line){.arena = assignment->arena};
	if (assignment->objective == OBJECTIVE_LATENCY)
		add_cycles(assignment);
	else
		add_accesses(assignment);
	if (assignment->objective == OBJECTIVE_EDP)
		find_steps(assignment, 0);
	if (assignment->tiles->columns > COLUMNS_MOST) {
		run_complain(assignment->run, false, -1,
			"ilp_exact: the program has at least %.0f columns, the limit is %d: "
			"nothing is proven",
			assignment->tiles->columns, COLUMNS_MOST);
		return false;
	}
	for (size_t i = 0; i < assignment->cost.parts.count; i++)
		milp_cost(assignment->tiles->milp, assignment->cost.parts.at[i].column,
			assignment->cost.parts.at[i].coefficient / assignment->scale);
	return true;
}

/* A bound of the program; INFINITY where it has no point. */
static double solve_program(struct assignment *assignment)
{
	struct milp_wishes wishes = {.user = assignment, .go_on = go_on, .found = found};
	struct milp_answer answer = milp_solve(assignment->tiles->milp, &wishes, assignment->arena);
	if (answer.values)
		found(assignment, answer.values);
	if (answer.status == MILP_INFEASIBLE)
		return INFINITY;
	if (answer.status == MILP_FAILED)
		run_complain(
			assignment->run, false, -1, "ilp_exact: GLPK gave up: %s", answer.fault);
	double margin = milp_margin(assignment->tiles->mass, answer.bound);
	return fmax(0, (answer.bound - margin) * assignment->scale + assignment->cost.constant);
}

static int by_value(const void *a, const void *b)
{
	double x = ((const struct ilp_value *)a)->value, y = ((const struct ilp_value *)b)->value;
	return (x > y) - (x < y);
}

static double solve_steps(struct assignment *assignment)
{
	double bound = INFINITY, last = 0;
	struct ilp_values steps = find_steps(assignment, 0);
	struct ilp_value *sorted =
		arena_copy(assignment->arena, steps.at, steps.count * sizeof *steps.at);
	int count = 0;
	qsort(sorted, steps.count, sizeof *sorted, by_value);
	for (size_t i = 0; i < steps.count; i++)
		count += i == 0 || sorted[i].value != sorted[i - 1].value;
	if (count > STEPS_MOST) {
		run_complain(assignment->run, false, -1,
			"ilp_exact: edp takes a program for each of %d numbers of cycles, the "
			"limit is %d: nothing is proven",
			count, STEPS_MOST);
		return 0;
	}
	for (size_t i = 0; i < steps.count && !assignment->spent; i++) {
		if (sorted[i].value == last)
			continue;
		last = sorted[i].value;
		make_program(assignment);
		find_steps(assignment, last);
		bound = fmin(bound, last * solve_program(assignment));
	}
	return assignment->spent ? 0 : bound;
}

/* What the program is not made for, or NULL. */
static const char *why_not(const struct ilp_frame *frame)
{
	const struct nest_search *search = frame->search;
	if (search->objectives.count > 1)
		return "it takes one objective";
	if (search->counting != COUNTING_EXACT)
		return "it counts as exact does only";
	if (frame->nest.flagged)
		return "flags change who serves whom";
	for (int d = 0; d < frame->dimension_count; d++)
		if (search->domain->imperfect >> d & 1 && frame->prime_count[d])
			return "factors need not divide";
	for (int t = 0; t < frame->shape->space_count; t++) {
		if (!frame->nest.spaces[t].plain)
			return "a rank is not just one dimension";
		if (!frame->chain_count[t])
			return "a dataspace may be kept at no level, or at too many of them";
		for (int k = 0; k < frame->chain_count[t]; k++)
			if (frame->chains[t][k].at[frame->chains[t][k].count - 1] !=
				frame->nest.count - 1)
				return "the outermost level need not keep a dataspace";
	}
	return NULL;
}

static void conclude(struct assignment *assignment, double bound)
{
	const struct frontier *kept = &assignment->offers->kept;
	double best = kept->count ? objective_value(assignment->objective, &kept->points[0].score)
				  : INFINITY;
	bool whole =
		assignment->objective != OBJECTIVE_ENERGY && assignment->objective != OBJECTIVE_EDP;
	if (best < bound * (1 - 1e-9)) /* infinite too: a mapping where none should be */
		run_complain(assignment->run, true, -1,
			"ilp_exact: a mapping of %.17g is below the program's bound, %.17g: nothing "
			"is proven",
			best, bound);
	else if (bound == INFINITY || (whole && best - bound < 1))
		run_prove(assignment->run, PROOF_OPTIMAL, 0);
	else if (bound > 0)
		run_prove(assignment->run, PROOF_BOUND, bound);
}

static void run_ilp_exact(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	struct nest_offers offers = nest_offers_open(run, problem->nest);
	struct assignment assignment = {.run = run,
		.offers = &offers,
		.arena = arena,
		.frame = ilp_frame_make(arena, problem->nest),
		.objective = problem->nest->objectives.at[0]};
	const char *why = why_not(assignment.frame);
	assignment.scale = ilp_guess(assignment.frame);
	if (assignment.objective == OBJECTIVE_EDP)
		assignment.scale /= assignment.frame->computes;
	if (why)
		run_complain(run, false, -1, "ilp_exact: %s: nothing is proven", why);
	else if (make_program(&assignment))
		conclude(&assignment, assignment.objective == OBJECTIVE_EDP
					      ? solve_steps(&assignment)
					      : solve_program(&assignment));
	nest_offers_close(&offers);
	arena_close(arena);
}

const struct solver map_ilp_exact_solver = {
	.stage = STAGE_MAP,
	.name = "ilp_exact",
	.summary = "an integer program of tiles and orders, exact for small plain spaces, by GLPK",
	.run = run_ilp_exact,
};
