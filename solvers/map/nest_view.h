#ifndef MAP_NEST_VIEW_H
#define MAP_NEST_VIEW_H

#include "search/nest_search.h"

/*
 * What the exact search knows before it chooses temporal loops: the machine's storage
 * levels, how dataspaces depend on dimensions, and, for one choice of residency and
 * spatial bounds, instances, prices and the chain of levels that keep a dataspace.
 * Storage levels are numbered from 0, the innermost; boundary j lies above level j.
 */
struct nest_space {
	bool plain; /* ranks of one dimension each, coefficient 1, no dimension twice */
	uint32_t relevant;
	uint32_t
		alone; /* dimensions that move a rank of their own: tiles along them are disjoint */
	uint32_t paired;                /* dimensions of ranks that add some */
	uint32_t own[SHAPE_RANKS_MOST]; /* the rank's dimensions that no earlier rank has */
};

struct nest_frame {
	const struct nest_search *search;
	bool timeloop;
	bool flagged; /* some flag changes who serves whom: only MACs bound the cost then */
	int count;    /* storage levels */
	int level[ARCH_LEVELS_MOST];  /* of the hierarchy */
	int tiling[ARCH_LEVELS_MOST]; /* of the space: its temporal loops */
	struct nest_space spaces[SHAPE_SPACES_MOST];
};

struct nest_frame nest_frame_make(const struct nest_search *search);

struct nest_view {
	const struct nest_frame *frame;
	struct mapping mapping; /* residency and spatial bounds set */
	int64_t temporal[SHAPE_DIMENSIONS_MOST];
	double cycles; /* of compute */
	double multipliers;
	double instances[ARCH_LEVELS_MOST];
	double utilized[ARCH_LEVELS_MOST];         /* by level of the hierarchy */
	double pj[ARCH_LEVELS_MOST][NEST_ACTIONS]; /* per word */
	bool direct;                               /* multipliers keep nothing from step to step */
	/* Bounds of the spatial loops inside a level, by dimension; for tiles, and by dataspace
	 * without the loops that links may make free. */
	double inside[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	double served_inside[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	double served_instances[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST];
	double first[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST]; /* first visits of a written one */
	int chain_count[SHAPE_SPACES_MOST];
	int chain[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST]; /* levels that keep it, outermost first */
};

/* Of a mapping whose residency and spatial bounds are set; the bounds must divide. */
void nest_view_make(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out);

/* Whether the tiles of what a level keeps fit, with `left` temporal iterations inside the
 * boundary above it. */
bool nest_view_fits(const struct nest_view *view, int j, const int64_t *left);

#endif
