#ifndef MAP_LOCAL_MOVES_H
#define MAP_LOCAL_MOVES_H

#include "search/nest/space.h"

/*
 * Small steps from a mapping of a space to another one of it.  The outcome of every step is in the space.  Bounds
 * are mended to ones of the domain that make up the extent, orders and splits to the nearest ones that it allows.
 *
 *	bound  a loop gets another bound, and one loop of the same dimension makes up for it;
 *	swap   two loops change places in the order of a tiling level;
 *	axis   a loop of a fan-out turns from X to Y, or back;
 *	keep   a level keeps a dataspace that it passed by, or the reverse
 */
enum map_move_kind { MAP_MOVE_BOUND, MAP_MOVE_SWAP, MAP_MOVE_AXIS, MAP_MOVE_KEEP };

struct map_move {
	enum map_move_kind kind;
	int dimension, other; /* of the loop; of the one it changes places with */
	int level, from;      /* of space->levels: where; the loop that makes up for it */
	int64_t bound;        /* new */
	bool ahead; /* a loop that had bound 1 becomes the innermost, or runs along X; else the
		     * outermost, or along Y */
	int bit;    /* of space->free */
};

struct map_moves {
	const struct space *space;
	int prime_count[SHAPE_DIMENSIONS_MOST];
	int64_t primes[SHAPE_DIMENSIONS_MOST]
		      [16];                    /* that divide the extent; 2 and 3 if imperfect */
	int loop_count[SHAPE_DIMENSIONS_MOST]; /* loops whose bound is not given: */
	uint8_t loops[SHAPE_DIMENSIONS_MOST][FACTORS_LOOPS_MOST]; /* where, of space->levels */
	int free_count;                                           /* dimensions with such loops: */
	uint8_t free[SHAPE_DIMENSIONS_MOST];
};

/* The space must have factors. */
struct map_moves map_moves_make(const struct space *space);

/* The bounds of a dimension at space->levels. */
void map_moves_bounds(
	const struct map_moves *moves, const struct mapping *mapping, int d, int64_t *bounds);

/* A prime of the dimension's that divides a bound above 1; 2 or 3 where factors need not divide. */
int64_t map_moves_prime(const struct map_moves *moves, struct random *random, int d, int64_t bound);

/* The mapping of the space that comes nearest to one of the same machine and shape. */
struct mapping map_moves_adopt(const struct map_moves *moves, const struct mapping *mapping);

/* False if nothing came of it. */
bool map_move(const struct map_moves *moves, const struct map_move *move, struct mapping *mapping);

/* Makes any move; at times it draws all bounds of a dimension, so that every factorization is within reach.
 * False if none of many tries led anywhere. */
bool map_moves_step(const struct map_moves *moves, struct random *random, struct mapping *mapping);

#endif
