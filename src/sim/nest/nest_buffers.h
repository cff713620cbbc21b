#ifndef SIM_NEST_BUFFERS_H
#define SIM_NEST_BUFFERS_H

#include "sim/nest/nest_run.h"

/*
 * Buffers of all instances that a nest was laid out for; empty, but for the homes, which hold
 * what they need from the start.
 */

/* NULL, or why that is refused: they need more than EXECUTION_BYTES_MOST. */
const char *nest_buffers_open(struct nest_run *run);

#endif
