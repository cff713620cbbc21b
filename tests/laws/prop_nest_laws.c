#include "base/arena.h"
#include "base/number.h"
#include "base/wide.h"
#include "cost/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_compare.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * Laws of the exact counts that need no execution: they hold for nests as long as an int64_t can
 * count.
 */
typedef const char *law(const struct nest_case *nest, const struct nest_counts *counts,
	struct random *random, struct arena *arena);

/* Tries a law on many grown nests that the model counts. */
static void try_law(const char *name, const struct nest_case_options *options, uint64_t seed,
	int64_t extent_most, law *holds)
{
	long count = draws(1500), counted = 0;
	struct arena *arena = arena_open();
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		struct nest_counts counts;
		nest_case_draw(&random, options, &nest);
		nest_case_grow(&random, extent_most, &nest);
		assert_true(nest_case_fits(&nest));
		if (nest_model_counts(&nest, &counts)) {
			counted++;
			const char *why = holds(&nest, &counts, &random, arena);
			if (why)
				fail_msg("%s, seed %" PRIu64 " draw %ld:\n%s%s", name, seed, i,
					nest_case_text(arena, &nest), why);
		}
		arena_release(arena, mark);
	}
	if (draws_are_many(count))
		assert_true(counted > count / 4);
	arena_close(arena);
}

static bool is_home(const struct nest_case *nest, int level, int t)
{
	uint32_t kept = nest->mapping.residency[t];
	for (int i = level + 1; i < nest->hierarchy.level_count; i++)
		if (kept >> nest->hierarchy.levels[i].row & 1)
			return false;
	return kept >> nest->hierarchy.levels[level].row & 1;
}

/* The next level outwards that holds t; -1 if there is none. */
static int parent_of(const struct nest_case *nest, int level, int t)
{
	for (int i = level + 1; i < nest->hierarchy.level_count; i++)
		if (nest->mapping.residency[t] >> nest->hierarchy.levels[i].row & 1)
			return i;
	return -1;
}

static bool is_kept(const struct nest_case *nest, int level, int t)
{
	return nest->mapping.residency[t] >> nest->hierarchy.levels[level].row & 1;
}

static const char *say(struct arena *arena, const struct nest_case *nest, int level, int t,
	const char *what, int64_t a, int64_t b)
{
	return arena_format(arena, "%s %s: %s: %" PRId64 ", %" PRId64 "\n",
		nest->hierarchy.levels[level].name, nest->shape.spaces[t].name, what, a, b);
}

/* Elements that the multiply-adds surely use: ranks of dimensions of their own. */
static int64_t least_words(const struct nest_case *nest, int t)
{
	const struct dataspace *space = &nest->shape.spaces[t];
	uint32_t seen = 0;
	int64_t words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t most = 1;
		for (int d = 0; d < nest->shape.dimension_count; d++) {
			if (space->ranks[r].coefficient[d] == 0 || seen >> d & 1)
				continue;
			seen |= 1u << d;
			most = number_max(most, nest->shape.dimensions[d].extent);
		}
		if (!number_mul(words, most, &words))
			return 0;
	}
	return words;
}

/* Every word that is used comes to every level at least once, and every result leaves it. */
static const char *everything_comes(const struct nest_case *nest, const struct nest_counts *counts,
	struct random *random, struct arena *arena)
{
	for (int t = 0; t < nest->shape.space_count; t++) {
		int64_t least = least_words(nest, t);
		bool written = nest->shape.spaces[t].written;
		for (int i = 0; i < nest->hierarchy.level_count; i++) {
			const struct nest_count *at = &counts->at[i][t];
			if (!is_kept(nest, i, t))
				continue;
			if (written ? at->updates < least
				    : !is_home(nest, i, t) && at->fills < least)
				return say(arena, nest, i, t, "fewer words than there are",
					written ? at->updates : at->fills, least);
			if (!written && at->reads < least)
				return say(arena, nest, i, t, "not every word is read", at->reads,
					least);
			if (at->reads < 0 || at->fills < 0 || at->updates < 0 || at->links < 0 ||
				at->drains < 0)
				return say(
					arena, nest, i, t, "below nothing", at->reads, at->fills);
		}
	}
	return NULL;
}

/* Words that a level gets from its parent were read there, at most once for each fill; sums as
 * often. */
