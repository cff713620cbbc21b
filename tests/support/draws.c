#include "tests/support/draws.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

long draws(long by_default)
{
	const char *n = getenv("N");
	return n ? strtol(n, NULL, 10) : by_default;
}

bool draws_are_many(long count)
{
	return count >= 100;
}

uint64_t draws_seed(uint64_t by_default)
{
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : by_default;
	printf("seed %" PRIu64 "\n", seed);
	return seed;
}
