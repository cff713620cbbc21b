#ifndef LOWER_BROADCAST_H
#define LOWER_BROADCAST_H

#include "lower/transfer/copy_program.h"

/*
 * A broadcast or one of its siblings as the published operation carries it out on its root.  Each
 * chunk is loaded into the next staging tile in turn, and stored from there; a flag of each tile
 * says that it is full, another that it is free again.  At the end the flags are waited for that
 * are still to come.
 *
 *	broadcast     each chunk to rank 0, 1, ..; on the paths of a single tile each store is
 *	              followed by a flag of its own
 *	gather        the chunks of rank 0, then those of rank 1, ..; scatter likewise
 *	reduce        each chunk of the root into the first tile, then those of rank 0, 1, .. without
 *	              the root into the others in turn and onto the first; then it is stored, and the
 *	              next chunk begins.  One rank: as a put to itself
 *
 * With a handshake the ranks that have to do with others carry out something too: after a push
 * they wait and load what came, before a pull they store their block and notify the root.
 *
 * Buffers: the root's, then those of the group by rank, one of a put or get; then, before a
 * pull with a handshake, what the ranks' blocks are stored from.
 */
struct arena;

/* The chunks in the order of the sliding: outer dimensions, then rows, columns innermost.  NULL
 * if there are more than `most`. */
const struct chunk *broadcast_chunks(
	const struct broadcast *broadcast, int64_t most, struct arena *arena, int64_t *count);

/* `order`: which chunk comes when; NULL: as they are numbered.  The broadcast must be legal; NULL
 * where it may have more than `most` instructions. */
const struct copy_program *broadcast_lower(
	const struct broadcast *broadcast, const int64_t *order, int64_t most, struct arena *arena);

#endif
