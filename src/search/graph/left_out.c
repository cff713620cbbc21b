#include "search/graph/left_out.h"

#include "base/arena.h"
#include "base/array.h"
#include "search/drive/drive.h"

#include <math.h>

/* Sums of doubles differ by less. */
static const double ROUNDING = 1e-12;

void left_out_add(struct left_out *list, const struct op_front *front,
	const struct op_option *option, const struct score *score, struct arena *arena)
{
	for (size_t i = 0; i < front->least_count; i++) {
		const struct op_value *value = &front->least[i];
		struct score least = *score;
		least.cycles += value->cycles - option->value.cycles;
		least.estimate_cycles += value->estimate - option->value.estimate;
		least.energy_pj += value->energy_pj - option->value.energy_pj;
		least.hbm_bytes += value->hbm_bytes - option->value.hbm_bytes;
		*array_add(arena, list) = least;
	}
}

/* True if one is no worse than the other in all objectives from the k-th on. */
static bool is_no_worse(const struct objectives *objectives, size_t k, const struct score *one,
	const struct score *other)
{
	for (; k < objectives->count; k++)
		if (objective_value(objectives->at[k], one) >
			objective_value(objectives->at[k], other) * (1 + ROUNDING))
			return false;
	return true;
}

static bool is_covered(const struct frontier *frontier, const struct score *score)
{
	for (size_t i = 0; i < frontier->count; i++)
		if (is_no_worse(&frontier->objectives, 0, &frontier->points[i].score, score))
			return true;
	return false;
}

static void note_point(
	const struct left_out *list, const struct objectives *objectives, const struct point *point)
{
	struct found *found = point->payload;
	double value = objective_value(objectives->at[0], &point->score);
	found->bound = value;
	for (size_t i = 0; i < list->count; i++)
		if (is_no_worse(objectives, 1, &list->at[i], &point->score))
			found->bound = fmin(
				found->bound, objective_value(objectives->at[0], &list->at[i]));
	found->gap = value - found->bound;
	found->proof = found->gap > value * ROUNDING ? PROOF_BOUND : PROOF_OPTIMAL;
}

static double least_of(
	const struct left_out *list, const struct frontier *frontier, enum objective objective)
{
	double least = INFINITY;
	for (size_t i = 0; i < frontier->count; i++)
		least = fmin(least, objective_value(objective, &frontier->points[i].score));
	for (size_t i = 0; i < list->count; i++)
		least = fmin(least, objective_value(objective, &list->at[i]));
	return least;
}

void left_out_note(const struct left_out *list, struct explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	size_t covered = 0;
	while (covered < list->count && is_covered(frontier, &list->at[covered]))
		covered++;
	if (covered == list->count)
		return;
	explored->complete = false;
	for (size_t k = 0; k < frontier->objectives.count; k++)
		explored->bounds[k] = least_of(list, frontier, frontier->objectives.at[k]);
	for (size_t i = 0; i < frontier->count; i++)
		note_point(list, &frontier->objectives, &frontier->points[i]);
}
