#ifndef SUPPORT_DRAWS_H
#define SUPPORT_DRAWS_H

#include "base/random.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of draws of a random test: the environment's N, or the default times its
 * TIMES, which `make check` sets, and divided by its THIN, which `make test` sets when it runs all
 * tests a second time, under the sanitizers. */
long draws(long by_default);

/* A test that goes through a long list of cases takes one of this many: the default times THIN;
 * where N or TIMES is set, as in `make check`, the default is 1. */
long draws_apart(long by_default);

/* Enough draws that a test may ask whether it met all that it is about; a few, as when a failure
 * is repeated, and thinned ones need not meet what is rare. */
bool draws_are_many(long count);

/* True in the thinned run under a sanitizer: tests are skipped there whose time is in searches that other
 * tests run under it, too. */
bool draws_skip_searches(void);

/* The seed of a random test: the environment's SEED, or the default; printed, so
 * that a failure can be repeated. */
uint64_t draws_seed(uint64_t by_default);

/* One of [0, bound), where bounds are signed. */
int64_t draw_below(struct random *random, int64_t bound);

/* True once in this many times. */
bool draw_chance(struct random *random, int64_t one_in);

void draw_shuffle(struct random *random, uint8_t *list, int count);

#endif
