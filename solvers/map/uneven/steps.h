#ifndef MAP_UNEVEN_STEPS_H
#define MAP_UNEVEN_STEPS_H

#include "solvers/map/uneven/view.h"

/*
 * Which rests a level can leave, dimension by dimension, when the levels outside are chosen: all
 * divisors of what is left to it; for an open dimension whatever makes the extent up.  All of
 * those that have the same number of rounds outside count: the smallest is mostly the best, but a
 * larger one leaves a shorter last round, in which a tile may stay where it is.
 */

/* Moves *least up and *most down to such rests; false if there is none between them.  `first` as
 * in struct uneven_part: -1 asks for bounds of 1, and for a dimension's own number for more. */
bool uneven_steps_clip(const struct uneven_view *view, const struct uneven_part *part, int d,
	int first, int64_t *least, int64_t *most);

/* The bounds that part->least leaves to part->level, whose rests they become; what is open inside. */
void uneven_steps_choose(const struct uneven_view *view, struct uneven_part *part);

#endif
