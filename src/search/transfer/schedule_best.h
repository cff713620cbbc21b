#ifndef SEARCH_SCHEDULE_BEST_H
#define SEARCH_SCHEDULE_BEST_H

#include "model/transfer/schedule.h"
#include "search/drive/solver.h"

/* The schedule of fewest rounds, of one chunk a message, that the solvers of the stage offer
 * that nobody need name; of several the first by name.  It counts in the run's budget. */
const struct send_schedule *schedule_best(struct run *run, const struct synthesis *synthesis);

#endif
