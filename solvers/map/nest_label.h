#ifndef MAP_NEST_LABEL_H
#define MAP_NEST_LABEL_H

#include "solvers/map/nest_view.h"

/*
 * What is known of a mapping's cost when the temporal loops outside one boundary are
 * chosen, and a lower bound on the rest.
 *
 * A dataspace's tiles are disjoint along loops over dimensions that have a rank of it
 * to themselves.  So between two iterations of the innermost such loop, `times` of
 * them in all, every word that the loops inside it touch crosses the boundary at least
 * once: prod over ranks (1 + sum (X - 1)) words, X the distinct indices of a dimension.
 * For ranks of one dimension each this is what crosses, exactly; further inwards no
 * fewer words can cross.
 */
struct nest_label {
	int boundary;   /* above this storage level; the outermost at the start */
	bool loose;     /* the order of the loops directly outside is open */
	double outside; /* product of all temporal bounds outside */
	double times[SHAPE_SPACES_MOST];
	double extent[SHAPE_SPACES_MOST][SHAPE_DIMENSIONS_MOST]; /* X of temporal loops */
	/* At boundaries passed, where the level keeps the dataspace: words its parent serves,
	 * words that enter it. */
	double served[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST];
	double filled[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST];
	/* Energy counted by the model of all levels outside level counted_to; -1: none. */
	double counted_pj[SHAPE_SPACES_MOST];
	int counted_to[SHAPE_SPACES_MOST];
};

struct nest_label nest_label_first(const struct nest_view *view);

/* Chooses the bounds of level `boundary`; `left` iterations stay inside.  within[t]: the
 * loops inside the innermost one that moves dataspace t to a disjoint tile; NULL: the best
 * order for each dataspace alone.  *out is a copy of *from, or what an earlier choice made of one. */
void nest_label_enter(const struct nest_view *view, const struct nest_label *from,
	const int64_t *bounds, const int64_t *left, const uint32_t *within, struct nest_label *out);

/* No mapping with these choices costs less: cycles and energy. */
struct score nest_label_bound(const struct nest_view *view, const struct nest_label *label);

#endif
