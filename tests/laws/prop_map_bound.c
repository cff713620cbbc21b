#include "base/arena.h"
#include "solvers/map/exact/exact.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Laws of the exact search's bound: chosen from the outermost level inwards, no part of a
 * mapping promises more energy or more cycles than the whole mapping costs, whether its
 * orders and all of its bounds are known or not, in both countings; nor does what keeps
 * tiles small, of a mapping that fits.  A bound that promises a tenth more is seen to break the
 * law.  Nor does it promise less than it could: where every rank is one dimension, the bound of a
 * mapping chosen to the end is what it costs, each read of a sum that drains included.
 */
struct law {
	long mappings, floors, broken;
	long plain,
		met; /* exactly, without flags: those where nothing is left open, those it costs */
	double by;
	const char *first;
};

static struct nest_order order_of(const struct mapping_row *row, int dimension_count)
{
	struct nest_order order = {.count = 0};
	for (int n = 0; n < dimension_count; n++)
		if (row->temporal[row->temporal_order[n]] > 1)
			order.at[order.count++] = row->temporal_order[n];
	return order;
}

static void expect_below(struct law *law, struct arena *arena, const struct nest_case *nest,
	const struct nest_cost *bound, const struct nest_score *score, const char *what, int level)
{
	if (bound->energy_pj * law->by <= score->energy_pj * (1 + 1e-9) &&
		bound->cycles * law->by <= (double)score->cycles)
		return;
	if (!law->broken++)
		law->first = arena_format(arena,
			"%s, level %d: at least %.17g pJ and %.17g cycles, but it costs %.17g and "
			"%" PRId64 "\n%s",
			what, level, bound->energy_pj, bound->cycles, score->energy_pj,
			score->cycles, nest_case_text(arena, nest));
}

/* The same loops with bounds that may still grow. */
static void shrink(
	struct random *random, const struct nest_order *order, int64_t *bounds, int64_t *left)
{
	for (int n = 0; n < order->count; n++) {
		int d = order->at[n];
		int64_t bound = 2 + (int64_t)random_below(random, (uint64_t)bounds[d] - 1);
		while (bounds[d] % bound)
			bound++;
		left[d] *= bounds[d] / bound;
		bounds[d] = bound;
	}
}

static void follow(struct law *law, struct arena *arena, struct random *random,
	const struct nest_frame *frame, const struct nest_case *nest,
	const struct nest_score *score)
{
	const struct shape *shape = &nest->shape;
	struct nest_view *view = arena_new(arena, struct nest_view);
	nest_view_make(frame, &nest->mapping, view);
	struct nest_label label = nest_label_first(view), next;
	struct nest_cost cost;
	int64_t left[SHAPE_DIMENSIONS_MOST], bounds[SHAPE_DIMENSIONS_MOST];
	memcpy(left, view->temporal, sizeof left);
	nest_label_bound(view, &label, left, &cost);
	expect_below(law, arena, nest, &cost, score, "nothing chosen", label.boundary);
	for (int j = frame->count - 1; j > 0; j--) {
		int i = nest->hierarchy.levels[frame->level[j]].row;
		const struct mapping_row *row = &nest->mapping.rows[i];
		struct nest_order order = order_of(row, shape->dimension_count), open = order;
		int64_t few[SHAPE_DIMENSIONS_MOST], more[SHAPE_DIMENSIONS_MOST];
		for (int d = 0; d < shape->dimension_count; d++) {
			few[d] = bounds[d] = row->temporal[d];
			more[d] = left[d] /= bounds[d];
		}
		shrink(random, &order, few, more);
		open.rough = true;
		nest_label_weigh(view, &label, &open, few, more, &cost);
		expect_below(law, arena, nest, &cost, score, "bounds still grow", j);
		open.loose = true;
		nest_label_weigh(view, &label, &open, few, more, &cost);
		expect_below(law, arena, nest, &cost, score, "bounds and order open", j);
		nest_label_weigh(view, &label, &order, bounds, left, &cost);
		expect_below(law, arena, nest, &cost, score, "chosen", j);
		nest_label_enter(view, &label, &order, bounds, &next);
		for (int t = 0; t < shape->space_count; t++)
			next.linked |= nest_links_possible(view, &nest->mapping, &next, left, t);
		for (int t = 0; t < shape->space_count; t++)
			nest_label_estimate(view, t, left, &next);
		nest_label_bound(view, &next, left, &cost);
		expect_below(law, arena, nest, &cost, score, "left behind", j);
		label = next;
	}
	bool whole = frame->plain && !frame->timeloop && frame->count > 1;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		whole &= nest->hierarchy.levels[i].store.block_words == 1;
	law->plain += whole;
	law->met += whole && cost.energy_pj >= score->energy_pj * (1 - 1e-9) &&
		    cost.cycles == (double)score->cycles;
}

