#include "base/number.h"
#include "cost/nest/nest_count.h"
#include "cost/nest/nest_home.h"

/*
 * Rounds and rows (specs/counting.md).
 *
 * A level has as many rounds as its instance 0 has tiles, one after the other: the product over the dimensions of the
 * tiles that exist.
 *
 * Reads of a level that go to tiles inside come in rows of the tile's extent in one rank.  A tile moves in
 * whole rows if factors divide and if no loop slides it along that rank: two tiles then have all indices of the
 * rank in common, or none.  Thus rows = reads / extent.
 */

/* Tiles of instance 0 of a level, one after the other; false if they do not fit. */
static bool count_rounds(
	const struct nest_model *model, const struct nest_loops *loops, int level, int64_t *rounds)
{
	*rounds = 1;
	bool fits = true;
	for (int d = 0; d < model->shape->dimension_count; d++) {
		struct nest_digits digits = nest_digits_make(model, loops, d, level);
		uint32_t temporal = 0;
		for (int k = 0; k < digits.count; k++)
			temporal |= (uint32_t)!digits.at[k].spatial << k;
		fits &= number_mul(*rounds, nest_digits_count(&digits, temporal).count, rounds);
	}
	return fits;
}

/* The next level inside that holds a dataspace; -1: the multipliers. */
static int child_of(
	const struct nest_model *model, const struct nest_loops *loops, int level, int space)
{
	int child = level - 1;
	while (child >= 0 && !nest_holds(model, loops, child, space))
		child--;
	return child;
}

/* Words of a row of a child's tile along a rank; 0 if rows have no length of their own. */
static int64_t row_words(const struct nest_model *model, const struct nest_loops *loops, int child,
	int space, int rank)
{
	const struct dataspace *shape = &model->shape->spaces[space];
	if (rank < 0)
		return 1;
	uint32_t dimensions = affine_loops(&shape->ranks[rank]);
	if (!loops->perfect || dimensions & (dimensions - 1))
		return 0;
	for (int r = 0; r < shape->rank_count; r++)
		if (r != rank && affine_loops(&shape->ranks[r]) & dimensions)
			return 0;
	if (!dimensions)
		return 1;
	int d = __builtin_ctz(dimensions);
	return 1 + shape->ranks[rank].coefficient[d] * (loops->tile[child][d] - 1);
}

enum nest_verdict nest_pace_count(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score)
{
	struct nest_loops loops;
	for (int i = 0; i < model->hierarchy->level_count; i++)
		counts->rounds[i] = counts->rows[i] = 0;
	if (model->paced && nest_loops_make(model, mapping, &loops, score) != NEST_FITS)
		return NEST_OVERFLOW;
	for (uint32_t left = model->paced; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		const struct nest_level *level = &model->hierarchy->levels[i];
		if (level->store.round_cycles.num &&
			!count_rounds(model, &loops, i, &counts->rounds[i]))
			return NEST_OVERFLOW;
		for (int t = 0; level->store.row_cycles.num && t < model->shape->space_count; t++) {
			const struct nest_count *count = &counts->at[i][t];
			int child = child_of(model, &loops, i, t);
			if (model->shape->spaces[t].written || child < 0 ||
				!nest_holds(model, &loops, i, t))
				continue;
			int64_t words = row_words(model, &loops, child, t, level->row_rank[t]);
			if (!words) {
				score->space = t;
				score->level = i;
				return NEST_UNCOUNTABLE;
			}
			counts->rows[i] += (count->reads - count->links) / words;
		}
	}
	return NEST_FITS;
}
