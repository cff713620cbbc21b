#ifndef SEARCH_DRIVE_DRIVE_STATE_H
#define SEARCH_DRIVE_DRIVE_STATE_H

#include "search/drive/drive.h"

#include <stdatomic.h>

/* An exploration while it runs: drive.c has the rounds, what a task does and the last
 * round. */
struct drive {
	const struct drive_kind *kind;
	void *self;
	const struct wishes *wishes;
	struct explored *explored;
	struct arena *arena;    /* of the result */
	struct arena *own;      /* until it ends; what depends on threads is in here */
	struct arena **scratch; /* by thread: only memory, nothing of it reaches a result */
	int round;
	double best, bound; /* of the first objective, for progress */
	atomic_bool stopped;
};

struct slot drive_slot(struct drive *drive);
void drive_open(struct slot *slot, int thread);

/* In the order of tasks. */
void drive_merge(struct drive *drive, struct slot *slot);

/* Reports how far the round is, and asks whether to stop. */
void drive_tell(struct drive *drive, size_t done, size_t count, const struct effort *effort);

/* Counts an execution of what was not executed before. */
void drive_count(struct slot *slot, const struct execution *execution);

/* Counts what disagrees; the first is told. */
void drive_judge(struct slot *slot, const struct found *found);

void drive_last(struct drive *drive);

#endif
