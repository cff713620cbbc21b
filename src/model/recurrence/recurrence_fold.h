#ifndef MODEL_RECURRENCE_FOLD_H
#define MODEL_RECURRENCE_FOLD_H

#include "model/recurrence/recurrence.h"

/*
 * A large array on a small one: each row of space that is a loop runs over at most that many PEs.
 *
 * In tiles (locally parallel, globally sequential) neighbours stay neighbours, and tiles of the
 * array follow each other: the loop is split, its outer part becomes the outermost loop of time, and
 * what passes from tile to tile waits.  In blocks (locally sequential, globally parallel) a PE takes
 * neighbours one after the other: its inner part becomes the innermost loop of time.
 *
 * Both are recurrences with one more loop each, and projections like any other.
 */
enum fold_order { FOLD_TILES, FOLD_BLOCKS };

struct fold {
	enum fold_order order;
	int row_count;                        /* 0: none */
	int64_t sizes[RECURRENCE_LOOPS_MOST]; /* PEs along each row of space */
};

/* For a spec whose allocation and schedule are known; false and *why where a row of space is no
 * loop, or there are too many loops. */
bool recurrence_fold(
	struct arena *arena, const struct fold *fold, struct space_time *spec, const char **why);

#endif
