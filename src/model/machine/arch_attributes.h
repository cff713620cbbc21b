#ifndef MODEL_ARCH_ATTRIBUTES_H
#define MODEL_ARCH_ATTRIBUTES_H

#include "model/machine/arch.h"
#include "spec/reader.h"

/*
 * What the `attributes:` of one node mean, by the kind of its level.  The clock
 * must be known: rates are kept per cycle, overheads in cycles.
 */

/* `clock`, or Timeloop's `global_cycle_seconds`; false if neither is there or it is wrong. */
bool attributes_clock(struct reader *attributes, struct ratio *hertz);

/* Attributes of a container in a machine for graphs that concern the machine as a whole. */
void attributes_container(struct reader *attributes, struct arch *arch);

/*
 * Attributes of levels, in machines for graphs and in Timeloop's; either has attributes of its
 * own beside those that both have.
 */
void attributes_storage(
	struct reader *attributes, bool graphs, const struct arch *arch, struct level *level);
void attributes_compute(struct reader *attributes, bool graphs, struct level *level);

/* Bytes per cycle: a rate in bytes per second, or a bare number of words per cycle. */
bool attributes_bandwidth(struct reader *attributes, const char *key, struct ratio clock_hz,
	int64_t word_bits, struct ratio *out);

/* Whether the value of a key has a unit. */
bool attributes_has_unit(struct reader *attributes, const struct node *node, const char *key);

/* Complains.  Always false. */
bool attributes_too_large(struct reader *attributes, const char *key);

#endif
