#ifndef SEARCH_TILINGS_H
#define SEARCH_TILINGS_H

#include "search/nest/space.h"

/*
 * The factorizations of one dimension that matter to what fits.  A mapping fits
 * by the extents of its tiles at limited levels and by its spatial bounds; what
 * else the bounds are does not matter, and of two factorizations that differ
 * only by one being larger there, the smaller one is enough (unless something
 * must be filled: then values count exactly).
 */
enum watch {
	WATCH_NOT,
	WATCH_LEAST, /* less is never worse */
	WATCH_EXACT,
};

/* Per tiling level of the space: its spatial bound, or the extent of the tile with its temporal
 * loops inside; 0 where nobody watches. */
struct dimension_tiling {
	const int64_t *values, *bounds;
};

struct tilings {
	size_t count;
	struct dimension_tiling *at; /* smaller ones first */
	bool complete;               /* false: work ran out before all were found */
};

/* Work that may still be done: one for each choice tried.  None any more if the stopper says so. */
struct tilings_work {
	uint64_t done, most;
	const struct stopper *stopper;
	bool stopped;
};
bool work_is_out(struct tilings_work *work);

struct tilings_question {
	const struct space *space;
	int dimension;
	const enum watch *watches; /* by tiling level */

	/* Whether a value leaves room for the other dimensions. */
	bool (*room)(void *context, int dimension, int tiling_level, int64_t value);
	void *context;
};
struct tilings tilings_find(
	const struct tilings_question *question, struct tilings_work *work, struct arena *arena);

#endif
