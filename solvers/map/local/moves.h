#ifndef MAP_LOCAL_MOVES_H
#define MAP_LOCAL_MOVES_H

#include "base/number.h"
#include "base/tuning.h"
#include "search/nest/space.h"

/* Moves and what all chains share. */
#define LOCAL_OPTIONS(OPTION)                                                                      \
	OPTION(MOVE_TRIES, 1000, 1, 1 << 20, "tries to find a move that changes something")        \
	OPTION(BOUNDS_PERCENT, 60, 0, 100, "moves of a factor, of all that are drawn")             \
	OPTION(SWAPS_PERCENT, 22, 0, 100, "swaps of two loops")                                    \
	OPTION(AXES_PERCENT, 6, 0, 100, "turns of a loop from X to Y; the rest changes residency") \
	OPTION(ANEW_PERCENT, 3, 1, 100,                                                            \
		"steps that draw all bounds of a dimension, so that everything is within reach")   \
	OPTION(EXCHANGES, 2, 1, 1000,                                                              \
		"one factor in this many is exchanged for one of another dimension: tiles keep "   \
		"about their size")                                                                \
	OPTION(START_MENDS, 100, 0, 1 << 20,                                                       \
		"factors pushed outwards before another start is drawn")                           \
	OPTION(START_DRAWS, 20, 0, 1 << 20, "starts drawn before the known start is taken")

OPTIONS(LOCAL_OPTIONS)

#define ANNEAL_OPTIONS(OPTION)                                                                     \
	OPTION(WARM_PERMILLE, 500, 1, 100000,                                                      \
		"first temperature: a mapping e^0.5 times as bad is taken in one case of e")       \
	OPTION(COLD_PERMILLE, 2, 1, 100000, "last temperature: the same of one 0.2 % worse")       \
	OPTION(STILL_MOVES, 300, 1, 1 << 30, "moves without a change before the chain starts again")

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
		      [NUMBER_PRIMES_MOST];    /* that divide the extent; 2 and 3 if imperfect */
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
