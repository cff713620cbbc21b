#ifndef MODEL_ARCH_ATTRIBUTES_H
#define MODEL_ARCH_ATTRIBUTES_H

#include "model/arch.h"
#include "spec/reader.h"

/*
 * What the `attributes:` of one node mean, by the kind of its level.  The clock
 * must be known: rates are kept per cycle, overheads in cycles.
 */

/* `clock`, or Timeloop's `global_cycle_seconds`; false if neither is there or it is wrong. */
bool attributes_clock(struct reader *attributes, struct ratio *hertz);

/* All others into the level, and into the machine what concerns it as a whole. */
void attributes_read(struct reader *attributes, struct arch *arch, struct level *level);

#endif
