#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/nest/nest_search.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_fits.h"
#include "tests/support/nest_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * The integer program against trying every mapping, on random small mapspaces: what it offers
 * is legal and never better than the optimum, and no bound is above it.
 */
enum { MAPPINGS_MOST = 20000, TICKS = 4000 };

static const enum objective wishes[] = {
	OBJECTIVE_EDP, OBJECTIVE_ENERGY, OBJECTIVE_LATENCY, OBJECTIVE_HBM_BYTES};

/* Accesses of single words by wide ports, so that nothing is rounded up or waits. */
static void use_words(struct nest_case *nest)
{
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		struct nest_level *level = &nest->hierarchy.levels[i];
		level->store.block_words = level->store.cluster_size = 1;
		level->network.hop_pj = level->network.router_pj = level->energies.leak_pj = 0;
		level->store.read_rate = level->store.write_rate = level->store.shared_rate =
			(struct ratio){0, 1};
	}
}

/* Drops the limits that only constraints set, and that enumeration does not know without them. */
static void drop_constraints(struct domain *domain)
{
	domain->imperfect = 0;
	domain->least_parallelism = 0;
	for (int r = 0; r < domain->arch->level_count; r++)
		domain->rows[r].spatial_over = domain->rows[r].temporal_over = 0;
}

struct tally {
	long compared, found, best, bounds, close, proven, empty;
};

static struct explored search_map(const struct domain *domain, enum counting counting,
	enum objective objective, const char *solver, struct arena *arena)
{
	struct nest_search search = nest_domain_search(arena, domain, counting);
	search.wishes.objectives = (struct objectives){1, {objective}};
	search.solver = solver_find(STAGE_MAP, solver);
	if (solver[0] != 'l')
		search.wishes.budget = TICKS;
	return nest_explore(&search, arena);
}

static double best_of(const struct explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	if (!frontier->count)
		return INFINITY;
	return objective_value(frontier->objectives.at[0], &frontier->points[0].score);
}

/* NULL, or what is wrong. */
static const char *judge(const struct domain *domain, const struct explored *all,
	const struct explored *ilp, struct tally *tally)
{
	double optimum = best_of(all), value = best_of(ilp);
	tally->compared++;
	tally->empty += !all->frontier.count;
	tally->found += ilp->frontier.count > 0;
	tally->best += value <= optimum * (1 + 1e-9);
	tally->bounds += ilp->bound > 0;
	tally->close += ilp->bound > value * (1 - 1e-3);
	tally->proven += ilp->complete;
	if (ilp->effort.refused)
		return "an offer is refused";
	for (size_t i = 0; i < ilp->frontier.count; i++) {
		const struct nest_found *found = ilp->frontier.points[i].payload;
		if (!nest_mapping_fits(domain, &found->mapping))
			return "an offer does not fit";
	}
	if (value < optimum * (1 - 1e-9))
		return "an offer is better than the optimum";
	if (ilp->bound > optimum * (1 + 1e-9))
		return "the bound is above the optimum";
	if (ilp->complete && !(value <= optimum * (1 + 1e-5)))
		return "what is called optimal is not";
	return NULL;
}

static struct tally compare(
	const char *solver, const struct nest_case_options *options, uint64_t seed, long count)
{
	struct tally tally = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct nest_case nest;
		nest_case_draw(&random, options, &nest);
		nest_domain_limit(&random, &nest);
		if (draw % 2)
			use_words(&nest);
		struct domain *domain = nest_domain_free(arena, &nest);
		if (draw % 4)
			nest_domain_narrow(&random, domain);
		nest_domain_homes(&random, domain);
		drop_constraints(domain);
		enum counting counting =
			random_below(&random, 4) ? COUNTING_EXACT : COUNTING_TIMELOOP;
		domain->whole_homes = counting == COUNTING_EXACT;
		enum objective objective =
			wishes[random_below(&random, sizeof wishes / sizeof *wishes)];
		if (nest_space_is_small(space_make(arena, domain), MAPPINGS_MOST)) {
			struct explored all =
				search_map(domain, counting, objective, "linear", arena);
			struct explored ilp =
				search_map(domain, counting, objective, solver, arena);
			const char *wrong = judge(domain, &all, &ilp, &tally);
			if (wrong)
				fail_msg("%s, seed %" PRIu64
					 " draw %ld, %s counting, %s: %s\n%.17g, optimum %.17g, "
					 "bound %.17g\n%s\n%s",
					solver, seed, draw, counting_names[counting],
					objective_names[objective], wrong, best_of(&ilp),
					best_of(&all), ilp.bound,
					ilp.frontier.count ? ilp.frontier.points[0].key : "",
					nest_case_text(arena, &nest));
		}
		arena_close(arena);
	}
	printf("%s: %ld mapspaces, %ld with no mapping; %ld found one, %ld the best; %ld bounds, "
	       "%ld within 1/1000, %ld proofs\n",
		solver, tally.compared, tally.empty, tally.found, tally.best, tally.bounds,
		tally.close, tally.proven);
	return tally;
}

TEST(the_compact_program_offers_what_is_legal)
{
	struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .steps_most = 60};
	long count = draws(40);
	struct tally tally = compare("ilp", &options, draws_seed(71), count);
	long some = tally.compared - tally.empty;
	assert_true(!draws_are_many(count) ||
		    (tally.found > some * 9 / 10 && tally.best > some / 2 && tally.bounds > 0));
}

TEST(its_bounds_hold_for_plain_spaces)
{
	struct nest_case_options options = {.bypass = true, .spatial = true, .steps_most = 60};
	long count = draws(40);
	struct tally tally = compare("ilp", &options, draws_seed(72), count);
	assert_true(!draws_are_many(count) || tally.bounds > tally.compared / 8);
}

