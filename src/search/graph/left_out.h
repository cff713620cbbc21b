#ifndef SEARCH_LEFT_OUT_H
#define SEARCH_LEFT_OUT_H

#include "search/drive/frontier.h"
#include "search/graph/op_map.h"

/*
 * Scores that no plan left out of a search is better than in all values, where plans of a single op are
 * bounded and not all made: a nest of a tile that is worse in cycles and in energy may still move less
 * in the scratchpad (search/graph/op_map.h).
 */
struct left_out {
	size_t count, capacity;
	struct score *at;
};

/* Those of a front of tiles, given the score of a plan with one of its options. */
void left_out_add(struct left_out *list, const struct op_front *front,
	const struct op_option *option, const struct score *score, struct arena *arena);

/* What they prove of a frontier.  It is complete if each of them is beaten by a point; else a point's
 * bound is the least first objective of those that are no worse than it in the others. */
struct explored;
void left_out_note(const struct left_out *list, struct explored *explored);

#endif
