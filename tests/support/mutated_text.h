#ifndef SUPPORT_MUTATED_TEXT_H
#define SUPPORT_MUTATED_TEXT_H

#include "base/random.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Texts that are nearly right: YAML, or a table, with something changed.
 *
 * Three mutators.  Bytes: one or two places have another character, lost one, got one, or say a few
 * twice.  Numbers: one to three literals, or all equal ones, become other numbers: neighbours,
 * divisors, powers of two, zero, negative, fractions, near limits, with units.  Structure: entries
 * of maps and lists, in lines or in brackets, are dropped, said again (also under another name),
 * swapped, moved or taken from another text; values become those of equal keys elsewhere, or empty;
 * a name is replaced everywhere, or in one place.
 */
struct arena;

/* By any of the mutators; structure takes what it needs from the text itself. */
const char *mutated_text(struct arena *arena, struct random *random, const char *seed);

/* The same; structure also takes from another text. */
const char *mutated_with(
	struct arena *arena, struct random *random, const char *seed, const char *other);

const char *mutated_bytes(struct arena *arena, struct random *random, const char *seed);
const char *mutated_numbers(struct arena *arena, struct random *random, const char *seed);
const char *mutated_structure(
	struct arena *arena, struct random *random, const char *seed, const char *other);

/* The text with the bytes [from, to) replaced. */
const char *spliced_text(
	struct arena *arena, const char *text, size_t from, size_t to, const char *with);

/* A line that scripts/fuzz adds up: how many inputs there were, how many of them were read. */
void mutated_tell(long inputs, long past_reading);

#endif
