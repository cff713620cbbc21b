#ifndef MAP_EXACT_CHILDREN_H
#define MAP_EXACT_CHILDREN_H

#include "base/array.h"
#include "solvers/map/exact/descent.h"

/*
 * The ways to go on from a label (descent.h): sets of loops, classes of their orders and
 * bounds of one level, as far as nothing found excludes them.
 */

/* A way to go on from a label. */
struct level_child {
	double value; /* bound of the first objective */
	const struct order_class *class;
	uint16_t option[SHAPE_DIMENSIONS_MOST];
};

/* One level below a label, while its children are looked for. */
struct level_children {
	int j;
	const struct nest_label *label;
	struct level_factor_list options[SHAPE_DIMENSIONS_MOST];
	uint8_t first_busy[SHAPE_DIMENSIONS_MOST]; /* its least option above 1 */
	int64_t bounds[SHAPE_DIMENSIONS_MOST], left[SHAPE_DIMENSIONS_MOST];
	int64_t least_left[SHAPE_DIMENSIONS_MOST]; /* of what is not chosen yet */
	uint16_t option[SHAPE_DIMENSIONS_MOST];
	const struct order_class *class;
	struct array(struct level_child) children;
};

/* Fills level->children; level->j and ->label are given.  `left`: what all dimensions still have,
 * as indices of their divisors. */
void level_children_find(
	struct nest_descent *descent, struct level_children *level, const int *left);

/* The cost of what may follow the bounds chosen so far, in an order; false if what is found
 * excludes all of it. */
bool level_children_weigh(struct nest_descent *descent, struct level_children *level,
	const struct nest_order *order, struct nest_cost *cost);

/* Takes one of a dimension's options: its bound, and what that leaves inside. */
void level_children_choose(struct level_children *level, int d, int option);

/* --- of the descent, for both */

static inline const struct nest_search *nest_descent_search(const struct nest_descent *descent)
{
	return descent->view.frame->search;
}

static inline int nest_descent_dimensions(const struct nest_descent *descent)
{
	return nest_descent_search(descent)->shape->dimension_count;
}

static inline const struct tiling_level *nest_descent_tiling(
	const struct nest_descent *descent, int j)
{
	return &nest_descent_search(descent)->space->levels[descent->view.frame->tiling[j]];
}

static inline void nest_descent_bound(struct nest_descent *descent, int j, const int64_t *bounds)
{
	struct mapping_row *row = &descent->mapping.rows[nest_descent_tiling(descent, j)->row];
	for (int d = 0; d < nest_descent_dimensions(descent); d++)
		row->temporal[d] = (uint32_t)bounds[d];
}

static inline void nest_descent_spend(struct nest_descent *descent, uint64_t ticks)
{
	descent->stopped |= !run_spend(descent->run, ticks);
}

/* For what no bound was made of. */
static inline void nest_descent_step(struct nest_descent *descent)
{
	descent->stopped |= !run_go_on(descent->run, 1);
}

#endif
