#ifndef LOWER_GRAPH_LOWER_TILES_H
#define LOWER_GRAPH_LOWER_TILES_H

#include "lower/graph/program.h"

/*
 * The loops of one step: which elements a core computes in each of its tiles.
 * Tiles are walked like the digits of a number, the innermost loop fastest.
 */
struct step_tiling {
	int cores, loop_count;
	int64_t tiles;  /* of one core */
	int64_t passes; /* tiles in a row that work on one output tile */
	int64_t reduction_split;
	int order[OP_LOOPS_MOST];      /* innermost first */
	int64_t factor[OP_LOOPS_MOST]; /* tiles along the loop */
	int64_t first[OP_LOOPS_MOST];  /* element of the op in this iteration of its run */
	int64_t extent[OP_LOOPS_MOST]; /* elements of that, a core, a tile */
	int64_t share[OP_LOOPS_MOST];
	int64_t span[OP_LOOPS_MOST];
	int64_t start[PROGRAM_CORES_MOST][OP_LOOPS_MOST]; /* first element of a core */
};

struct tile {
	int64_t number, at[OP_LOOPS_MOST];
};

/* In one iteration of the step's run.  NULL, or why the step's mapping cannot be carried out. */
struct arena;
const char *tiling_make(const struct plan *plan, int step, int64_t iteration, struct arena *arena,
	struct step_tiling *tiling);

/* Goes to the next tile; answers which loops moved, a bit each, 0 after the last tile. */
uint32_t tile_next(const struct step_tiling *tiling, struct tile *tile);

static inline int64_t tile_first(
	const struct step_tiling *tiling, const struct tile *tile, int core, int l)
{
	return tiling->start[core][l] + tile->at[l] * tiling->span[l];
}

static inline int64_t tile_count(
	const struct step_tiling *tiling, const struct tile *tile, int core, int l)
{
	int64_t end = tiling->first[l] + tiling->extent[l];
	return number_min(tiling->span[l], end - tile_first(tiling, tile, core, l));
}

/* Cores in classes: cores of one class start alike in all of the given loops. */
struct grouping {
	int count;
	int of[PROGRAM_CORES_MOST];     /* class of a core */
	int leader[PROGRAM_CORES_MOST]; /* least core of a class */
	uint64_t mask[PROGRAM_CORES_MOST];
};

void tiling_group(const struct step_tiling *tiling, uint32_t loops, struct grouping *grouping);

/* for (uint64_t m = mask; m; m &= m - 1) use(least_core(m)); */
static inline int least_core(uint64_t mask)
{
	return __builtin_ctzll(mask);
}

/* The mask of cores 0 .. count-1. */
static inline uint64_t cores_below(int64_t count)
{
	return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

#endif
