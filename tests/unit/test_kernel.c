#include "base/random.h"
#include "sim/machine/kernel.h"
#include "tests/support/draws.h"

#include <math.h>
#include <string.h>

#include "tests/test.h"

/* A small float format by definition, in fp64: sign, exponent, fraction. */
struct format {
	enum dtype dtype;
	int exponent_bits, fraction_bits;
	bool has_infinity; /* else the all-ones exponent holds numbers, but for the last pattern */
};
static const struct format fp16 = {DTYPE_FP16, 5, 10, true};
static const struct format bf16 = {DTYPE_BF16, 8, 7, true};
static const struct format fp8 = {DTYPE_FP8, 4, 3, false};

static double decode(const struct format *format, unsigned pattern)
{
	int bias = (1 << (format->exponent_bits - 1)) - 1;
	int all = (1 << format->exponent_bits) - 1;
	int exponent = (int)(pattern >> format->fraction_bits) & all;
	double fraction =
		ldexp(pattern & ((1u << format->fraction_bits) - 1), -format->fraction_bits);
	double sign = pattern >> (format->exponent_bits + format->fraction_bits) ? -1 : 1;
	if (exponent == all && format->has_infinity)
		return fraction == 0 ? sign * INFINITY : NAN;
	if (exponent == all && fraction == 1 - ldexp(1, -format->fraction_bits))
		return NAN;
	return sign * (exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias));
}

/* The nearest number of the format, even on ties, by fp64's own rounding to whole numbers. */
static double nearest(const struct format *format, double value)
{
	int bias = (1 << (format->exponent_bits - 1)) - 1;
	if (value == 0 || !isfinite(value))
		return isinf(value) && !format->has_infinity ? copysign(448, value) : value;
	int exponent = ilogb(value) < 1 - bias ? 1 - bias : ilogb(value);
	double place = ldexp(1, exponent - format->fraction_bits);
	double rounded = nearbyint(value / place) * place;
	if (format->has_infinity)
		return fabs(rounded) >= ldexp(1, bias + 1) ? copysign(INFINITY, value) : rounded;
	return fabs(rounded) > 448 ? copysign(448, value) : rounded;
}

static unsigned load_bits(const struct format *format, const void *stored)
{
	uint16_t two;
	uint8_t one;
	memcpy(&two, stored, dtype_stored_bytes(format->dtype) == 2 ? 2 : 1);
	memcpy(&one, stored, 1);
	return dtype_stored_bytes(format->dtype) == 2 ? two : one;
}

static void check_store(const struct format *format, float value)
{
	unsigned char stored[4] = {0};
	double expected = nearest(format, (double)value);
	kernel_store(format->dtype, stored, value);
	double got = decode(format, load_bits(format, stored));
	if (isnan(expected) ? !isnan(got) : got != expected || !signbit(got) != !signbit(expected))
		fail_msg("%s of %.17g: expected %.17g, got %.17g", dtype_names[format->dtype],
			(double)value, expected, got);
}

static void check_patterns(const struct format *format)
{
	unsigned count = 1u << (1 + format->exponent_bits + format->fraction_bits);
	for (unsigned pattern = 0; pattern < count; pattern++) {
		uint16_t two = (uint16_t)pattern;
		uint8_t one = (uint8_t)pattern;
		unsigned char again[2];
		double expected = decode(format, pattern);
		float got = kernel_load(format->dtype, count > 256 ? (void *)&two : &one);
		kernel_store(format->dtype, again, got);
		if (isnan(expected)) {
			assert_true(isnan(got));
			assert_true(isnan(decode(format, load_bits(format, again))));
			continue;
		}
		assert_true((double)got == expected && !signbit(got) == !signbit(expected));
		assert_int_equal(load_bits(format, again), pattern);
	}
}

/* Every number, every midpoint to the next, and the floats beside the midpoint. */
static void check_midpoints(const struct format *format)
{
	unsigned half = 1u << (format->exponent_bits + format->fraction_bits);
	for (unsigned pattern = 0; pattern + 1 < half; pattern++) {
		double low = decode(format, pattern), high = decode(format, pattern + 1);
		if (!isfinite(low) || isnan(high))
			break;
		if (isinf(high))
			high = 2 * low - decode(format, pattern - 1);
		float middle = (float)((low + high) / 2);
		for (int sign = -1; sign <= 1; sign += 2) {
			check_store(format, (float)sign * middle);
			check_store(format, (float)sign * nextafterf(middle, INFINITY));
			check_store(format, (float)sign * nextafterf(middle, 0));
		}
	}
}

TEST(fp16_is_exact_both_ways)
{
	check_patterns(&fp16);
	check_midpoints(&fp16);
}

TEST(bf16_is_exact_both_ways)
{
	check_patterns(&bf16);
	check_midpoints(&bf16);
}

TEST(fp8_is_exact_both_ways)
{
	check_patterns(&fp8);
	check_midpoints(&fp8);
}

TEST(any_float_goes_to_the_nearest)
{
	struct random random = random_open(draws_seed(11), 0);
	for (long i = draws(300000); i > 0; i--) {
		uint32_t bits = (uint32_t)random_next(&random);
		float value;
		if (i % 2) /* of sizes that fp16 and fp8 have */
			bits = (bits & 0x807fffff) | (uint32_t)(95 + (bits >> 23) % 50) << 23;
		memcpy(&value, &bits, sizeof value);
		check_store(&fp16, value);
		check_store(&bf16, value);
		check_store(&fp8, value);
	}
}

