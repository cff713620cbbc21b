#include "cost/nest.h"

#include "base/arena.h"
#include "cost/checked.h"
#include "cost/nest_derive.h"
#include "cost/nest_exact.h"
#include "cost/nest_loops.h"
#include "cost/nest_timeloop.h"

const struct nest_model *nest_model_make(struct arena *arena, const struct hierarchy *hierarchy,
	const struct shape *shape, enum counting counting)
{
	struct nest_model *model = arena_new(arena, struct nest_model);
	model->hierarchy = hierarchy;
	model->shape = shape;
	model->counting = counting;
	model->fits = shape_computes(shape, &model->computes);
	return model;
}

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
		if (verdict != NEST_FITS || !level->size)
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
	const struct nest_model *model, const struct nest_loops *loops, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	int64_t all = hierarchy->compute_mesh_x * hierarchy->compute_mesh_y;
	if ((double)loops->multipliers >= hierarchy->least_parallelism * (double)all)
		return NEST_FITS;
	return fail(score, NEST_UTILIZATION, -1, loops->multipliers, all);
}

static enum nest_verdict evaluate(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score)
{
	struct nest_loops loops;
	enum nest_verdict verdict = nest_loops_make(model, mapping, &loops, score);
	if (verdict != NEST_FITS)
		return verdict;
	verdict = check_tiles(model, &loops, counts, score);
	if (!model->fits || verdict == NEST_OVERFLOW)
		return NEST_OVERFLOW;
	if (verdict == NEST_FITS)
		verdict = check_parallelism(model, &loops, score);
	counts->computes = model->computes;
	bool exact = model->counting == COUNTING_EXACT || !loops.perfect;
	enum nest_verdict counted =
		(exact ? nest_exact_counts : nest_timeloop_counts)(model, &loops, counts, score);
	if (counted != NEST_FITS)
		return counted;
	enum nest_verdict derived = nest_derive_counting(
		model, exact ? COUNTING_EXACT : COUNTING_TIMELOOP, counts, score);
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
