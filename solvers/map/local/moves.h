#ifndef MAP_LOCAL_MOVES_H
#define MAP_LOCAL_MOVES_H

#include "search/nest/space.h"

/*
 * Small steps from a mapping of a space to another one of it.  Whatever is asked, the outcome is in
 * the space: bounds are mended to ones of the domain that make up the extent, orders and splits
 * to the nearest ones that it allows.
 *
 *	bound  a loop gets another bound, and one loop of the same dimension makes up for it
 *	swap   two loops change places in the order of a tiling level
 *	axis   a loop of a fan-out turns from X to Y, or back
 *	keep   a level keeps a dataspace that it passed by, or the reverse
 */
enum nest_move_kind { NEST_MOVE_BOUND, NEST_MOVE_SWAP, NEST_MOVE_AXIS, NEST_MOVE_KEEP };

struct nest_move {
	enum nest_move_kind kind;
	int dimension, other; /* of the loop; of the one it changes places with */
	int level, from;      /* of space->levels: where; the loop that makes up for it */
	int64_t bound;        /* new */
	bool ahead; /* a loop that had bound 1 becomes the innermost, or runs along X; else the
		     * outermost, or along Y */
	int bit;    /* of space->free */
};

struct nest_moves {
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
struct nest_moves nest_moves_make(const struct space *space);

/* The bounds of a dimension at space->levels. */
void nest_moves_bounds(
	const struct nest_moves *moves, const struct mapping *mapping, int d, int64_t *bounds);

/* A prime of the dimension's that divides a bound above 1; 2 or 3 where factors need not divide. */
int64_t nest_moves_prime(
	const struct nest_moves *moves, struct random *random, int d, int64_t bound);

/* Bounds of a dimension, each 1 or more, to the nearest of the domain, those further in first. */
void nest_moves_mend(const struct nest_moves *moves, int d, int64_t *bounds);

/* The mapping of the space that comes nearest to one of the same machine and shape. */
struct mapping nest_moves_adopt(const struct nest_moves *moves, const struct mapping *mapping);

/* The order and axes of a tiling level, as a wish: nest_moves_adopt makes the mapping one of the
 * space again. */
void nest_moves_copy_order(
	const struct nest_moves *moves, int level, const struct mapping *from, struct mapping *to);

/* False if nothing came of it. */
bool nest_move(
	const struct nest_moves *moves, const struct nest_move *move, struct mapping *mapping);

/* Any move; at times all bounds of a dimension anew, so that every factorization is within reach.
 * False if none of many tries led anywhere. */
bool nest_moves_step(
	const struct nest_moves *moves, struct random *random, struct mapping *mapping);

/* All moves from a mapping that change one prime factor or one place, *count of them. */
struct nest_move *nest_moves_list(const struct nest_moves *moves, const struct mapping *mapping,
	struct arena *arena, size_t *count);

#endif
