#ifndef SEARCH_SHORTAGE_H
#define SEARCH_SHORTAGE_H

#include "search/nest/feasible.h"

/*
 * Why no mapping of a domain fits: one limit after the other, what it would have
 * to be.  `alone` is what a limit would have to be if there were no other limit of
 * the machine: where it exceeds what is given, nothing helps but more of it.
 * `enough` is what it would have to be while all others stay as they are.
 */
enum shortage_kind {
	SHORTAGE_FACTORS,     /* no bounds make up the extent of `dimension` */
	SHORTAGE_HOME,        /* every level bypasses dataspace `space` */
	SHORTAGE_CAPACITY,    /* words of `level` */
	SHORTAGE_FANOUT_X,    /* instances in the block below `level`, along X */
	SHORTAGE_FANOUT_Y,    /* along Y */
	SHORTAGE_UTILIZATION, /* words that `level` can be filled with, at most */
	SHORTAGE_PARALLELISM, /* multipliers that can be busy, at most */
};

struct shortage {
	enum shortage_kind kind;
	int level, dimension, space; /* -1: none */
	int64_t given;               /* what there is; of the last two kinds: what is asked for */

	/* The least that would do, of the last two kinds the most that can be had.  -1: alone, what
	 * is given would do; together with the others, no number is enough. */
	int64_t alone, enough;

	/* SHORTAGE_CAPACITY: the smallest tile, as `enough`, else `alone`, asks for it. */
	int64_t tile[SHAPE_DIMENSIONS_MOST], words[SHAPE_SPACES_MOST];
};

struct shortages {
	size_t count;
	const struct shortage *at;
	bool open; /* a question was too hard: one may be missing, or its `enough` */
};

/* Shortages of a domain without a mapping that fits.  Empty where only two or more limits together would
 * have to be larger.  `stopper` NULL: to the end. */
struct arena;
struct shortages shortages_find(const struct domain *domain, uint64_t work_most,
	const struct stopper *stopper, struct arena *arena);

#endif
