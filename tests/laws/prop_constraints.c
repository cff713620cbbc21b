#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "tests/support/complaints.h"
#include "tests/support/constraint_case.h"
#include "tests/support/constraint_draw.h"
#include "tests/support/draws.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * Random constraints on the machine of the constraint cases, about a random
 * mapping: true of it mostly.  The checks of the kinds and the narrowed domain
 * know nothing of each other, so both are held against a third opinion below,
 * which tries all orders of the loops.
 */
enum { M, N, K, DIMENSIONS, SPACES = 3, DRAWS = 300, MAPPINGS = 40 };

static const int temporal_rows[] = {0, 1, 3}, spatial_rows[] = {2, 4};

struct draw {
	struct arena *arena;
	struct random *random;
	struct constraint_case test;
};

static uint64_t below(struct draw *draw, uint64_t bound)
{
	return random_below(draw->random, bound);
}

static int64_t divisor(struct draw *draw, int64_t n, int64_t most)
{
	int64_t divisor;
	do
		divisor = 1 + (int64_t)below(draw, (uint64_t)n);
	while (n % divisor || divisor > most);
	return divisor;
}

static void shuffle(struct draw *draw, uint8_t *order)
{
	for (int i = DIMENSIONS - 1; i > 0; i--) {
		int k = (int)below(draw, (uint64_t)i + 1);
		uint8_t kept = order[i];
		order[i] = order[k];
		order[k] = kept;
	}
}

static struct mapping draw_mapping(struct draw *draw)
{
	static const int64_t extents[] = {12, 8, 6};
	struct mapping mapping = constraint_case_mapping(&draw->test, "DRAM: M12 N8 K6");
	int64_t room[5][2] = {{1, 1}, {1, 1}, {4, 2}, {1, 1}, {2, 1}};
	for (int d = 0; d < DIMENSIONS; d++) {
		int64_t left = extents[d];
		for (int i = 0; i < 2; i++) {
			struct mapping_row *row = &mapping.rows[spatial_rows[i]];
			int y = (int)below(draw, 2);
			int64_t *most = &room[spatial_rows[i]][y];
			row->spatial[d] = (uint32_t)divisor(draw, left, *most);
			*most /= row->spatial[d];
			left /= row->spatial[d];
			if (y && row->spatial[d] > 1)
				row->spatial_y |= (uint16_t)(1u << d);
		}
		for (int i = 1; i < 3; i++) {
			struct mapping_row *row = &mapping.rows[temporal_rows[i]];
			row->temporal[d] = (uint32_t)divisor(draw, left, left);
			left /= row->temporal[d];
		}
		mapping.rows[0].temporal[d] = (uint32_t)left;
	}
	for (int r = 0; r < 5; r++) {
		shuffle(draw, mapping.rows[r].spatial_order);
		shuffle(draw, mapping.rows[r].temporal_order);
	}
	for (int t = 0; t < SPACES; t++)
		for (int i = 0; i < 3; i++)
			if (below(draw, 4) == 0)
				mapping.residency[t] &= ~(1u << temporal_rows[i]);
	return mapping;
}

static const char *level_of(const struct draw *draw, int row)
{
	return draw->test.arch.levels[row].name;
}

/* A constraint or two that a mapping keeps, now and then one of another mapping. */
static const char *draw_constraints(struct draw *draw, const struct mapping *mapping)
{
	struct constraint_draw drawing = {
		.random = draw->random, .arch = &draw->test.arch, .shape = draw->test.shape};
	struct text text = text_open(draw->arena);
	int count = 1 + (int)below(draw, 6);
	for (int i = 0; i < count; i++) {
		struct mapping other = draw_mapping(draw);
		constraint_draw_add(&drawing, below(draw, 8) ? mapping : &other, &text);
	}
	return text_read(&text);
}

/* True if an order of all loops is that of the mapping's loops above 1, what a row's domain asks
 * for, and along X up to the split. */
