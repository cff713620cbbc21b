#ifndef PLACE_PACK_SHAPE_H
#define PLACE_PACK_SHAPE_H

#include "base/arena.h"
#include "model/packing/buffer.h"

/*
 * What is packed: shapes.  A shape is a buffer, or buffers of which one takes the other's slot:
 * they lie at one address, and together are a staircase in time.
 *
 * Who takes whose slot is decided outside, by buffer: a parent, nobody's, or left open.  Of one
 * left open the first step is left out, the only one in which it may share bytes.  So shapes with
 * open choices are a relaxation: if they do not fit, no choice does.
 */
enum { TAKES_NOBODYS = -1, TAKES_OPEN = -2 };

struct piece {
	int64_t start, end;
	int64_t height; /* > 0, in units */
	int shape;
};

struct pack_shape {
	size_t piece_first, piece_count; /* by time; together without a gap */
	int64_t height;                  /* the greatest */
	int64_t clear;            /* the same with members that never live: of reserved bytes */
	int64_t align, low, high; /* of its address, in units */
};

struct shapes {
	int culprit;  /* a buffer that can lie nowhere, perhaps because of another; -1: none */
	int64_t unit; /* bytes; addresses, heights and the room are counted in it */
	int64_t room; /* units that a section holds */
	size_t count, piece_count;
	struct pack_shape *at;
	struct piece *pieces;
	const int *of;            /* the shape of each buffer; -1 */
	const int64_t *addresses; /* of buffers in no shape, bytes; UNPLACED: not chosen */
	size_t reserved_count;
	const struct byte_range *reserved; /* by address, apart, in units */
};

/* The shape of the chosen buffers (NULL: all) below this capacity. */
struct shapes pack_shapes(const struct packing *packing, const bool *chosen, int64_t capacity,
	const int *takes, struct arena *arena);

/* Whose slot it is in the end that buffer i takes: the first at which `takes` is negative. */
int pack_head(const int *takes, size_t count, int i);

#endif
