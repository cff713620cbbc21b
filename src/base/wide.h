#ifndef BASE_WIDE_H
#define BASE_WIDE_H

/* Holds the product of any two int64_t. */
__extension__ typedef __int128 wide;

/* Both >= 0; wide_gcd(0, 0) = 0. */
static inline wide wide_gcd(wide a, wide b)
{
	while (b) {
		wide rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

#endif
