#include "base/arena.h"
#include "search/nest_search.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_fits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * The integer programs against trying every mapping, on random small mapspaces: what they offer
 * is legal and never better than the optimum, no bound is above it, what they call optimal is it.
 */
enum { MAPPINGS_MOST = 20000, TICKS = 6000 };

static const enum objective wishes[] = {
	OBJECTIVE_EDP, OBJECTIVE_ENERGY, OBJECTIVE_LATENCY, OBJECTIVE_HBM_BYTES};

/* What only constraints ask for, and enumeration does not know without them. */
static void drop_constraints(struct domain *domain)
{
	domain->imperfect = 0;
	domain->least_parallelism = 0;
	for (int r = 0; r < domain->arch->level_count; r++)
		domain->rows[r].spatial_over = domain->rows[r].temporal_over = 0;
}

struct tally {
	long compared, found, best, bounds, proven, empty;
};

static struct nest_explored search_map(const struct nest_case *nest, const struct domain *domain,
	enum counting counting, enum objective objective, const char *solver, struct arena *arena)
{
	struct nest_search search = {
		.arch = domain->arch,
		.shape = &nest->shape,
		.hierarchy = &nest->hierarchy,
		.constraints = domain->constraints,
		.domain = domain,
		.space = space_make(arena, domain),
		.counting = counting,
		.model = nest_model_make(arena, &nest->hierarchy, &nest->shape, counting),
		.objectives = {1, {objective}},
		.solver = solver,
		.simulate = SIMULATE_NONE,
		.budget = solver[0] == 'l' ? 100000000 : TICKS,
		.jobs = 1,
	};
	return nest_explore(&search, arena);
}

static double best_of(const struct nest_explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	if (!frontier->count)
		return INFINITY;
	return objective_value(frontier->objectives.at[0], &frontier->points[0].score);
}

/* NULL, or what is wrong. */
static const char *judge(const struct domain *domain, const struct nest_explored *all,
	const struct nest_explored *ilp, struct tally *tally)
{
	double optimum = best_of(all), value = best_of(ilp);
	tally->compared++;
	tally->empty += !all->frontier.count;
	tally->found += ilp->frontier.count > 0;
	tally->best += value <= optimum * (1 + 1e-9);
	tally->bounds += ilp->bound > 0;
	tally->proven += ilp->complete;
	if (ilp->refused)
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
		struct domain *domain = nest_domain_free(arena, &nest);
		if (draw % 4)
			nest_domain_narrow(&random, domain);
		drop_constraints(domain);
		enum counting counting =
			random_below(&random, 4) ? COUNTING_EXACT : COUNTING_TIMELOOP;
		enum objective objective =
			wishes[random_below(&random, sizeof wishes / sizeof *wishes)];
		if (nest_space_is_small(space_make(arena, domain), MAPPINGS_MOST)) {
			struct nest_explored all =
				search_map(&nest, domain, counting, objective, "linear", arena);
			struct nest_explored ilp =
				search_map(&nest, domain, counting, objective, solver, arena);
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
	       "%ld proofs\n",
		solver, tally.compared, tally.empty, tally.found, tally.best, tally.bounds,
		tally.proven);
	return tally;
}

static void the_compact_program_offers_what_is_legal(void **state)
{
	struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .steps_most = 60};
	long count = draws(60);
	struct tally tally = compare("ilp", &options, draws_seed(71), count);
	long some = tally.compared - tally.empty;
	assert_true(!draws_are_many(count) ||
		    (tally.found > some * 9 / 10 && tally.best > some / 2 && tally.bounds > 0));
}

static void its_bounds_hold_for_plain_spaces(void **state)
{
	struct nest_case_options options = {.bypass = true, .spatial = true, .steps_most = 60};
	long count = draws(60);
	struct tally tally = compare("ilp", &options, draws_seed(72), count);
	assert_true(!draws_are_many(count) || tally.bounds > tally.compared / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_compact_program_offers_what_is_legal),
		cmocka_unit_test(its_bounds_hold_for_plain_spaces),
	};
	return cmocka_run_group_tests_name("integer programs", tests, NULL, NULL);
}
