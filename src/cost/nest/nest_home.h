#ifndef COST_NEST_HOME_H
#define COST_NEST_HOME_H

#include "model/nest/nest_score.h"

/*
 * What exact counting asks of the homes of dataspaces ("Homes" in specs/counting.md): an
 * instance holds every word that comes into its tile at some step, and no two instances end with
 * a part of a sum each, unless a ring joins them.
 */
struct mapping;

/* The level of a dataspace's home; -1 if it has none. */
int nest_home_level(const struct hierarchy *hierarchy, const struct mapping *mapping, int space);

/*
 * Words that the first instance of `level` has in its tile of a dataspace at one step or another:
 * none has more.  They are the union of boxes, one for each step.
 * NEST_FITS; NEST_OVERFLOW; NEST_UNCOUNTABLE: too many boxes that overlap.
 */
enum nest_verdict nest_home_words(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, int space, int level, int64_t *words);

/* Instances of a written dataspace's home that end with a part of the same sum: products of
 * bounds, at most INT64_MAX; 1: none shares one. */
int64_t nest_home_parts(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, int space, int level);

/*
 * Corrects the capacities of homes, and the verdict on what levels hold, of a mapping whose
 * bounds make the extents; tells where it applies in *score.  NEST_FITS, NEST_CAPACITY,
 * NEST_UTILIZATION, NEST_SUMS_APART, NEST_OVERFLOW or NEST_UNCOUNTABLE.
 */
enum nest_verdict nest_home_check(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *counts, struct nest_score *score);

#endif
