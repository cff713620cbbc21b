#ifndef MODEL_ARCH_ATTRIBUTES_H
#define MODEL_ARCH_ATTRIBUTES_H

#include "model/machine/arch.h"
#include "spec/reader.h"

/*
 * What the `attributes:` of one node mean, by the kind of its level.  Rates are kept per cycle,
 * overheads in cycles; a clock of 0 is not known, and refuses what is per second.
 */

/* `clock`, or Timeloop's `global_cycle_seconds`; false if neither is there or it is wrong. */
bool attributes_clock(struct reader *attributes, struct ratio *hertz);

/* Attributes of a container that concern the machine as a whole. */
void attributes_machine(struct reader *attributes, struct arch *arch);

/* Attributes of levels. */
void attributes_storage(struct reader *attributes, const struct arch *arch, struct level *level);
void attributes_compute(struct reader *attributes, struct level *level);

/* Cycles of a time that a key gives, which needs a clock; false after complaining. */
bool attributes_cycles(struct reader *attributes, const char *key, struct ratio nanoseconds,
	struct ratio clock_hz, struct ratio *cycles);

/* Bytes per cycle: a rate in bytes per second, or a bare number of words per cycle. */
bool attributes_bandwidth(struct reader *attributes, const char *key, struct ratio clock_hz,
	int64_t word_bits, struct ratio *out);

/* Whether the value of a key has a unit. */
bool attributes_has_unit(struct reader *attributes, const struct node *node, const char *key);

#endif