static float store_and_load(enum dtype dtype, float value)
{
	unsigned char stored[4];
	kernel_store(dtype, stored, value);
	return kernel_load(dtype, stored);
}

TEST(whole_numbers_round_and_saturate)
{
	static const struct {
		enum dtype dtype;
		float value, expected;
	} table[] = {{DTYPE_INT8, 2.5f, 2}, {DTYPE_INT8, 3.5f, 4}, {DTYPE_INT8, -2.5f, -2},
		{DTYPE_INT8, 126.7f, 127}, {DTYPE_INT8, 1e9f, 127}, {DTYPE_INT8, -1e9f, -128},
		{DTYPE_INT8, -INFINITY, -128}, {DTYPE_INT8, NAN, 0},
		{DTYPE_INT32, 16777216, 16777216}, {DTYPE_INT32, -16777215, -16777215},
		{DTYPE_INT32, 3e9f, 2147483648.0f}, {DTYPE_INT64, -3e9f, -2147483648.0f},
		{DTYPE_BOOL, 0, 0}, {DTYPE_BOOL, -0.0f, 0}, {DTYPE_BOOL, 0.25f, 1},
		{DTYPE_BOOL, NAN, 1}, {DTYPE_FP32, 1.1f, 1.1f}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		assert_true(store_and_load(table[i].dtype, table[i].value) == table[i].expected);
	int32_t most;
	kernel_store(DTYPE_INT32, &most, 3e9f);
	assert_int_equal(most, INT32_MAX);
}

TEST(stored_nans_are_one_pattern)
{
	uint16_t half;
	uint32_t word;
	kernel_store(DTYPE_FP16, &half, -NAN);
	assert_int_equal(half, 0x7e00);
	kernel_store(DTYPE_BF16, &half, -NAN);
	assert_int_equal(half, 0x7fc0);
	kernel_store(DTYPE_FP32, &word, -NAN);
	assert_int_equal(word, 0x7fc00000);
}

TEST(maps_compute_their_functions)
{
	static const struct {
		const char *primitive;
		float a, b, expected;
	} table[] = {{"add", 1, 2, 3}, {"sub", 1, 2, -1}, {"mul", 3, 2, 6}, {"div", 1, 3, 1.0f / 3},
		{"maximum", 1, 2, 2}, {"minimum", 1, 2, 1}, {"clone", 7, 0, 7},
		{"exp", 1, 0, 2.71828183f}, {"log", 2, 0, 0.693147181f}, {"rsqrt", 4, 0, 0.5f},
		{"sqrt", 2, 0, 1.41421356f}, {"reciprocal", 4, 0, 0.25f}, {"neg", 4, 0, -4},
		{"abs", -4, 0, 4}, {"relu", -4, 0, 0}, {"relu", 4, 0, 4}, {"sigmoid", 0, 0, 0.5f},
		{"sigmoid", -200, 0, 0}, {"silu", 1, 0, 0.731058579f}, {"tanh", 1, 0, 0.761594156f},
		{"gelu", 1, 0, 0.841344746f}, {"gelu", -1, 0, -0.158655254f}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		float got = primitive_find(table[i].primitive)->kernel(table[i].a, table[i].b);
		if (fabsf(got - table[i].expected) > 1e-7f * fabsf(table[i].expected))
			fail_msg("%s(%g, %g) = %.9g", table[i].primitive, (double)table[i].a,
				(double)table[i].b, (double)got);
	}
	assert_true(isnan(primitive_find("maximum")->kernel(NAN, 1)));
	assert_true(isnan(primitive_find("minimum")->kernel(1, NAN)));
	assert_true(isnan(primitive_find("relu")->kernel(NAN, 0)));
}

static float fold_all(const char *name, const float *values, int count)
{
	const struct primitive *reduction = primitive_find(name);
	float sum = reduction->start;
	for (int i = 0; i < count; i++)
		sum = reduction->kernel(sum, values[i]);
	return reduction->mean ? sum / (float)count : sum;
}

TEST(reductions_do_not_mind_the_order)
{
	static const float values[] = {-0.0f, 0.0f, -3, 5}, back[] = {5, -3, 0.0f, -0.0f};
	static const float zeros[] = {-0.0f, 0.0f}, swapped[] = {0.0f, -0.0f};
	static const float broken[] = {1, NAN, 2};
	assert_true(fold_all("sum", values, 4) == 2);
	assert_true(fold_all("mean", values, 4) == 0.5f);
	assert_true(fold_all("max", values, 4) == 5);
	assert_true(fold_all("min", back, 4) == -3);
	assert_false(signbit(fold_all("max", zeros, 2)));
	assert_false(signbit(fold_all("max", swapped, 2)));
	assert_true(signbit(fold_all("min", zeros, 2)));
	assert_true(signbit(fold_all("min", swapped, 2)));
	assert_true(isnan(fold_all("max", broken, 3)));
	assert_true(isnan(fold_all("min", broken, 3)));
}
