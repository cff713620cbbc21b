#ifndef SIM_AUDIT_SEND_H
#define SIM_AUDIT_SEND_H

#include "lower/graph/program.h"

/*
 * What the data ring does: the runs that each core has set up for the step, and those of the boxes that
 * it has sent and received since, which may be no more.
 */
struct audit;
struct audit_runs {
	int step[PROGRAM_CORES_MOST]; /* plus 1; 0: nothing is set up */
	int64_t set_up[PROGRAM_CORES_MOST], sent[PROGRAM_CORES_MOST], received[PROGRAM_CORES_MOST];
};

/* The current instruction sets runs up or sends a box; false when it cannot be carried out at all. */
bool audit_send(struct audit *audit);

#endif
