#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whole numbers that never overflow unnoticed, in three forms:
 *
 *	number_    sums and products that return false, and leave *out alone, when the result does not fit an
 *	           int64_t; the other functions take arguments in the ranges that stand beside them
 *	checked_   sums and products of a long formula, which remember in a flag whether everything fitted
 *	ratio      exact fractions, for rates and clocks
 */
static inline bool number_add(int64_t a, int64_t b, int64_t *out)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return false;
	*out = sum;
	return true;
}

static inline bool number_mul(int64_t a, int64_t b, int64_t *out)
{
	int64_t product;
	if (__builtin_mul_overflow(a, b, &product))
		return false;
	*out = product;
	return true;
}

/* Sum and product of numbers >= 0; INT64_MAX if they do not fit. */
static inline int64_t number_plus(int64_t a, int64_t b)
{
	return number_add(a, b, &a) ? a : INT64_MAX;
}

static inline int64_t number_times(int64_t a, int64_t b)
{
	return number_mul(a, b, &a) ? a : INT64_MAX;
}

/* a[0] * b[0] + a[1] * b[1] ...; false, with *out unchanged, if a part does not fit. */
static inline bool number_dot(const int64_t *a, const int64_t *b, int count, int64_t *out)
{
	int64_t sum = 0, product;
	for (int i = 0; i < count; i++)
		if (!number_mul(a[i], b[i], &product) || !number_add(sum, product, &sum))
			return false;
	*out = sum;
	return true;
}

/* a >= 0, b > 0 */
static inline int64_t number_ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

/* The least multiple of `step` not below a; a >= 0, step > 0, the result fits. */
static inline int64_t number_align_up(int64_t a, int64_t step)
{
	return number_ceil_div(a, step) * step;
}

static inline int64_t number_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t number_max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t number_gcd(int64_t a, int64_t b); /* both >= 0; gcd(0, 0) = 0 */

/* The least common multiple of two numbers above 0, or most + 1 if it is above `most`. */
int64_t number_lcm(int64_t a, int64_t b, int64_t most);

/* All divisors of n >= 1, ascending, in the arena. */
struct arena;
struct divisors {
	const int64_t *at;
	size_t count;
};
struct divisors number_divisors(struct arena *arena, int64_t n);

/* Writes the different primes of n >= 1, ascending; returns how many, at most NUMBER_PRIMES_MOST. */
enum { NUMBER_PRIMES_MOST = 15 };
int number_primes(int64_t n, int64_t *out);

/* Sorts numbers and leaves each of them once; returns how many are left. */
size_t number_distinct(int64_t *numbers, size_t count);

/*
 * An exact positive fraction in lowest terms, for rates and clocks.  Zero
 * (0/1) means "none given".
 */
struct ratio {
	int64_t num, den;
};

/* False if it does not fit after reduction; num >= 0, den > 0. */
bool ratio_make(int64_t num, int64_t den, struct ratio *out);
bool ratio_mul(struct ratio a, struct ratio b, struct ratio *out);
bool ratio_div(struct ratio a, struct ratio b, struct ratio *out); /* b > 0 */
double ratio_double(struct ratio a);

/*
 * ceil(work / rate): the cycles that `work` units take at `rate` units per
 * cycle.  False if the result does not fit.  work >= 0, rate > 0.
 */
bool ratio_time(int64_t work, struct ratio rate, int64_t *out);

/*
 * Sums and products that remember whether everything fitted: `*fits` turns
 * false for good, and later results have no meaning.  The caller checks the
 * flag once, at the end.
 */
static inline int64_t checked_mul(bool *fits, int64_t a, int64_t b)
{
	int64_t product = 0;
	if (!number_mul(a, b, &product))
		*fits = false;
	return product;
}

static inline int64_t checked_add(bool *fits, int64_t a, int64_t b)
{
	int64_t sum = 0;
	if (!number_add(a, b, &sum))
		*fits = false;
	return sum;
}

#endif
