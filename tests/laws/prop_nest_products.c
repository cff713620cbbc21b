#include "base/arena.h"
#include "cost/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/naive_drains.h"
#include "tests/support/nest_compare.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * If every rank is one dimension, every bound divides and no flag is set, a count is a product of
 * bounds.  These products are made in floating point with 64 bits of mantissa, never too large for
 * it: the exact counts are equal to them, or the answer is that they do not fit. Timeloop's counts
 * are the same there, but for the reads of drained words.
 */
struct products {
	long double fills, reads, updates;
};

static bool is_kept(const struct nest_case *nest, int level, int t)
{
	return nest->mapping.residency[t] >> nest->hierarchy.levels[level].row & 1;
}

static long double spatial(const struct nest_case *nest, int from, int to, uint32_t dimensions)
{
	long double all = 1;
	for (int i = from; i <= to; i++)
		for (int d = 0; d < nest->shape.dimension_count; d++)
			if (dimensions >> d & 1)
				all *= nest->mapping.rows[nest->hierarchy.levels[i].block_row]
					       .spatial[d];
	return all;
}

/* Iterations of the temporal loops above a level, the innermost run of irrelevant ones left out
 * unless `all`. */
static long double iterations(const struct nest_case *nest, int level, uint32_t relevant, bool all)
{
	long double so_far = 1, moves = 1;
	for (int i = nest->hierarchy.level_count - 1; i > level; i--) {
		const struct mapping_row *row = &nest->mapping.rows[nest->hierarchy.levels[i].row];
		for (int k = nest->shape.dimension_count - 1; k >= 0; k--) {
			int d = row->temporal_order[k];
			so_far *= row->temporal[d];
			if (row->temporal[d] > 1 && relevant >> d & 1)
				moves = so_far;
		}
	}
	return all ? so_far : moves;
}

static long double tile(const struct nest_case *nest, int level, int t)
{
	long double words = 1;
	const struct dataspace *space = &nest->shape.spaces[t];
	for (int r = 0; r < space->rank_count; r++)
		for (int d = 0; d < nest->shape.dimension_count; d++)
			for (int i = 0; space->ranks[r].coefficient[d] && i <= level; i++) {
				const struct nest_level *at = &nest->hierarchy.levels[i];
				words *= nest->mapping.rows[at->row].temporal[d];
				words *= nest->mapping.rows[at->block_row].spatial[d];
			}
	return words;
}

/* Fills of the child, which is a level or the multipliers (-1), and what that costs the parent. */
static void serve(const struct nest_case *nest, int child, int parent, int t, struct products at[])
{
	const struct dataspace *space = &nest->shape.spaces[t];
	int outermost = nest->hierarchy.level_count - 1;
	long double moved = iterations(nest, child, space->relevant, child < 0) *
			    (child < 0 ? 1 : tile(nest, child, t));
	long double served = moved * spatial(nest, child + 1, parent, space->relevant) *
			     spatial(nest, parent + 1, outermost, ~0u);
	long double elements = tile(nest, outermost, t);
	if (child >= 0)
		at[child].fills = moved * spatial(nest, child + 1, outermost, ~0u);
	if (!space->written) {
		at[parent].reads = served;
		return;
	}
	at[parent].updates = served;
	at[parent].reads = served - elements; /* first visits bring nothing */
	if (child >= 0) {
		at[child].reads += at[child].fills; /* all that entered drains */
		at[child].fills = at[parent].reads;
	}
}

static void find_products(const struct nest_case *nest, int t, struct products at[])
{
	int child = -1;
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		at[i] = (struct products){0};
		if (!is_kept(nest, i, t))
			continue;
		serve(nest, child, i, t, at);
		child = i;
	}
}

/* No dimension walks two ranks, and no sum is made by several instances of the levels. */
static bool has_products(const struct nest_case *nest, int t)
{
	uint32_t seen = 0;
	for (int r = 0; r < nest->shape.spaces[t].rank_count; r++)
		for (int d = 0; d < nest->shape.dimension_count; d++) {
			if (nest->shape.spaces[t].ranks[r].coefficient[d] && seen >> d & 1)
				return false;
			seen |= (uint32_t)(nest->shape.spaces[t].ranks[r].coefficient[d] > 0) << d;
		}
	int innermost = 0;
	while (!is_kept(nest, innermost, t))
		innermost++;
	return !nest->shape.spaces[t].written ||
	       spatial(nest, innermost + 1, nest->hierarchy.level_count - 1,
		       ~nest->shape.spaces[t].relevant) == 1;
}

