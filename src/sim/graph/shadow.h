#ifndef SIM_SHADOW_H
#define SIM_SHADOW_H

#include "sim/graph/fault.h"
#include "sim/graph/race.h"

/*
 * What every stick of every memory holds, and who wrote and read it.  Memories
 * begin unwritten, but that HBM holds the graph's inputs, as far as the rank has them.
 */
struct arena;
struct shadow;

/*
 * What lies in a place: a stick of a tensor; or one of the pieces of its
 * accumulator, with a fingerprint of the part of the reduction that is in it.
 */
struct content {
	int tensor;
	int piece; /* 0: the stick itself; 1, 2, ..: of the accumulator */
	int64_t stick;
	uint64_t part; /* of an accumulator; 0 for sticks */
};

struct shadow *shadow_open(const struct program *program, int rank, struct race *race,
	struct faults *faults, struct arena *arena);

/* Accesses by the current instruction of the race, inside the memory and aligned. */

/*
 * False after a fault, when something else lies there than a stick or a piece of
 * its tensor, or when it was left there before step `since`.
 */
bool shadow_read(struct shadow *shadow, int core, int64_t address, int since,
	const struct content *expected, uint64_t *part);
void shadow_write(struct shadow *shadow, int core, int64_t address, const struct content *content);

/* The stick in place of it: tensor -1 if none was ever written. */
struct content shadow_find(struct shadow *shadow, int core, int64_t address);

#endif
