#ifndef SIM_NEST_HOMES_H
#define SIM_NEST_HOMES_H

#include "sim/nest/nest_run.h"

/*
 * What the homes of dataspaces hold: before the run the words that their first instance needs,
 * found by marking them tile after tile; after it the instances that have a part of one sum.
 */

/* The loops of one dimension as seen from a level: indices in its tile, and what temporal loops
 * outside add, those of other instances being 0. */
struct nest_reach {
	int64_t tile, extent;
	int count;
	int64_t bound[ARCH_LEVELS_MOST], stride[ARCH_LEVELS_MOST];
};

/* Distinct words of all tiles that the loops make of a dataspace.  NEST_FITS; NEST_UNCOUNTABLE:
 * too many to mark. */
enum nest_verdict nest_homes_mark(
	const struct shape *shape, int space, const struct nest_reach *reaches, int64_t *words);

/* What the look at a written home of several instances takes. */
double nest_homes_bytes(const struct nest_run *run, const struct nest_store *home);

/* After the last drain: whether two instances of a home that no ring joins have a part of the
 * same sum. */
bool nest_homes_apart(struct nest_run *run);

#endif
