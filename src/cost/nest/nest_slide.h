#ifndef COST_NEST_NEST_SLIDE_H
#define COST_NEST_NEST_SLIDE_H

#include "cost/nest/nest_home.h"

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

/*
 * Imperfect factors, a read-only dataspace with ranks of two or more dimensions.
 * Children are looked at one by one, those alone that may share with each other; steps,
 * and places that do not share, in the few contexts that are different (see
 * cost/nest/nest_contexts.h).  So the time does not depend on the extents, but on the children that
 * slide or that may be without work, and grows with the imperfect dimensions.
 */
enum { NEST_CHILDREN_MOST = 1024, NEST_LOOKS_MOST = 1 << 21 };

struct nest_windows {
	int64_t entering; /* words that all instances of the child enter */
	int64_t groups;   /* words that groups enter, over all instances of the level */
	int64_t links;    /* words handed on */
};

/* Children in one instance of a level; `links`: they may hand on. */
struct nest_windows nest_windows_count(const struct nest_passage *passage, int level, bool links);

#endif
