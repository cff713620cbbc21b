#ifndef SUPPORT_REPLAY_H
#define SUPPORT_REPLAY_H

#include "base/array.h"
#include "model/graph/plan.h"
#include "tests/support/naive_happens.h"

/*
 * Carries out a small program one instruction after the other in memories that
 * hold names instead of data: a granule of one stick knows whose stick it holds
 * and who used it.  Asserts that what is read is there, that conflicting
 * uses are ordered, that LX is used where an allotment says so, and that a
 * compute's boxes hold what its elements need.
 */
enum { REPLAY_CORES = 6 };

struct content {
	int tensor; /* -1: nothing; an accumulator's is that of its output */
	bool partial;
	int64_t stick;
};

struct granule {
	struct content content;
	int64_t writer;                /* instruction; -1 */
	struct array(int64_t) readers; /* since then */
};

struct touch {
	int space; /* core, or REPLAY_CORES for HBM */
	int64_t granule;
	bool write;
};

struct replay {
	struct arena *arena;
	const struct plan *plan;
	const struct program *program;
	struct naive_happens order;
	int64_t granules[REPLAY_CORES + 1];
	struct granule *memories[REPLAY_CORES + 1];
	struct array(struct touch) * touches; /* by instruction */
	int64_t **made, **sent; /* by tensor and stick: how often it was finished, left for HBM */
	uint8_t **computed;     /* by op and iteration: how often */
};

struct replay *replay_run(
	struct arena *arena, const struct plan *plan, const struct program *program);

/* Do two instructions use one granule, and one of them writes it? */
bool replay_conflict(const struct replay *replay, int64_t a, int64_t b);

#endif
