#include "tests/support/draws.h"
#include "tests/support/sanitized.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static long wish(const char *name, long by_default)
{
	const char *text = getenv(name);
	long number = text ? strtol(text, NULL, 10) : 0;
	return number > 0 ? number : by_default;
}

long draws(long by_default)
{
	long count = by_default * wish("TIMES", 1) / wish("THIN", 1);
	return wish("N", count > 0 ? count : 1);
}

long draws_apart(long by_default)
{
	return (wish("N", 0) || wish("TIMES", 1) > 1 ? 1 : by_default) * wish("THIN", 1);
}

bool draws_are_many(long count)
{
	return count >= 100 && wish("THIN", 1) == 1;
}

bool draws_skip_searches(void)
{
	return SANITIZED && wish("THIN", 1) > 1;
}

uint64_t draws_seed(uint64_t by_default)
{
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : by_default;
	printf("seed %" PRIu64 "\n", seed);
	return seed;
}

int64_t draw_below(struct random *random, int64_t bound)
{
	return (int64_t)random_below(random, (uint64_t)bound);
}

bool draw_chance(struct random *random, int64_t one_in)
{
	return draw_below(random, one_in) == 0;
}

void draw_shuffle(struct random *random, uint8_t *list, int count)
{
	for (int i = count - 1; i > 0; i--) {
		int j = (int)draw_below(random, i + 1);
		uint8_t kept = list[i];
		list[i] = list[j];
		list[j] = kept;
	}
}
