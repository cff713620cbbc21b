#ifndef SUPPORT_DRAWS_H
#define SUPPORT_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

/* How many draws a random test makes: the environment's N, or the default. */
long draws(long by_default);

/* So many that a test may ask whether it met all that it is about; a few, as when a failure
 * is repeated, need not meet what is rare. */
bool draws_are_many(long count);

/* The seed of a random test: the environment's SEED, or the default; printed, so
 * that a failure can be repeated. */
uint64_t draws_seed(uint64_t by_default);

#endif