/* With nothing chosen but residency and spatial bounds; the tiles of the mapping fit. */
static void stand_on_floors(struct law *law, struct arena *arena, struct arena *tiles,
	const struct nest_frame *frame, struct tile_cache *cache,
	const struct level_factors *options, const struct nest_case *nest,
	const struct nest_score *score)
{
	struct nest_view *view = arena_new(arena, struct nest_view);
	nest_view_make(frame, &nest->mapping, view);
	struct nest_floors *floors = nest_floors_open(arena, options, cache, view);
	for (int again = 0; again < 2; again++) {
		struct nest_cost cost;
		memset(&cost, 0, sizeof cost);
		cost.sums.at[0][0] = view->cycles * view->multipliers * nest->hierarchy.compute_pj;
		if (!nest_floors_add(floors, tiles, &cost.sums)) {
			law->broken++;
			law->first = arena_format(arena, "the tiles are said not to fit\n%s",
				nest_case_text(arena, nest));
			return;
		}
		nest_cost_finish(view, &cost);
		expect_below(law, arena, nest, &cost, score, "floors", frame->count - 1);
	}
	law->floors++;
}

static void follow_some(struct law *law, struct arena *arena, struct random *random,
	const struct domain *domain, struct nest_case *nest, enum counting counting)
{
	struct nest_search search = nest_domain_search(arena, domain, counting);
	if (!space_factors_count(search.space))
		return;
	struct nest_frame frame = nest_frame_make(&search);
	struct level_factors *options = level_factors_make(arena, &frame);
	struct tile_cache *cache = tile_cache_make(arena, &frame, options);
	struct arena *tiles = arena_open(); /* those on the cache */
	for (int n = 0; n < 50; n++) {
		struct arena_mark mark = arena_mark(arena);
		struct nest_counts counts;
		struct nest_score score;
		space_draw(search.space, random, &nest->mapping);
		enum nest_verdict verdict =
			nest_evaluate(search.model, &nest->mapping, &counts, &score);
		if (verdict != NEST_FITS && verdict != NEST_CAPACITY && verdict != NEST_UTILIZATION)
			continue;
		law->mappings++;
		follow(law, arena, random, &frame, nest, &score);
		if (verdict == NEST_FITS && frame.plain)
			stand_on_floors(law, arena, tiles, &frame, cache, options, nest, &score);
		if (!law->broken)
			arena_release(arena, mark);
	}
	arena_close(tiles);
}

static void try_law(struct law *law, struct arena *arena, uint64_t seed, long count)
{
	for (long draw = 0; draw < count && !law->broken; draw++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)draw);
		struct nest_case nest;
		struct nest_case_options options = {
			.sliding = true, .bypass = true, .spatial = true, .steps_most = 200};
		options.flags = draw % 2 == 0;
		options.systolic = draw % 3 == 0;
		nest_case_draw(&random, &options, &nest);
		for (int i = 0; i < nest.hierarchy.level_count && draw % 4 == 1; i++)
			nest.hierarchy.levels[i].store.block_words = 1;
		if (draw % 5 == 2)
			nest_case_paces(&random, true, &nest);
		struct domain *domain = nest_domain_free(arena, &nest);
		for (int c = 0; c <= COUNTING_TIMELOOP; c++)
			follow_some(law, arena, &random, domain, &nest, (enum counting)c);
		if (law->broken)
			law->first = arena_format(
				arena, "seed %" PRIu64 " draw %ld, %s", seed, draw, law->first);
		else
			arena_release(arena, mark);
	}
}

TEST(no_part_promises_more_than_the_whole_costs)
{
	struct law law = {.by = 1};
	long count = draws(600);
	try_law(&law, arena, draws_seed(63), count);
	printf("%ld mappings, %ld of them on floors\n", law.mappings, law.floors);
	if (law.broken)
		fail_msg("%s", law.first);
	printf("%ld plain ones chosen to the end, %ld of them cost their bound\n", law.plain,
		law.met);
	assert_true(law.mappings > count);
	assert_true(law.floors > count);
	assert_true(!draws_are_many(count) || law.plain > count);
	assert_true(law.met * 4 >= law.plain * 3);
}

TEST(a_bound_a_tenth_too_high_is_seen)
{
	struct law law = {.by = 1.1};
	try_law(&law, arena, 63, 50);
	assert_true(law.broken > 0);
}
