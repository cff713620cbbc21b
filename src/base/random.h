#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/*
 * Reproducible random numbers: SplitMix64 (Steele, Lea, Flood, "Fast
 * splittable pseudorandom number generators", OOPSLA 2014).  A stream is made
 * from the user's seed and what the numbers are for (round, task, row), never
 * from a thread or a clock.
 */
struct random {
	uint64_t state;
};

struct random random_open(uint64_t seed, uint64_t stream);
uint64_t random_next(struct random *random);
uint64_t random_below(struct random *random, uint64_t bound); /* [0, bound), bound > 0, unbiased */

#endif
