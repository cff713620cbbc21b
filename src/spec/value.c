#include "spec/value.h"

#include "base/wide.h"

#include <math.h>
#include <stdlib.h>

static const char overflow[] = "the result is too large";
static const char division[] = "division by zero";
static const char bare[] = "a bare number is expected, without a unit";

enum { POWER_MOST = 100 };

static wide value_positive(wide a)
{
	return a < 0 ? -a : a;
}

static struct value with_units(struct value value, struct value units)
{
	value.bytes = units.bytes;
	value.time = units.time;
	value.energy = units.energy;
	return value;
}

struct value value_whole(int64_t n)
{
	return (struct value){.exact = true, .num = n, .den = 1, .real = (double)n};
}

struct value value_real(double real)
{
	return (struct value){.real = real};
}

static const char *finite_real(double real, struct value *out)
{
	if (!isfinite(real))
		return overflow;
	*out = value_real(real);
	return NULL;
}

/* num / den, exact if it fits; den > 0 */
static const char *decimal_fraction(wide num, wide den, struct value *out)
{
	wide common = wide_gcd(value_positive(num), den);
	num /= common;
	den /= common;
	if (value_positive(num) / den > INT64_MAX)
		return overflow;
	double real = (double)num / (double)den;
	*out = value_real(real);
	if (value_positive(num) <= INT64_MAX && den <= INT64_MAX)
		*out = (struct value){
			.exact = true, .num = (int64_t)num, .den = (int64_t)den, .real = real};
	return NULL;
}

bool value_fraction(int64_t num, int64_t den, struct value *out)
{
	return !decimal_fraction(num, den, out);
}

static bool same_units(struct value a, struct value b)
{
	return a.bytes == b.bytes && a.time == b.time && a.energy == b.energy;
}

enum quantity value_quantity(struct value a)
{
	static const struct {
		signed char bytes, time, energy;
	} powers[] = {
		[QUANTITY_BARE] = {0, 0, 0},
		[QUANTITY_SIZE] = {1, 0, 0},
		[QUANTITY_TIME] = {0, 1, 0},
		[QUANTITY_CLOCK] = {0, -1, 0},
		[QUANTITY_RATE] = {1, -1, 0},
		[QUANTITY_ENERGY] = {0, 0, 1},
	};
	for (int q = 0; q < QUANTITY_OTHER; q++)
		if (a.bytes == powers[q].bytes && a.time == powers[q].time &&
			a.energy == powers[q].energy)
			return (enum quantity)q;
	return QUANTITY_OTHER;
}

const char *quantity_name(enum quantity quantity)
{
	static const char *const names[] = {
		[QUANTITY_BARE] = "a bare number",
		[QUANTITY_SIZE] = "a size",
		[QUANTITY_TIME] = "a time",
		[QUANTITY_CLOCK] = "a clock",
		[QUANTITY_RATE] = "a rate",
		[QUANTITY_ENERGY] = "an energy",
		[QUANTITY_OTHER] = "a product of units",
	};
	return names[quantity];
}

/* Beside a size a bare number counts bytes; other units must be equal. */
static const char *units_join(struct value *a, struct value *b)
{
	if (same_units(*a, *b))
		return NULL;
	if (value_quantity(*a) == QUANTITY_SIZE && value_quantity(*b) == QUANTITY_BARE)
		b->bytes = 1;
	else if (value_quantity(*b) == QUANTITY_SIZE && value_quantity(*a) == QUANTITY_BARE)
		a->bytes = 1;
	else
		return "the units of the two sides differ";
	return NULL;
}

const char *value_add(struct value a, struct value b, struct value *out)
{
	const char *why = units_join(&a, &b);
	if (!why)
		why = a.exact && b.exact
			      ? decimal_fraction((wide)a.num * b.den + (wide)b.num * a.den,
					(wide)a.den * b.den, out)
			      : finite_real(a.real + b.real, out);
	if (!why)
		*out = with_units(*out, a);
	return why;
}

static struct value value_negative(struct value a)
{
	a.num = -a.num;
	a.real = -a.real;
	return a;
}

const char *value_sub(struct value a, struct value b, struct value *out)
{
	return value_add(a, value_negative(b), out);
}

static const char *add_powers(struct value a, struct value b, int sign, struct value *out)
{
	int bytes = a.bytes + sign * b.bytes, time = a.time + sign * b.time,
	    energy = a.energy + sign * b.energy;
	if (abs(bytes) > POWER_MOST || abs(time) > POWER_MOST || abs(energy) > POWER_MOST)
		return "the power of a unit is too large";
	out->bytes = (signed char)bytes;
	out->time = (signed char)time;
	out->energy = (signed char)energy;
	return NULL;
}

const char *value_mul(struct value a, struct value b, struct value *out)
{
	const char *why = a.exact && b.exact
				  ? decimal_fraction((wide)a.num * b.num, (wide)a.den * b.den, out)
				  : finite_real(a.real * b.real, out);
	return why ? why : add_powers(a, b, 1, out);
}

const char *value_div(struct value a, struct value b, struct value *out)
{
	if (b.exact ? b.num == 0 : b.real == 0)
		return division;
	wide num = (wide)a.num * b.den, den = (wide)a.den * b.num;
	const char *why = a.exact && b.exact
				  ? decimal_fraction(den < 0 ? -num : num, value_positive(den), out)
				  : finite_real(a.real / b.real, out);
	return why ? why : add_powers(a, b, -1, out);
}

