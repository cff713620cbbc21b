#ifndef SIM_NEST_PERIODS_H
#define SIM_NEST_PERIODS_H

#include "sim/nest/nest_run.h"

/*
 * Iterations of a loop that are alike, while a nest only counts: one of them is executed, and the others
 * count as much.  They are alike where the machine's states at the beginnings of two that
 * follow each other are equal, words and times taken relative to the iteration: the tiles in all
 * buffers that move in the loop, the sums in them, the sums in the buffers around them that the two touch,
 * what multipliers wait for and how far the ports are; where the sums that the others will touch are as those
 * that this one touches; and where no tile of theirs reaches beyond an extent.
 *
 * Work: where an iteration begins, once more the words of tiles that move in it, and comparisons of as many
 * numbers as there are instances.
 */
struct nest_periods;

/* NULL: every step is to be executed. */
struct nest_periods *nest_periods_open(struct nest_run *run);

/*
 * Loop k has gone on.  True: it goes on once more now, since the iteration that begins here and all that are
 * alike, the next ones, have been counted; the run is as it is at the end of the last of them.
 */
bool nest_periods_skip(struct nest_periods *periods, int k);

#endif
