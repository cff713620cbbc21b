#ifndef LOWER_BROADCAST_H
#define LOWER_BROADCAST_H

#include "lower/copy_program.h"

/*
 * A broadcast as the published operation carries it out on its root.  Each chunk is loaded into
 * the next staging tile in turn, and stored from there to rank 0, 1, ..; a flag of each tile says
 * that it is full, another that it is free again.  At the end the flags are waited for that are
 * still to come.  On the paths of a single tile each store is followed by a flag of its own.
 */
struct arena;

/* The chunks in the order of the sliding: outer dimensions, then rows, columns innermost.  NULL
 * if there are more than `most`. */
const struct chunk *broadcast_chunks(
	const struct broadcast *broadcast, int64_t most, struct arena *arena, int64_t *count);

/* `order`: which chunk comes when; NULL: as they are numbered.  The broadcast must be legal; NULL
 * for more than `most` chunks. */
const struct copy_program *broadcast_lower(
	const struct broadcast *broadcast, const int64_t *order, int64_t most, struct arena *arena);

#endif