static const char *whole_of(double rounded, struct value units, struct value *out)
{
	if (fabs(rounded) > 9007199254740992.0)
		return overflow;
	*out = with_units(value_whole((int64_t)rounded), units);
	return NULL;
}

const char *value_floor(struct value a, struct value *out)
{
	if (!a.exact)
		return whole_of(floor(a.real), a, out);
	int64_t n = a.num / a.den - (a.num % a.den < 0);
	*out = with_units(value_whole(n), a);
	return NULL;
}

const char *value_ceil(struct value a, struct value *out)
{
	if (!a.exact)
		return whole_of(ceil(a.real), a, out);
	int64_t n = a.num / a.den + (a.num % a.den > 0);
	*out = with_units(value_whole(n), a);
	return NULL;
}

const char *value_trunc(struct value a, struct value *out)
{
	return a.real < 0 ? value_ceil(a, out) : value_floor(a, out);
}

const char *value_round(struct value a, struct value *out)
{
	struct value half, twice, whole;
	if (!a.exact)
		return whole_of(nearbyint(a.real), a, out);
	const char *why = value_floor(a, &whole);
	if (!why)
		why = value_sub(a, whole, &half);
	if (!why)
		why = value_mul(value_whole(2), half, &twice);
	if (why)
		return why;
	bool up = twice.num > twice.den || (twice.num == twice.den && whole.num % 2 != 0);
	return up ? value_ceil(a, out) : value_floor(a, out);
}

const char *value_abs(struct value a, struct value *out)
{
	if (a.real < 0)
		return value_mul(value_whole(-1), a, out);
	*out = a;
	return NULL;
}

const char *value_float(struct value a, struct value *out)
{
	*out = a;
	return NULL;
}

const char *value_floor_div(struct value a, struct value b, struct value *out)
{
	struct value quotient;
	const char *why = value_div(a, b, &quotient);
	return why ? why : value_floor(quotient, out);
}

const char *value_mod(struct value a, struct value b, struct value *out)
{
	struct value times;
	const char *why = units_join(&a, &b);
	if (!why)
		why = value_floor_div(a, b, &times);
	if (!why)
		why = value_mul(times, b, &times);
	return why ? why : value_sub(a, times, out);
}

static const char *whole_power(struct value a, int64_t n, struct value *out)
{
	struct value result = value_whole(1);
	const char *why = NULL;
	bool invert = n < 0;
	if (n == INT64_MIN)
		return overflow;
	for (n = n < 0 ? -n : n; n && !why; n /= 2) {
		if (n % 2)
			why = value_mul(result, a, &result);
		if (n > 1 && !why)
			why = value_mul(a, a, &a);
	}
	if (why)
		return why;
	*out = result;
	return invert ? value_div(value_whole(1), result, out) : NULL;
}

const char *value_pow(struct value a, struct value b, struct value *out)
{
	if (value_quantity(b) != QUANTITY_BARE)
		return "an exponent has no unit";
	if (b.exact && b.den == 1)
		return whole_power(a, b.num, out);
	if (value_quantity(a) != QUANTITY_BARE)
		return "a unit cannot have a fractional exponent";
	if (a.real < 0)
		return "a negative number cannot have a fractional exponent";
	if (a.real == 0 && b.real < 0)
		return division;
	return finite_real(pow(a.real, b.real), out);
}

/* -1, 0, 1 */
static int value_compare_exact(struct value a, struct value b)
{
	if (!a.exact || !b.exact)
		return (a.real > b.real) - (a.real < b.real);
	wide left = (wide)a.num * b.den, right = (wide)b.num * a.den;
	return (left > right) - (left < right);
}

const char *value_min(struct value a, struct value b, struct value *out)
{
	const char *why = units_join(&a, &b);
	*out = value_compare_exact(a, b) <= 0 ? a : b;
	return why;
}

const char *value_max(struct value a, struct value b, struct value *out)
{
	const char *why = units_join(&a, &b);
	*out = value_compare_exact(a, b) >= 0 ? a : b;
	return why;
}

const char *value_log2(struct value a, struct value *out)
{
	if (value_quantity(a) != QUANTITY_BARE)
		return bare;
	if (a.real <= 0)
		return "the logarithm of a number that is not positive";
	if (a.exact && (a.num & (a.num - 1)) == 0 && (a.den & (a.den - 1)) == 0) {
		*out = value_whole(
			__builtin_ctzll((uint64_t)a.num) - __builtin_ctzll((uint64_t)a.den));
		return NULL;
	}
	*out = value_real(log2(a.real));
	return NULL;
}

/* The whole root of n >= 0, or -1. */
static int64_t whole_root(int64_t n)
{
	int64_t root = (int64_t)sqrt((double)n);
	for (int64_t r = root > 0 ? root - 1 : 0; r <= root + 1; r++)
		if ((wide)r * r == n)
			return r;
	return -1;
}

const char *value_sqrt(struct value a, struct value *out)
{
	if (value_quantity(a) != QUANTITY_BARE)
		return bare;
	if (a.real < 0)
		return "the root of a negative number";
	int64_t num = a.exact ? whole_root(a.num) : -1, den = a.exact ? whole_root(a.den) : -1;
	if (num < 0 || den < 0)
		*out = value_real(sqrt(a.real));
	else
		decimal_fraction(num, den, out);
	return NULL;
}