static bool is_order(const struct row_domain *row, const struct mapping_row *loops, bool spatial,
	const uint8_t *order)
{
	int inner = spatial ? row->spatial_inner : row->temporal_inner;
	int outer = spatial ? row->spatial_outer : row->temporal_outer;
	const uint8_t *first = spatial ? row->spatial_order : row->temporal_order;
	const uint8_t *last = spatial ? row->spatial_last : row->temporal_last;
	const uint8_t *given = spatial ? loops->spatial_order : loops->temporal_order;
	const uint32_t *bounds = spatial ? loops->spatial : loops->temporal;
	uint8_t mine[2 * DIMENSIONS];
	int count = 0, at = 0;
	for (int y = 0; y < 2; y++)
		for (int i = 0; i < DIMENSIONS; i++)
			if (bounds[given[i]] > 1 &&
				(spatial ? loops->spatial_y >> given[i] & 1 : 0) == y)
				mine[count++] = given[i];
	for (int i = 0; i < DIMENSIONS; i++) {
		int d = order[i];
		if ((i < inner && first[i] != d) ||
			(i >= DIMENSIONS - outer && last[i - DIMENSIONS + outer] != d))
			return false;
		if (bounds[d] == 1)
			continue;
		if (mine[at++] != d)
			return false;
		if (spatial && row->split >= 0 && (i >= row->split) != (loops->spatial_y >> d & 1))
			return false;
	}
	return true;
}

static bool has_order(const struct row_domain *row, const struct mapping_row *loops, bool spatial)
{
	static const uint8_t orders[][DIMENSIONS] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	for (int i = 0; i < 6; i++)
		if (is_order(row, loops, spatial, orders[i]))
			return true;
	return false;
}

static bool in_bounds(const struct factor_domain *domain, const uint32_t *bounds)
{
	for (int d = 0; d < DIMENSIONS; d++)
		if (bounds[d] < domain[d].least || bounds[d] > domain[d].most)
			return false;
	return true;
}

/* True if every constraint's dataspaces are iterated over, which no bound says. */
static bool iterates(const struct draw *draw, const struct mapping *mapping)
{
	for (size_t i = 0; i < draw->test.constraints.count; i++) {
		const struct constraint *constraint = &draw->test.constraints.at[i];
		if (strcmp(constraint->kind->key, "must_iterate_over_dataspaces") != 0)
			continue;
		const struct mapping_row *row = &mapping->rows[constraint->row];
		const uint32_t *bounds =
			constraint->part == PART_SPATIAL ? row->spatial : row->temporal;
		if (constraint->spaces & ~constraint_draw_iterated(draw->test.shape, bounds))
			return false;
	}
	return true;
}

/* The third opinion. */
static bool belongs(const struct draw *draw, const struct mapping *mapping)
{
	static const double instances[] = {1, 1, 8, 1, 2};
	const struct domain *domain = draw->test.domain;
	int64_t busy = 1;
	for (int r = 0; r < 5; r++) {
		const struct row_domain *row = &domain->rows[r];
		const struct mapping_row *loops = &mapping->rows[r];
		/* the innermost loops have any order */
		if (!in_bounds(row->temporal, loops->temporal) ||
			!in_bounds(row->spatial, loops->spatial) || !has_order(row, loops, true) ||
			(r != 3 && !has_order(row, loops, false)))
			return false;
		for (int t = 0; t < SPACES; t++) {
			bool kept = mapping->residency[t] >> r & 1;
			bool asked = row->keep_by[t] >= 0;
			if (asked && (kept ? row->bypass : row->keep) >> t & 1)
				return false;
		}
		int64_t taken = 1;
		for (int d = 0; d < DIMENSIONS; d++)
			taken *= loops->spatial[d];
		busy *= taken;
		if ((double)taken / instances[r] < row->least_usage)
			return false;
	}
	return iterates(draw, mapping) && (double)busy >= 16 * domain->least_parallelism;
}

static struct draw open_draw(struct random *random)
{
	struct arena *arena = arena_open();
	return (struct draw){.arena = arena, .random = random, .test = constraint_case_open(arena)};
}

/* Loops along X and along Y are no more than there are instances. */
static bool fits(const struct mapping *mapping)
{
	static const int64_t room[2][2] = {{4, 2}, {2, 1}};
	for (int i = 0; i < 2; i++) {
		const struct mapping_row *row = &mapping->rows[spatial_rows[i]];
		int64_t used[2] = {1, 1};
		for (int d = 0; d < DIMENSIONS; d++)
			used[row->spatial_y >> d & 1] *= row->spatial[d];
		if (used[0] > room[i][0] || used[1] > room[i][1])
			return false;
	}
	return true;
}

