#ifndef MODEL_ARCH_KEYS_H
#define MODEL_ARCH_KEYS_H

#include "model/machine/arch_draft.h"

/*
 * How Timeloop's and Accelergy's files spell the attributes of a level.  Versions
 * 0.1 to 0.4 have several words for one thing (`word-bits`, `word_bits`,
 * `datawidth`; `memory_depth`, `depth`); read here are the names of 0.4.
 */

/* Whether a key says something of the machine as a whole, which only its containers do. */
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

/* Whether a key is an attribute that levels read, in any of its spellings. */
bool arch_keys_known(const char *key);

/* The attributes that levels share, and their other spellings, one after the other, some of them more
 * than once; NULL after the last.  What only one sort of level reads is not among them. */
const char *arch_keys_at(size_t i);

/* The `attributes:` of a node; NULL if they are missing or empty. */
const struct node *arch_keys_own(struct reader *node);

#endif