static const char *fills_were_read(const struct nest_case *nest, const struct nest_counts *counts,
	struct random *random, struct arena *arena)
{
	for (int t = 0; t < nest->shape.space_count; t++) {
		bool written = nest->shape.spaces[t].written;
		for (int i = 0; i < nest->hierarchy.level_count; i++) {
			int p = parent_of(nest, i, t);
			if (!is_kept(nest, i, t) || p < 0)
				continue;
			const struct nest_count *child = &counts->at[i][t],
						*from = &counts->at[p][t];
			int64_t served = from->reads - from->links - from->drains;
			int64_t got = child->fills - child->links;
			if (written ? served != got : served > got || (got > 0 && served <= 0))
				return say(arena, nest, i, t, "read at the parent, filled", served,
					got);
		}
	}
	return NULL;
}

/* A sum that comes to a level, from inside or outside, leaves it by a read, but for those that end at
 * the home. */
static const char *sums_leave(const struct nest_case *nest, const struct nest_counts *counts,
	struct random *random, struct arena *arena)
{
	for (int t = 0; t < nest->shape.space_count; t++) {
		for (int i = 0; i < nest->hierarchy.level_count; i++) {
			const struct nest_count *at = &counts->at[i][t];
			bool reads_first = nest->hierarchy.levels[i].rmw_first_update >> t & 1;
			int64_t came = at->fills + at->updates;
			if (!nest->shape.spaces[t].written || !is_kept(nest, i, t))
				continue;
			int64_t least = is_home(nest, i, t) ? 0 : came;
			if (at->reads < least || (at->reads > came && !reads_first) ||
				at->drains > at->reads)
				return say(arena, nest, i, t, "read, came", at->reads, came);
		}
	}
	return NULL;
}

/* Reads for the level below, and updates, are no fewer when nothing is shared in space. */
static const char *sharing_saves(const struct nest_case *nest, const struct nest_counts *counts,
	struct random *random, struct arena *arena)
{
	struct nest_case alone = *nest;
	struct nest_counts more;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		alone.hierarchy.levels[i].no_spatial_reuse = 0xff;
	if (!nest_model_counts(&alone, &more))
		return NULL;
	for (int t = 0; t < nest->shape.space_count; t++) {
		int innermost = -1;
		for (int i = nest->hierarchy.level_count - 1; i >= 0; i--) {
			const struct nest_count *a = &counts->at[i][t], *b = &more.at[i][t];
			if (is_kept(nest, i, t))
				innermost = i;
			if (a->reads - a->links > b->reads)
				return say(arena, nest, i, t, "reads shared, alone",
					a->reads - a->links, b->reads);
			if (a->updates > b->updates)
				return say(arena, nest, i, t, "updates shared, alone", a->updates,
					b->updates);
			if (!nest->shape.spaces[t].written && a->fills != b->fills)
				return say(arena, nest, i, t, "fills shared, alone", a->fills,
					b->fills);
		}
		const struct nest_count *at = &more.at[innermost][t];
		bool written = nest->shape.spaces[t].written;
		if ((written ? at->updates : at->reads) != more.computes)
			return say(arena, nest, innermost, t, "one for each multiply-add",
				written ? at->updates : at->reads, more.computes);
	}
	return NULL;
}

static const char *differ_in_space(const struct nest_case *nest, const struct nest_counts *a,
	const struct nest_counts *b, int t, struct arena *arena)
{
	struct nest_counts x = *a, y = *b;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		for (int other = 0; other < nest->shape.space_count; other++)
			if (other != t)
				x.at[i][other] = y.at[i][other] = (struct nest_count){0};
	return nest_counts_differ(arena, nest, "before", &x, "after", &y);
}

/* The levels that keep one dataspace do not change the counts of the others. */
static const char *spaces_are_apart(const struct nest_case *nest, const struct nest_counts *counts,
	struct random *random, struct arena *arena)
{
	struct nest_case other = *nest;
	struct nest_counts changed;
	int moved = (int)random_below(random, (uint64_t)nest->shape.space_count);
	uint32_t *kept = &other.mapping.residency[moved], drawn = (uint32_t)random_next(random);
	*kept = *kept & drawn ? *kept & drawn : *kept;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		other.hierarchy.levels[i].no_link_transfer ^= (uint8_t)(1 << moved);
	if (!nest_model_counts(&other, &changed))
		return NULL;
	for (int t = 0; t < nest->shape.space_count; t++) {
		const char *why =
			t == moved ? NULL : differ_in_space(nest, counts, &changed, t, arena);
		if (why)
			return why;
	}
	return NULL;
}

