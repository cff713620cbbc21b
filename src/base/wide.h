#ifndef BASE_WIDE_H
#define BASE_WIDE_H

#include <stdint.h>

/* Holds the product of any two int64_t. */
__extension__ typedef __int128 wide;

/* Both >= 0; wide_gcd(0, 0) = 0. */
static inline wide wide_gcd(wide a, wide b)
{
	while (b > UINT64_MAX || (b && a > UINT64_MAX)) {
		wide rest = a % b;
		a = b;
		b = rest;
	}
	if (!b)
		return a;
	uint64_t p = (uint64_t)a, q = (uint64_t)b; /* whose remainders take a tenth of the time */
	while (q) {
		uint64_t rest = p % q;
		p = q;
		q = rest;
	}
	return p;
}

#endif
