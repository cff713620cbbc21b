#ifndef COST_NEST_H
#define COST_NEST_H

#include "model/nest/nest_score.h"

/*
 * The loop-nest model in closed form.  A prepared model holds what does not
 * depend on the mapping; evaluating it then costs O(levels * dimensions) for
 * perfect factors, allocates nothing and shares nothing, so that threads may use
 * one model together.  What is counted, and where the two countings differ, is
 * told in specs/counting.md; `timeloop` follows NVlabs/timeloop at 4cf6d4c.
 * Imperfect mappings are always counted exactly: Timeloop's counts are averages
 * cut to integers there.
 */
struct nest_model;

const struct nest_model *nest_model_make(struct arena *arena, const struct hierarchy *hierarchy,
	const struct shape *shape, enum counting counting);

/* All checks, all counts, time and energy.  Counts are valid with the verdicts of
 * nest_verdict_counts. */
enum nest_verdict nest_evaluate(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score);

/* Time and energy of counts that come from elsewhere (a simulator's, an interpreter's). */
void nest_derive(
	const struct nest_model *model, const struct nest_counts *counts, struct nest_score *score);

/* For each dataspace and level how its count comes about: tile, loops above, the run that
 * reuses it, multicast, and the formula with its numbers. */
const char *nest_explain(
	const struct nest_model *model, const struct mapping *mapping, struct arena *arena);

#endif
