#include "cost/nest/nest.h"

#include "base/checked.h"
#include "cost/nest/nest_array.h"
#include "cost/nest/nest_derive.h"
#include "cost/nest/nest_exact.h"
#include "cost/nest/nest_home.h"
#include "cost/nest/nest_loops.h"
#include "cost/nest/nest_quick.h"
#include "cost/nest/nest_timeloop.h"

#include <math.h>

static enum nest_verdict fail(struct nest_score *score, enum nest_verdict verdict, int level,
	int64_t asked, int64_t given)
{
	score->level = level;
	score->asked = asked;
	score->given = given;
	return verdict;
}

/* Words of every tile; NEST_OVERFLOW, NEST_CAPACITY or NEST_UTILIZATION of the innermost level
 * that fails. */
static enum nest_verdict check_tiles(const struct nest_model *model, const struct nest_loops *loops,
	struct nest_counts *counts, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	const struct shape *shape = model->shape;
	enum nest_verdict verdict = NEST_FITS;
	bool fits = true;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t sum = 0;
		for (int t = 0; t < shape->space_count; t++) {
			int64_t words = 0;
			if (loops->kept[i] >> t & 1)
				fits &= nest_words(&shape->spaces[t], shape->dimension_count,
					loops->tile[i], &words);
			counts->at[i][t] = (struct nest_count){.capacity = words};
			sum = checked_add(&fits, sum, words);
		}
		if (verdict != NEST_FITS || (!level->size && !level->no_room))
			continue;
		if (sum > level->size)
			verdict = fail(score, NEST_CAPACITY, i, sum, level->size);
		else if ((double)sum < level->least_utilization * (double)level->size)
			verdict = fail(score, NEST_UTILIZATION, i, sum, level->size);
	}
	return fits ? verdict : NEST_OVERFLOW;
}

/* Multipliers that the mapping keeps busy, against those it must. */
static enum nest_verdict check_parallelism(
	const struct nest_model *model, int64_t multipliers, struct nest_score *score)
{
	if ((double)multipliers >= model->least_busy)
		return NEST_FITS;
	return fail(score, NEST_UTILIZATION, -1, multipliers, (int64_t)ceil(model->least_busy));
}

/* Instances of each block that the mapping takes, against those it must. */
static enum nest_verdict check_usage(
	const struct nest_model *model, const struct mapping *mapping, struct nest_score *score)
{
	for (int i = 0; i < model->hierarchy->level_count; i++) {
		const struct nest_level *level = &model->hierarchy->levels[i];
		int64_t all = level->fanout_x * level->fanout_y, taken = 1;
		if (level->least_usage <= 0)
			continue;
		for (int d = 0; d < model->shape->dimension_count; d++)
			taken *= mapping->rows[level->block_row].spatial[d];
		if ((double)taken / (double)all < level->least_usage)
			return fail(score, NEST_IDLE, i, taken, all);
	}
	return NEST_FITS;
}

/* Compiles, checks and counts one loop after another. */
static enum nest_verdict count_long(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score, bool *exact)
{
	struct nest_loops loops;
	enum nest_verdict verdict = nest_loops_make(model, mapping, &loops, score);
	if (verdict != NEST_FITS)
		return verdict;
	verdict = check_tiles(model, &loops, counts, score);
	if (!model->fits || verdict == NEST_OVERFLOW)
		return NEST_OVERFLOW;
	*exact = model->counting == COUNTING_EXACT || !loops.perfect;
	enum nest_verdict counted =
		*exact ? nest_exact_counts(model, &loops, UINT32_MAX, counts, score)
		       : nest_timeloop_counts(model, &loops, UINT32_MAX, counts, score);
	return counted == NEST_FITS ? verdict : counted;
}

/* The dataspaces that the quick count left. */
static enum nest_verdict count_left(const struct nest_model *model, const struct mapping *mapping,
	uint32_t left, struct nest_counts *counts, struct nest_score *score)
{
	struct nest_loops loops;
	enum nest_verdict verdict = nest_loops_make(model, mapping, &loops, score);
	if (verdict != NEST_FITS)
		return verdict;
	return (model->counting == COUNTING_EXACT ? nest_exact_counts : nest_timeloop_counts)(
		model, &loops, left, counts, score);
}

/* Whether every home is the outermost level of all: what is there needs no look at it. */
static bool homes_outermost(const struct nest_model *model, const struct mapping *mapping)
{
	const struct nest_level *outermost =
		&model->hierarchy->levels[model->hierarchy->level_count - 1];
	bool all = outermost->storage;
	for (int t = 0; t < model->shape->space_count; t++)
		all &= mapping->residency[t] >> outermost->row & 1;
	return all;
}

static enum nest_verdict evaluate(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score)
{
	counts->computes = model->computes;
	struct nest_quick quick;
	bool exact = model->counting == COUNTING_EXACT, priced = false;
	enum nest_verdict verdict;
	if (nest_quick_counts(model, mapping, counts, score, &quick)) {
		verdict = quick.verdict;
		priced = !quick.left;
		if (quick.left) {
			enum nest_verdict rest =
				count_left(model, mapping, quick.left, counts, score);
			verdict = rest == NEST_FITS ? verdict : rest;
		}
	} else {
		verdict = count_long(model, mapping, counts, score, &exact);
	}
	if (!nest_verdict_counts(verdict))
		return verdict;
	if (model->counting == COUNTING_EXACT && !homes_outermost(model, mapping)) {
		verdict = nest_home_check(model->hierarchy, model->shape, mapping, counts, score);
		if (!nest_verdict_counts(verdict))
			return verdict;
	}
	counts->compute_cycles = hierarchy_cycles(model->hierarchy, counts->compute_cycles);
	if (!nest_array_count(model, mapping, counts))
		return NEST_OVERFLOW;
	if (verdict == NEST_FITS)
		verdict = check_parallelism(model, counts->utilized_computes, score);
	if (verdict == NEST_FITS && model->least_usage)
		verdict = check_usage(model, mapping, score);
	enum counting counting = exact ? COUNTING_EXACT : COUNTING_TIMELOOP;
	enum nest_verdict derived =
		priced ? nest_derive_rest(model, counting, counts, quick.waits, score)
		       : nest_derive_counting(model, counting, counts, score);
	return derived == NEST_FITS ? verdict : derived;
}

enum nest_verdict nest_evaluate(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score)
{
	score->level = score->dimension = score->space = -1;
	score->asked = score->given = 0;
	score->verdict = evaluate(model, mapping, counts, score);
	return score->verdict;
}

void nest_derive(
	const struct nest_model *model, const struct nest_counts *counts, struct nest_score *score)
{
	score->level = score->dimension = score->space = -1;
	score->asked = score->given = 0;
	score->verdict = nest_derive_counting(model, model->counting, counts, score);
}
