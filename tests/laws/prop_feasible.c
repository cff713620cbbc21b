/* Feasibility against trying every mapping of small spaces. */
#include "base/arena.h"
#include "base/number.h"
#include "cost/nest/nest.h"
#include "search/nest/feasible.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_fits.h"

#include <stdio.h>

#include "tests/test.h"

enum { MAPPINGS_MOST = 3000 };

/* Bounds, orders, splits and residency as the domain wants them. */
static void expect_in_domain(const struct space *space, const struct mapping *mapping)
{
	const struct domain *domain = space->domain;
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		int64_t left = domain->shape->dimensions[d].extent;
		for (int i = 0; i < space->level_count; i++) {
			const struct tiling_level *level = &space->levels[i];
			const struct row_domain *row = &domain->rows[level->row];
			const struct mapping_row *at = &mapping->rows[level->row];
			const struct factor_domain *factor =
				level->spatial ? &row->spatial[d] : &row->temporal[d];
			int64_t bound = level->spatial ? at->spatial[d] : at->temporal[d];
			assert_in_range(bound, factor->least, factor->most);
			assert_true(domain->imperfect >> d & 1 || left % bound == 0);
			left = number_ceil_div(left, bound);
		}
		assert_int_equal(left, 1);
	}
	for (int i = 0; i < space->level_count; i++) {
		const struct row_domain *row = &domain->rows[space->levels[i].row];
		const uint8_t *order = mapping->rows[space->levels[i].row].temporal_order;
		int last = domain->shape->dimension_count - row->temporal_outer;
		for (int k = 0; k < row->temporal_inner && !space->levels[i].spatial; k++)
			assert_int_equal(order[k], row->temporal_order[k]);
		for (int k = 0; k < row->temporal_outer && !space->levels[i].spatial; k++)
			assert_int_equal(order[last + k], row->temporal_last[k]);
	}
	for (int t = 0; t < domain->shape->space_count; t++)
		for (int r = 0; r < mapping->level_count; r++) {
			bool kept = mapping->residency[t] >> r & 1;
			assert_false(kept && domain->rows[r].bypass >> t & 1);
			assert_true(kept || !(domain->rows[r].keep >> t & 1));
		}
}

/* The model agrees that it fits. */
static void expect_verdict(struct arena *arena, const struct nest_case *nest, bool whole_homes,
	const struct mapping *mapping)
{
	const struct nest_model *model = nest_model_make(arena, &nest->hierarchy, &nest->shape,
		whole_homes ? COUNTING_EXACT : COUNTING_TIMELOOP);
	struct nest_counts counts;
	struct nest_score score;
	enum nest_verdict verdict = nest_evaluate(model, mapping, &counts, &score);
	assert_true(verdict == NEST_FITS || verdict == NEST_UNCOUNTABLE ||
		    (!whole_homes && verdict == NEST_MEANINGLESS));
}

BARE_TEST(as_trying_every_mapping_says)
{
	uint64_t seed = draws_seed(47);
	long count = draws(2000), fits = 0, none = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct nest_case nest;
		struct nest_case_options options = {
			.spatial = true, .sliding = true, .steps_most = 30};
		nest_case_draw(&random, &options, &nest);
		nest_domain_limit(&random, &nest);
		struct domain *domain = nest_domain_free(arena, &nest);
		nest_domain_narrow(&random, domain);
		nest_domain_homes(&random, domain);
		const struct space *space = space_make(arena, domain);
		if (nest_space_is_small(space, MAPPINGS_MOST)) {
			struct feasible feasible = feasible_find(domain, FEASIBLE_WORK_MOST);
			bool any = nest_any_fits(space);
			if ((feasible.verdict == VERDICT_YES) != any ||
				feasible.verdict == VERDICT_OPEN)
				fail_msg("draw %ld: %d, but %d\n%s", draw, feasible.verdict, any,
					nest_case_text(arena, &nest));
			if (any) {
				assert_true(nest_mapping_fits(domain, &feasible.witness));
				expect_in_domain(space, &feasible.witness);
				expect_verdict(
					arena, &nest, domain->whole_homes, &feasible.witness);
			}
			fits += any;
			none += !any && space_factors_count(space) > 0;
		}
		arena_close(arena);
	}
	printf("%ld fit, %ld do not though factors exist\n", fits, none);
	if (draws_are_many(count)) {
		assert_true(fits > count / 20);
		assert_true(none > count / 20);
	}
}

/*
 * 60 = 2 x 30 = 3 x 20: the smaller tile leaves 30, which no bound of 4 divides, and more than 4
 * along the fan-out of 8 leave no room for the other dimension's 2.
 */
TEST(a_larger_tile_may_leave_what_divides)
{
	struct nest_case nest = {
		.shape = {.dimension_count = 2,
			.space_count = 1,
			.dimensions = {{.name = "m", .extent = 60}, {.name = "n", .extent = 2}},
			.spaces = {{.name = "Z", .written = true, .rank_count = 2}}},
		.hierarchy = {.level_count = 2, .compute_mesh_x = 8, .compute_mesh_y = 1},
	};
	for (int d = 0; d < 2; d++)
		nest.shape.spaces[0].ranks[d].coefficient[d] = 1;
	for (int i = 0; i < 2; i++)
		nest.hierarchy.levels[i] = (struct nest_level){.row = 1 - i,
			.block_row = 2 - i,
			.storage = true,
			.size = i == 0 ? 3 : 0,
			.fanout.x = i == 0 ? 1 : 8,
			.fanout.y = 1};
	struct domain *domain = nest_domain_free(arena, &nest);
	struct row_domain *inner = &domain->rows[1];
	inner->temporal[0].least = 2;
	inner->spatial[0].least = 4;
	inner->spatial[1].least = 2;
	inner->keep = 1;
	struct feasible feasible = feasible_find(domain, FEASIBLE_WORK_MOST);
	assert_int_equal(feasible.verdict, VERDICT_YES);
	assert_int_equal(feasible.witness.rows[1].temporal[0], 3);
	assert_int_equal(feasible.witness.rows[1].spatial[0], 4);
	nest.hierarchy.levels[0].size = 2;
	assert_int_equal(feasible_find(domain, FEASIBLE_WORK_MOST).verdict, VERDICT_NO);
}