static void swap(uint8_t *a, uint8_t *b)
{
	uint8_t kept = *a;
	*a = *b;
	*b = kept;
}

/* Two loops side by side in one row, none of them a dataspace's: their order is nothing to it. */
static const char *irrelevant_loops_commute(const struct nest_case *nest,
	const struct nest_counts *counts, struct random *random, struct arena *arena)
{
	struct nest_case other = *nest;
	struct nest_counts changed;
	int dimensions = nest->shape.dimension_count;
	if (dimensions < 2)
		return NULL;
	struct mapping_row *row =
		&other.mapping.rows[random_below(random, nest->mapping.level_count)];
	int k = (int)random_below(random, (uint64_t)dimensions - 1);
	uint8_t *order = row->temporal_order + k;
	swap(order, order + 1);
	uint32_t both = 1u << order[0] | 1u << order[1];
	if (!nest_model_counts(&other, &changed))
		return NULL; /* others may move too much now */
	for (int t = 0; t < nest->shape.space_count; t++) {
		const char *why = nest->shape.spaces[t].relevant & both
					  ? NULL
					  : differ_in_space(nest, counts, &changed, t, arena);
		if (why)
			return why;
	}
	return NULL;
}

/* Loops of one iteration may stand anywhere, along X or Y. */
static const char *single_iterations_are_nothing(const struct nest_case *nest,
	const struct nest_counts *counts, struct random *random, struct arena *arena)
{
	struct nest_case other = *nest;
	struct nest_counts changed;
	int dimensions = nest->shape.dimension_count;
	for (int r = 0; r < nest->mapping.level_count; r++) {
		struct mapping_row *row = &other.mapping.rows[r];
		for (int k = 0; k + 1 < dimensions; k++) {
			uint8_t *t = row->temporal_order + k, *s = row->spatial_order + k;
			if (random_below(random, 2) &&
				(row->temporal[t[0]] == 1 || row->temporal[t[1]] == 1))
				swap(t, t + 1);
			if (random_below(random, 2) &&
				(row->spatial[s[0]] == 1 || row->spatial[s[1]] == 1))
				swap(s, s + 1);
		}
		for (int d = 0; d < dimensions; d++)
			if (row->spatial[d] == 1)
				row->spatial_y ^= (uint16_t)(random_below(random, 2) << d);
	}
	if (!nest_model_counts(&other, &changed))
		return "refused with loops of one iteration elsewhere\n";
	return nest_counts_differ(arena, nest, "before", counts, "after", &changed);
}

static const struct nest_case_options plain = {
	.bypass = true, .spatial = true, .sliding = true, .steps_most = 400};
static const struct nest_case_options perfect = {
	.bypass = true, .spatial = true, .sliding = true, .flags = true, .steps_most = 400};
static const int64_t longest = INT64_C(1) << 31;

TEST(every_word_comes)
{
	try_law("every word comes", &nest_case_all, draws_seed(11), longest, everything_comes);
}

TEST(every_fill_was_read)
{
	struct nest_case_options options = plain;
	options.imperfect = true;
	try_law("every fill was read", &options, draws_seed(12), longest, fills_were_read);
}

TEST(every_sum_leaves)
{
	try_law("every sum leaves", &nest_case_all, draws_seed(17), longest, sums_leave);
}

TEST(sharing_in_space_saves)
{
	struct nest_case_options options = plain;
	options.imperfect = true;
	try_law("sharing in space saves", &options, draws_seed(13), longest, sharing_saves);
}

TEST(dataspaces_are_counted_apart)
{
	try_law("dataspaces are counted apart", &nest_case_all, draws_seed(14), longest,
		spaces_are_apart);
}

TEST(loops_of_no_dataspace_commute)
{
	try_law("loops of others commute", &perfect, draws_seed(15), longest,
		irrelevant_loops_commute);
}

TEST(loops_of_one_iteration_are_nothing)
{
	try_law("loops of one iteration are nothing", &nest_case_all, draws_seed(16), longest,
		single_iterations_are_nothing);
}
