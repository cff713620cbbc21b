#ifndef SEARCH_LX_STAGING_H
#define SEARCH_LX_STAGING_H

#include "search/graph/lx_buffers.h"

/*
 * The staging tiles of broadcasts: which there can be, which a plan takes, and where they lie.
 * Tiles are buffers of the packing, alive in their step; they must be placed.
 */

/*
 * What is worth trying for each broadcast, in at most 4096 chunks: whole tensors, and halves of
 * halves of their rows and sticks, in one, two or three tiles, or in as many as `tiles` says if it
 * is not 0 (as there are chunks, if those are fewer).  Of options that take as many bytes the
 * fastest, and only those that are faster than all that take fewer.
 */
const struct staging_menu *staging_menus(
	const struct arch *arch, const struct workload *workload, int tiles, struct arena *arena);

/* How many options a broadcast has on the menus; 0 of any other op. */
size_t staging_option_count(const struct planning *planning, const char *op);

/*
 * Menus with one option for every broadcast: of `op` number `option`, of the others what the
 * planning takes now.  NULL if that is what `op` takes as well, or if `limits` does not allow it.
 */
const struct staging_menu *staging_menus_with(const struct planning *planning,
	const struct planning *limits, const char *op, size_t option, struct arena *arena);

/* True if two numbers of bytes for staging would have the same options taken. */
bool staging_limits_alike(const struct planning *planning, int64_t bytes, int64_t other);

/* The fastest option that the planning allows for every broadcast of graph->workload into
 * graph->stagings, without addresses; NULL, or why there is none for one of them. */
const char *lx_staging_choose(struct lx_graph *graph);

/* Adds the tiles behind the tensors; they weigh more than all of these. */
void lx_staging_ask(const struct lx_graph *graph, struct lx_buffers *buffers);

/* The bytes of the largest step's tiles, one on the other; and puts all tiles so, from `base`. */
int64_t lx_staging_most(const struct lx_graph *graph);
void lx_staging_stack(const struct lx_graph *graph, int64_t base);

/* As the packing's solver placed them: addresses of the buffers behind those of tensors. */
void lx_staging_take(const struct lx_graph *graph, const int64_t *addresses);

#endif