/* Returns a copy of `mapping` with one row, residency or dimension of another one. */
static struct mapping vary(struct draw *draw, const struct mapping *mapping)
{
	struct mapping varied = *mapping, other = draw_mapping(draw);
	int r = (int)below(draw, 5), d = (int)below(draw, DIMENSIONS);
	switch (below(draw, 3)) {
	case 0:
		varied.residency[below(draw, SPACES)] ^= 1u << temporal_rows[below(draw, 3)];
		break;
	case 1:
		shuffle(draw, varied.rows[r].temporal_order);
		shuffle(draw, varied.rows[r].spatial_order);
		break;
	default:
		for (int i = 0; i < 5; i++) {
			varied.rows[i].temporal[d] = other.rows[i].temporal[d];
			varied.rows[i].spatial[d] = other.rows[i].spatial[d];
			varied.rows[i].spatial_y &= (uint16_t) ~(1u << d);
			varied.rows[i].spatial_y |= other.rows[i].spatial_y & (1u << d);
		}
	}
	return varied;
}

/* Two orders or two splits of one row are refused even where loops of bound 1 would suit both. */
static bool is_about_words(const char *complaints)
{
	return strstr(complaints, "cannot be split both") ||
	       strstr(complaints, "cannot have both the permutation");
}

TEST(checks_are_what_domains_allow)
{
	struct random random = random_open(draws_seed(1), 0);
	long count = draws(DRAWS), kept = 0, broken = 0, clashes = 0;
	for (long i = 0; i < count; i++) {
		struct draw draw = open_draw(&random);
		struct mapping mapping = draw_mapping(&draw);
		const char *yaml = draw_constraints(&draw, &mapping);
		constraint_case_read(&draw.test, yaml);
		const char *complaints = complaints_text(draw.arena, draw.test.diag);
		clashes += !draw.test.good;
		for (int k = 0; k < MAPPINGS; k++) {
			const char *why = constraints_check(
				&draw.test.constraints, draw.test.domain, &mapping, draw.arena);
			if (!why && !draw.test.good && !is_about_words(complaints))
				fail_msg("a clash, and a mapping that keeps all:\n%s%s", yaml,
					complaints);
			if (draw.test.good && belongs(&draw, &mapping) != !why)
				fail_msg("%s, but the domain says otherwise:\n%s",
					why ? why : "it passes", yaml);
			kept += draw.test.good && !why;
			broken += draw.test.good && why;
			struct mapping varied;
			do
				varied = vary(&draw, &mapping);
			while (!fits(&varied));
			mapping = varied;
		}
		arena_close(draw.arena);
	}
	print_message("%ld mappings keep their constraints, %ld break them; %ld sets clash\n", kept,
		broken, clashes);
	if (draws_are_many(count))
		assert_true(kept > count && broken > count && clashes * 100 > count);
}

/* Five loops of one dimension, by row: DRAM, GLB, PE, RF, mac. */
struct chain {
	int64_t least[5], most[5];
};

static bool some_factors(const struct chain *chain, int loop, int64_t left)
{
	if (loop == 5)
		return left == 1;
	for (int64_t factor = chain->least[loop]; factor <= left && factor <= chain->most[loop];
		factor++)
		if (left % factor == 0 && some_factors(chain, loop + 1, left / factor))
			return true;
	return false;
}

/* It is known exactly, before any search, if bounds leave a factorization. */
TEST(one_dimension_is_judged_exactly)
{
	struct random random = random_open(draws_seed(2), 0);
	long count = draws(3000), possible = 0;
	for (long i = 0; i < count; i++) {
		struct draw draw = open_draw(&random);
		struct text text = text_open(draw.arena);
		struct chain chain = {{1, 1, 1, 1, 1}, {12, 12, 4, 12, 2}};
		for (int r = 0; r < 5; r++) {
			int64_t least = 1 + (int64_t)below(&draw, 3);
			int64_t most = least + (int64_t)below(&draw, 5);
			if (below(&draw, 3) == 0 || least > chain.most[r])
				continue;
			chain.least[r] = least;
			chain.most[r] = most < chain.most[r] ? most : chain.most[r];
			text_add(&text,
				"- {target: %s, type: %s, factors: [M>=%" PRId64 ", M<=%" PRId64
				"]}\n",
				level_of(&draw, r), r == 2 || r == 4 ? "spatial" : "temporal",
				least, most);
		}
		constraint_case_read(&draw.test, text.length ? text_read(&text) : "[]");
		bool exists = some_factors(&chain, 0, 12);
		if (exists != draw.test.good)
			fail_msg("%s:\n%s%s", exists ? "there are factors" : "there are none",
				text_read(&text), complaints_text(draw.arena, draw.test.diag));
		possible += exists;
		arena_close(draw.arena);
	}
	if (draws_are_many(count))
		assert_true(possible > 0 && possible < count);
}
