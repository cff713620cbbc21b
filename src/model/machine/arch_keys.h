#ifndef MODEL_MACHINE_ARCH_KEYS_H
#define MODEL_MACHINE_ARCH_KEYS_H

#include "model/machine/arch.h"
#include "model/machine/arch_draft.h"
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

/* True if the value of a key has a unit. */
bool attributes_has_unit(struct reader *attributes, const struct node *node, const char *key);

/*
 * How Timeloop's and Accelergy's files spell the attributes of a level.  Versions
 * 0.1 to 0.4 have several words for one thing (`word-bits`, `word_bits`,
 * `datawidth`; `memory_depth`, `depth`); read here are the names of 0.4.
 */

/* True if a key says something of the machine as a whole, which only its containers do. */
bool arch_key_of_machine(const char *key);

/* Opens a level's attributes under their 0.4 names, with what the containers of the draft's scope
 * say beside them, inner ones first.  Their values may use each other.  `own` may be NULL. */
void arch_keys_open(struct arch_draft *draft, const struct node *own, const char *what,
	struct span span, struct reader *attributes);

/* Attributes that arithmetic has used are of use under any name. */
void arch_keys_settle(struct arch_draft *draft, const struct reader *attributes);

/*
 * Closes the reader of such a map: misspelt keys are errors, all others that nothing reads become
 * strangers.  What containers say is theirs until no level inside reads it: close their readers last.
 * `own` is the map without what is inherited; it may be NULL.
 */
void arch_keys_done(struct arch_draft *draft, struct reader *attributes, const struct node *own);

/* All strangers go into the run's note. */
void arch_keys_note(const struct arch_draft *draft);

/* True if a key is an attribute that levels read, in any of its spellings. */
bool arch_keys_known(const char *key);

/* The attributes that levels share, and their other spellings, one after the other, some of them more
 * than once; NULL after the last.  What only one sort of level reads is not among them. */
const char *arch_keys_at(size_t i);

/* The `attributes:` of a node; NULL if they are missing or empty. */
const struct node *arch_keys_own(struct reader *node);

#endif
