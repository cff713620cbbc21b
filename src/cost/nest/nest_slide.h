#ifndef COST_NEST_SLIDE_H
#define COST_NEST_SLIDE_H

#include "cost/nest/nest_loops.h"

/*
 * Perfect factors, a read-only dataspace with ranks of two or more dimensions: tiles
 * of one level overlap, in time (a window slides) and in space (children whose
 * offsets add up to the same share everything).
 */
enum { NEST_SHIFTS_MOST = 16, NEST_MESH_MOST = 32 };

/* Between neighbours: what one enters the other entered a move step before, as far away. */
struct nest_shift {
	int64_t by[SHAPE_RANKS_MOST];
	int64_t words; /* of one instance, over all steps where it is so */
};

/* Instances side by side in the block above the child. */
struct nest_mesh {
	int loop_count;
	const struct nest_loop *loops;
	int64_t further[NEST_MESH_MOST][SHAPE_RANKS_MOST];
};

struct nest_slide {
	struct nest_passage passage;
	int64_t words; /* that one instance of the child enters, over all steps */
	int64_t links; /* words handed on in one physical block of children, over all steps */
	struct nest_mesh mesh; /* where there may be links */
	int shift_count;
	struct nest_shift shifts[NEST_SHIFTS_MOST]; /* those that save reads */
};

/* May instances of the child hand on to their neighbours? */
bool nest_has_links(const struct nest_passage *passage);

/* `rounds`: by loop, product of the bounds of temporal loops from it outwards. */
void nest_slide_make(const struct nest_passage *passage, const int64_t *rounds, int parent,
	struct nest_slide *slide);

/* Words that groups enter in one instance of a level. */
int64_t nest_slide_groups(const struct nest_slide *slide, int level);

#endif
