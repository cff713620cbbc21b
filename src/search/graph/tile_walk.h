#ifndef SEARCH_TILE_WALK_H
#define SEARCH_TILE_WALK_H

#include "cost/graph/traffic.h"
#include "search/graph/op_map.h"

/*
 * All streaming tilings of an op's share: every loop's factor divides its units on one core, reduction
 * loops stay innermost, and loops that share a dimension of the output with others stay whole, because
 * their tiles could meet in one stick.
 */
struct tile_vector {
	int64_t tiles[OP_LOOPS_MOST];
	int64_t tile_count, passes;
	size_t rank; /* lexicographic, among those of as many tiles */
};

struct tile_walk {
	struct arena *arena;
	struct traffic_op traffic; /* of the tiles and the order that are set */
	struct divisors factors[OP_LOOPS_MOST];
	uint32_t signature[OP_LOOPS_MOST];
	const struct op_question *question;
	bool constrained; /* constraints of the question have kept some order from being visited */
};

/* The walk must stay where it is, and the question. */
void tile_walk_open(
	struct tile_walk *walk, const struct op_question *question, struct arena *arena);

/* Visits vectors of factors by ascending number of tiles, then passes, then factors; with NULL before
 * the first of each number of tiles.  Ends when a visit says false. */
typedef bool tile_vector_visit(void *context, const struct tile_vector *vector);
void tile_walk_each(struct tile_walk *walk, tile_vector_visit *visit, void *context);

/* Sets factors; NULL: all 1. */
void tile_walk_set(struct tile_walk *walk, const int64_t *tiles);

/* Visits the orders of the factors that are set, the lexicographically least first: of those that differ
 * only by loops that move the same operands, one; where the question has constraints, all that keep
 * them.  Ends when a visit says false. */
typedef bool tile_visit(void *context);
void tile_walk_orders(struct tile_walk *walk, tile_visit *visit, void *context);

#endif
