#ifndef SIM_AUDIT_WHOLE_H
#define SIM_AUDIT_WHOLE_H

#include "sim/graph/fault.h"

/*
 * What lies in the memories of a machine whose tiles do not move in boxes: HBM and one scratchpad hold
 * arrays row by row, and the scratchpad the parts of arrays that iterations of a run have.  What a compute
 * writes are rows, of which others may have overwritten parts.
 */
struct audit;
struct audit_whole;

/* HBM with the graph's inputs in it. */
struct audit_whole *audit_whole_open(const struct program *program, struct arena *arena);

/* The current instruction of the audit reads its operands and writes its output; false when it
 * cannot be carried out at all. */
bool audit_whole_run(struct audit *audit);

/* After the last: every tensor that belongs in HBM is there. */
void audit_whole_end(struct audit *audit);

#endif
