#ifndef SUPPORT_USERS_SCORE_H
#define SUPPORT_USERS_SCORE_H

#include <jansson.h>

/*
 * Compares what `score --counting timeloop --format json` printed with what
 * timeloop-model printed for the same files: cycles, counts and capacities as
 * integers, energies to a millionth and half a unit of the last printed digit.
 * `expected` is a record of the family users (its README.md has the fields).
 */
struct family;

void users_score_compare(struct family *family, const json_t *expected, const json_t *got);

#endif
