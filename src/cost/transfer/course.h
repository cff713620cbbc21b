#ifndef COST_COURSE_H
#define COST_COURSE_H

#include "base/wide.h"
#include "model/machine/topology.h"
#include "model/transfer/broadcast.h"

/*
 * The chunks of a sliding: bands of rows over each of `outer` slices, each cut into columns.
 * heights[0] and widths[0] are whole, [1] the tails; counts may be 0.
 */
struct grid {
	int64_t outer;
	int64_t heights[2], bands[2];
	int64_t widths[2], columns[2];
};

/* What decides how long the chunks of a leg take: out of one buffer, into one or those of all. */
struct leg {
	bool far; /* loaded from another rank */
	int64_t load_hops;
	int64_t stores, remote; /* to ranks, and how many of them are others */
	int64_t store_hops;     /* to all of them */
};

/*
 * What the root of a broadcast or a sibling does, by legs: one for each rank of a gather or
 * scatter; the one of a broadcast stores to all, that of a put or get has to do with one; those of
 * a reduction load the blocks of all ranks, chunk by chunk.
 */
struct course {
	const struct broadcast *broadcast;
	struct copy_ticks ticks;
	struct grid grid;
	int64_t element; /* bytes */
	const int *hops; /* by rank: links between it and the root, the way that bytes go */
	int64_t legs;    /* one after the other; 1 of a reduction */
};

/* Closed by course_close: its hops are no arena's. */
struct course course_open(const struct broadcast *b, const struct topology *topology);
void course_close(struct course *course);

int64_t course_chunks(const struct course *course); /* of one leg */

/* Bytes of a chunk of heights[h] rows and widths[w] columns. */
int64_t course_bytes(const struct course *course, int h, int w);

/* The i-th leg; of a reduction the loads of rank i. */
struct leg course_leg(const struct course *course, int64_t i);

/* A reduction of more than one rank. */
bool course_combines(const struct broadcast *b);

/* Ticks that a load, the stores of a chunk, and a vector step take. */
wide course_load(const struct copy_ticks *ticks, const struct leg *leg, int64_t bytes);
wide course_store(const struct copy_ticks *ticks, const struct leg *leg, int64_t bytes);
wide course_combine(const struct copy_ticks *ticks, int64_t bytes);

#endif
