#ifndef SIM_NEST_LAY_H
#define SIM_NEST_LAY_H

#include "sim/nest/nest_run.h"

/*
 * Lays out a mapping on its machine: the temporal loops in order, the instances of all levels
 * with their places, and for each dataspace where it is kept, who its parent is, and when it
 * moves.
 */
enum { NEST_MULTIPLIER_BYTES = 512 }; /* of each, for each dataspace; about */

/* NULL, or why that is refused: more instances than EXECUTION_BYTES_MOST can take. */
const char *nest_run_lay_out(struct nest_run *run);

#endif
