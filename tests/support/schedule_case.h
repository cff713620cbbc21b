#ifndef SUPPORT_SCHEDULE_CASE_H
#define SUPPORT_SCHEDULE_CASE_H

#include "model/transfer/broadcast.h"
#include "search/drive/solver.h"

extern const struct copying schedule_speeds;

/* Returns the schedule of a solver; NULL: none. */
const struct send_schedule *schedule_ask(
	struct arena *arena, enum stage stage, const char *name, const struct synthesis *synthesis);

/* Executes it with real bytes, and compares with what the model prices; a test that fails if it
 * goes wrong. */
void schedule_executed(struct arena *arena, const struct send_schedule *schedule,
	const struct topology *topology, int64_t bytes);

#endif
