#include "base/number.h"
#include "base/wide.h"

#include "base/arena.h"

#include <stdlib.h>

int64_t number_gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

int64_t number_lcm(int64_t a, int64_t b, int64_t most)
{
	int64_t multiple;
	bool fits = number_mul(a / number_gcd(a, b), b, &multiple) && multiple <= most;
	return fits ? multiple : most + 1;
}

struct divisors number_divisors(struct arena *arena, int64_t n)
{
	size_t small = 0, all = 0;
	for (int64_t d = 1; d <= n / d; d++)
		if (n % d == 0) {
			small++;
			all += d == n / d ? 1 : 2;
		}
	int64_t *at = arena_array(arena, int64_t, all);
	size_t i = 0;
	for (int64_t d = 1; i < small; d++)
		if (n % d == 0) {
			at[i] = d;
			at[all - 1 - i] = n / d;
			i++;
		}
	return (struct divisors){at, all};
}

static bool ratio_reduce(wide num, wide den, struct ratio *out)
{
	if (num == 0) {
		*out = (struct ratio){0, 1};
		return true;
	}
	wide common = wide_gcd(num, den);
	if (common > 1) {
		num /= common;
		den /= common;
	}
	if (num > INT64_MAX || den > INT64_MAX)
		return false;
	*out = (struct ratio){(int64_t)num, (int64_t)den};
	return true;
}

bool ratio_make(int64_t num, int64_t den, struct ratio *out)
{
	return ratio_reduce(num, den, out);
}

bool ratio_mul(struct ratio a, struct ratio b, struct ratio *out)
{
	return ratio_reduce((wide)a.num * b.num, (wide)a.den * b.den, out);
}

bool ratio_div(struct ratio a, struct ratio b, struct ratio *out)
{
	return ratio_reduce((wide)a.num * b.den, (wide)a.den * b.num, out);
}

double ratio_double(struct ratio a)
{
	return (double)a.num / (double)a.den;
}

bool ratio_time(int64_t work, struct ratio rate, int64_t *out)
{
	int64_t small;
	if (!__builtin_mul_overflow(work, rate.den, &small)) {
		*out = small / rate.num + (small % rate.num != 0);
		return true;
	}
	wide whole = (wide)work * rate.den;
	wide cycles = whole / rate.num + (whole % rate.num != 0);
	if (cycles > INT64_MAX)
		return false;
	*out = (int64_t)cycles;
	return true;
}

int number_primes(int64_t n, int64_t *out)
{
	int count = 0;
	for (int64_t p = 2; n > 1; p++) {
		if (p > n / p)
			p = n;
		if (n % p == 0)
			out[count++] = p;
		while (n % p == 0)
			n /= p;
	}
	return count;
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

size_t number_distinct(int64_t *numbers, size_t count)
{
	size_t kept = 0;
	if (count)
		qsort(numbers, count, sizeof *numbers, compare_numbers);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || numbers[i] != numbers[kept - 1])
			numbers[kept++] = numbers[i];
	return kept;
}