static void compare(const struct nest_case *nest, const struct nest_counts *counts,
	enum nest_verdict verdict, const char *where, struct arena *arena)
{
	long double most = 0;
	bool all_known = true;
	struct products at[ARCH_LEVELS_MOST];
	for (int t = 0; t < nest->shape.space_count; t++) {
		for (int i = 0; i < nest->hierarchy.level_count; i++) {
			long double words = is_kept(nest, i, t) ? tile(nest, i, t) : 0;
			most = words > most ? words : most;
		}
		all_known &= has_products(nest, t);
		if (!has_products(nest, t))
			continue;
		find_products(nest, t, at);
		for (int i = 0; i < nest->hierarchy.level_count; i++) {
			const struct nest_count *count = &counts->at[i][t];
			long double all[] = {at[i].reads, at[i].fills, at[i].updates};
			int64_t counted[] = {count->reads, count->fills, count->updates};
			for (int k = 0; k < 3; k++) {
				most = all[k] > most ? all[k] : most;
				if (verdict != NEST_OVERFLOW && all[k] != (long double)counted[k])
					fail_msg("%s:\n%s%s %s: count %d is %" PRId64
						 ", the product %.0Lf",
						where, nest_case_text(arena, nest),
						nest->hierarchy.levels[i].name,
						nest->shape.spaces[t].name, k, counted[k], all[k]);
			}
		}
	}
	if (verdict != NEST_OVERFLOW && most > (long double)INT64_MAX)
		fail_msg("%s:\n%scounted, but there are %.0Lf", where, nest_case_text(arena, nest),
			most);
	if (verdict == NEST_OVERFLOW && all_known && most < 1e15L)
		fail_msg("%s:\n%sdoes not fit, but there are only %.0Lf", where,
			nest_case_text(arena, nest), most);
}

static const struct nest_case_options options = {
	.bypass = true, .spatial = true, .steps_most = 400};

static enum nest_verdict count_as(enum counting counting, const struct nest_case *nest,
	struct nest_counts *counts, struct arena *arena)
{
	struct nest_score score;
	*counts = (struct nest_counts){0};
	return nest_evaluate(nest_model_make(arena, &nest->hierarchy, &nest->shape, counting),
		&nest->mapping, counts, &score);
}

/* The outermost level keeps all: a home inside loops holds more than a tile.  0: extents stay small. */
static void draw(uint64_t seed, long i, int64_t extent_most, struct nest_case *nest)
{
	struct random random = random_open(seed, (uint64_t)i);
	nest_case_draw(&random, &options, nest);
	if (extent_most)
		nest_case_grow(&random, extent_most, nest);
	for (int l = 0; l < nest->hierarchy.level_count; l++)
		nest->hierarchy.levels[l].size = nest->hierarchy.levels[l].store.entries = 0;
	int outermost = nest->hierarchy.level_count - 1;
	while (outermost > 0 && !nest->hierarchy.levels[outermost].storage)
		outermost--;
	for (int t = 0; t < nest->shape.space_count; t++)
		nest->mapping.residency[t] |= UINT32_C(1) << nest->hierarchy.levels[outermost].row;
}

TEST(counts_are_products)
{
	long count = draws(3000), counted = 0;
	uint64_t seed = draws_seed(21);
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct nest_case nest;
		struct nest_counts counts;
		draw(seed, i, INT64_C(1) << 31, &nest);
		enum nest_verdict verdict = count_as(COUNTING_EXACT, &nest, &counts, arena);
		assert_true(verdict == NEST_FITS || verdict == NEST_OVERFLOW ||
			    verdict == NEST_SUMS_APART);
		counted += verdict == NEST_FITS;
		if (verdict != NEST_SUMS_APART) /* a fan-out outside all storage splits sums */
			compare(&nest, &counts, verdict,
				arena_format(arena, "seed %" PRIu64 " draw %ld", seed, i), arena);
		arena_release(arena, mark);
	}
	if (draws_are_many(count)) {
		assert_true(counted > count / 2);
		assert_true(counted < count);
	}
}

/* Timeloop lets multipliers of a block keep their operands, and returns sums to all of a group. */
static bool is_as_timeloop(const struct nest_case *nest)
{
	bool as_timeloop = spatial(nest, 0, 0, ~0u) == 1;
	for (int t = 0; t < nest->shape.space_count; t++)
		as_timeloop &= has_products(nest, t);
	return as_timeloop;
}

/* Timeloop's counts, and a read for each word that leaves a level for its parent. */
static void add_drains(const struct nest_case *nest, struct nest_counts *timeloop)
{
	for (int t = 0; t < nest->shape.space_count; t++) {
		int home = nest->hierarchy.level_count - 1;
		while (!is_kept(nest, home, t))
			home--;
		for (int i = 0; i < home && nest->shape.spaces[t].written; i++) {
			struct nest_count *count = &timeloop->at[i][t];
			count->drains = is_kept(nest, i, t) ? naive_drains(nest, i, t) : 0;
			count->reads += count->drains;
		}
	}
}

TEST(timeloop_counts_all_but_drains)
{
	long count = draws(3000), compared = 0;
	uint64_t seed = draws_seed(22);
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct nest_case nest;
		struct nest_counts exact, timeloop;
		draw(seed, i, 0, &nest);
		if (is_as_timeloop(&nest) &&
			count_as(COUNTING_EXACT, &nest, &exact, arena) == NEST_FITS &&
			count_as(COUNTING_TIMELOOP, &nest, &timeloop, arena) == NEST_FITS) {
			add_drains(&nest, &timeloop);
			const char *why = nest_counts_differ(
				arena, &nest, "exact", &exact, "timeloop's and drains", &timeloop);
			if (why)
				fail_msg("seed %" PRIu64 " draw %ld:\n%s%s", seed, i,
					nest_case_text(arena, &nest), why);
			compared++;
		}
		arena_release(arena, mark);
	}
	if (draws_are_many(count))
		assert_true(compared > count / 8);
}
