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
 * The exact search against trying every mapping, on random small mapspaces: the same best
 * value for every objective, the same frontier, in both countings.
 */
enum { MAPPINGS_MOST = 30000 };

static const struct objectives wishes[] = {
	{1, {OBJECTIVE_EDP}},
	{1, {OBJECTIVE_ENERGY}},
	{1, {OBJECTIVE_LATENCY}},
	{2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}},
};

static struct nest_explored search_map(const struct nest_case *nest, const struct domain *domain,
	enum counting counting, struct objectives objectives, const char *solver,
	struct arena *arena)
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
		.objectives = objectives,
		.solver = solver,
		.simulate = SIMULATE_NONE,
		.budget = 100000000,
		.jobs = 1,
	};
	return nest_explore(&search, arena);
}

static bool alike(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(a);
}

static bool same_frontier(const struct frontier *a, const struct frontier *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < a->objectives.count; k++) {
			enum objective objective = a->objectives.at[k];
			if (!alike(objective_value(objective, &a->points[i].score),
				    objective_value(objective, &b->points[i].score)))
				return false;
		}
	return true;
}

static void show(const char *name, const struct frontier *frontier)
{
	for (size_t i = 0; i < frontier->count; i++)
		fprintf(stderr, "%s: %" PRId64 " cycles %.17g pJ  %s\n", name,
			frontier->points[i].score.cycles, frontier->points[i].score.energy_pj,
			frontier->points[i].key);
}

static void compare(const struct nest_case_options *options, uint64_t seed, long count)
{
	long compared = 0, several = 0, empty = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct nest_case nest;
		nest_case_draw(&random, options, &nest);
		nest_domain_limit(&random, &nest);
		struct domain *domain = nest_domain_free(arena, &nest);
		if (draw % 4)
			nest_domain_narrow(&random, domain);
		domain->imperfect = 0;
		enum counting counting =
			random_below(&random, 2) ? COUNTING_EXACT : COUNTING_TIMELOOP;
		struct objectives objectives =
			wishes[random_below(&random, sizeof wishes / sizeof *wishes)];
		if (nest_space_is_small(space_make(arena, domain), MAPPINGS_MOST)) {
			struct nest_explored all =
				search_map(&nest, domain, counting, objectives, "linear", arena);
			struct nest_explored best =
				search_map(&nest, domain, counting, objectives, "exact", arena);
			compared++;
			several += all.frontier.count > 1;
			empty += all.frontier.count == 0;
			if (!best.complete || !all.complete ||
				!same_frontier(&all.frontier, &best.frontier)) {
				show("linear", &all.frontier);
				show("exact", &best.frontier);
				fail_msg("seed %" PRIu64 " draw %ld, %s counting, %s%s\n%s", seed,
					draw, counting_names[counting],
					objective_names[objectives.at[0]],
					objectives.count > 1 ? " ..." : "",
					nest_case_text(arena, &nest));
			}
		}
		arena_close(arena);
	}
	printf("%ld mapspaces compared, %ld with several points, %ld with none\n", compared,
		several, empty);
	assert_true(!draws_are_many(count) || (compared > count / 4 && several > 0));
}

static void small_mapspaces_have_the_enumerated_optimum(void **state)
{
	struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .steps_most = 60};
	compare(&options, draws_seed(61), draws(400));
}

static void flags_cost_proofs_but_no_optimum(void **state)
{
	struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .flags = true, .steps_most = 24};
	compare(&options, draws_seed(62), draws(400) / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_mapspaces_have_the_enumerated_optimum),
		cmocka_unit_test(flags_cost_proofs_but_no_optimum),
	};
	return cmocka_run_group_tests_name("exact search", tests, NULL, NULL);
}
