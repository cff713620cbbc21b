#ifndef COST_NEST_TIMELOOP_BLOCK_H
#define COST_NEST_TIMELOOP_BLOCK_H

#include "cost/nest/nest_timeloop_moves.h"

/*
 * What one instance of a level serves to the block below it, as Timeloop
 * records it: accesses by (m, s), where s groups of m children each take the
 * identical words at the same time.  Sums run in the order of m, then s, so that
 * they round as Timeloop's do.
 *
 * Hops are Manhattan distances: words enter the physical block at x = 0, half way
 * along Y, go along X to the farthest column of a group, and from that line up
 * and down the columns, each to the group's farthest child there.  Children stand
 * in rows, in the order of their numbers.
 */
enum { NEST_SERVED_MOST = 128 };

struct nest_served {
	int count;
	struct {
		int64_t children, groups; /* m, s */
		double words;
		double hops; /* of a word to all m children, on average */
	} at[NEST_SERVED_MOST];
	double links; /* words that children hand to neighbours */
};

double nest_served_words(const struct nest_served *served);
double nest_served_delivered(const struct nest_served *served);

/*
 * Children of one block: each takes the same box, moved by its place.  A child
 * takes its words from a neighbour (4 of them, no wrap-around) that got the
 * identical words one advance earlier, but only if the level then serves fewer
 * words.  `shares`: identical words are served once; `links`: neighbours hand on.  False when
 * places do not fit an int64_t.  Allocates for blocks of more than 2048 children.
 */
bool nest_block_serve(const struct nest_model *model, const struct nest_loops *loops,
	const struct dataspace *space, int block, const struct timeloop_moves *moves, bool shares,
	bool links, struct nest_served *out);

#endif
