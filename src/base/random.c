#include "base/random.h"

static uint64_t random_mix_bits(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

struct random random_open(uint64_t seed, uint64_t stream)
{
	return (struct random){random_mix_bits(seed + UINT64_C(0x9e3779b97f4a7c15) * (stream + 1))};
}

uint64_t random_next(struct random *random)
{
	random->state += UINT64_C(0x9e3779b97f4a7c15);
	return random_mix_bits(random->state);
}

uint64_t random_below(struct random *random, uint64_t bound)
{
	uint64_t reject = -bound % bound; /* 2^64 mod bound: the uneven rest */
	for (;;) {
		uint64_t r = random_next(random);
		if (r >= reject)
			return r % bound;
	}
}