/* 48 updates that find a sum, 64 + 64 operands and 16 sums that drain are read: without any of them the
 * bound is far below. */
TEST(the_bound_counts_the_sums_that_drain)
{
	struct nest_case *nest = nest_line(
		arena, "DRAM Buf MAC", "Z[m,n] = A[m,k] B[k,n], m=4 n=4 k=4", "DRAM: m4 n4 k4");
	use_words(nest);
	double *dram = nest_line_level(nest, "DRAM")->energies.pj,
	       *buf = nest_line_level(nest, "Buf")->energies.pj;
	dram[NEST_READ] = dram[NEST_UPDATE] = 1000;
	buf[NEST_READ] = 100;
	buf[NEST_FILL] = buf[NEST_UPDATE] = nest->hierarchy.compute_pj = 0;
	struct domain *domain = nest_domain_free(arena, nest);
	drop_constraints(domain);
	domain->whole_homes = true;
	struct explored ilp = search_map(domain, COUNTING_EXACT, OBJECTIVE_ENERGY, "ilp", arena);
	assert_true(best_of(&ilp) == 48 * 1000 + (48 + 128 + 16) * 100);
	assert_true(ilp.bound > best_of(&ilp) * 0.99);
}

/* The same nest, its dimensions in another order. */
static struct nest_case turned(const struct nest_case *nest)
{
	struct nest_case other = *nest;
	int count = nest->shape.dimension_count;
	for (int d = 0; d < count; d++) {
		int to = (d + 1) % count;
		other.shape.dimensions[to] = nest->shape.dimensions[d];
		for (int t = 0; t < nest->shape.space_count; t++)
			for (int r = 0; r < nest->shape.spaces[t].rank_count; r++)
				other.shape.spaces[t].ranks[r].coefficient[to] =
					nest->shape.spaces[t].ranks[r].coefficient[d];
	}
	shape_finish(&other.shape);
	return other;
}

static struct nest_case draw_nest(const struct nest_case_options *options, uint64_t seed, long draw)
{
	struct random random = random_open(seed, (uint64_t)draw);
	struct nest_case nest;
	nest_case_draw(&random, options, &nest);
	nest_domain_limit(&random, &nest);
	use_words(&nest);
	return nest;
}

/* No program models the extra time of a systolic array: the bounds stay below. */
TEST(programs_of_systolic_arrays_promise_no_more)
{
	struct nest_case_options options = {
		.bypass = true, .spatial = true, .systolic = true, .steps_most = 24};
	compare("ilp", &options, draws_seed(76), draws(40) / 2);
}

BARE_TEST(the_order_of_dimensions_makes_no_difference)
{
	struct nest_case_options options = {.spatial = true, .steps_most = 24};
	uint64_t seed = draws_seed(74);
	long count = draws(8), alike = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct nest_case nest = draw_nest(&options, seed, draw);
		struct nest_case other = turned(&nest);
		struct explored a = search_map(nest_domain_free(arena, &nest), COUNTING_EXACT,
			OBJECTIVE_ENERGY, "ilp", arena);
		struct explored b = search_map(nest_domain_free(arena, &other), COUNTING_EXACT,
			OBJECTIVE_ENERGY, "ilp", arena);
		bool both = a.bound > best_of(&a) * 0.9999 && b.bound > best_of(&b) * 0.9999;
		alike += both;
		if (both && fabs(best_of(&a) - best_of(&b)) > 2e-4 * best_of(&a))
			fail_msg("seed %" PRIu64 " draw %ld: %.17g and %.17g\n%s", seed, draw,
				best_of(&a), best_of(&b), nest_case_text(arena, &nest));
		arena_close(arena);
	}
	printf("%ld alike\n", alike);
	assert_true(!draws_are_many(count) || alike > count / 6);
}

/* The program is made for a machine whose reads cost twice what the model says: its own
 * mapping is then below its bound, which must not pass for a proof. */
BARE_TEST(a_program_that_is_wrong_is_noticed)
{
	struct nest_case_options options = {.steps_most = 24};
	uint64_t seed = draws_seed(75);
	long count = draws(10), noticed = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct nest_case nest = draw_nest(&options, seed, draw);
		struct nest_case dear = nest;
		for (int i = 0; i < nest.hierarchy.level_count; i++)
			for (int a = 0; a < NEST_ACTIONS; a++)
				dear.hierarchy.levels[i].energies.pj[a] =
					2 * nest.hierarchy.levels[i].energies.pj[a] + 1;
		struct domain *domain = nest_domain_free(arena, &dear);
		struct nest_search search = nest_domain_search(arena, domain, COUNTING_EXACT);
		search.model = nest_model_make(arena, &nest.hierarchy, &nest.shape, COUNTING_EXACT);
		search.wishes.objectives = (struct objectives){1, {OBJECTIVE_ENERGY}};
		search.solver = solver_find(STAGE_MAP, "ilp");
		search.wishes.budget = TICKS;
		struct explored wrong = nest_explore(&search, arena);
		struct explored right = search_map(nest_domain_free(arena, &nest), COUNTING_EXACT,
			OBJECTIVE_ENERGY, "ilp", arena);
		/* The bound is known to be within a thousandth: twice as much is too much. */
		if (right.bound > best_of(&right) * 0.999) {
			noticed++;
			assert_non_null(wrong.complaint);
			assert_true(wrong.bound == 0 && !wrong.complete);
		}
		arena_close(arena);
	}
	printf("%ld noticed\n", noticed);
	assert_true(!draws_are_many(count) || noticed > count / 8);
}
