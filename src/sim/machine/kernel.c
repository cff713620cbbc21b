#include "sim/machine/kernel.h"

#include "base/fatal.h"

#include <math.h>
#include <string.h>

/* The NaN that is stored for every NaN: arithmetic does not define which one an addition returns. */
enum { FP16_NAN = 0x7e00, BF16_NAN = 0x7fc0, FP8_NAN = 0x7f, FP32_NAN = 0x7fc00000 };

static uint32_t float_bits(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static float bits_float(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/*
 * Small floats: a sign, `exponent` bits, `mantissa` bits.  All are subsets of
 * fp32, so widening is exact.  Subnormals are whole multiples of the least one.
 */
static float float_widen(uint32_t bits, int exponent_bits, int mantissa_bits)
{
	uint32_t sign = bits >> (exponent_bits + mantissa_bits) << 31;
	uint32_t exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
	uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
	int bias = (1 << (exponent_bits - 1)) - 1;
	if (exponent == 0) {
		float least = bits_float((uint32_t)(128 - bias - mantissa_bits) << 23);
		return bits_float(sign | float_bits((float)mantissa * least));
	}
	return bits_float(
		sign | (exponent + 127u - (uint32_t)bias) << 23 | mantissa << (23 - mantissa_bits));
}

/*
 * The magnitude of a float in a smaller format, to nearest even.  Adding half
 * of the last kept place, less one unless that place is odd, carries exactly
 * when the value rounds up, into the exponent where it must.  The result may be
 * past the format's largest.
 */
static uint32_t round_to_bits(float value, int exponent_bits, int mantissa_bits)
{
	uint32_t magnitude = float_bits(value) & 0x7fffffff;
	int bias = (1 << (exponent_bits - 1)) - 1;
	int dropped = 23 - mantissa_bits;
	if (magnitude >> 23 <= (uint32_t)(127 - bias)) {
		/* 1.5 * 2^23 least subnormals: fp32's own rounding leaves their
		 * number in the low bits of the sum */
		float large = bits_float((uint32_t)(127 - bias + 1 + dropped) << 23 | 1u << 22);
		return float_bits(bits_float(magnitude) + large) - float_bits(large);
	}
	magnitude += (1u << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
	return (magnitude >> dropped) - ((uint32_t)(127 - bias) << mantissa_bits);
}

static float load_fp16(uint32_t bits)
{
	if ((bits & 0x7c00) == 0x7c00)
		return bits_float((bits & 0x8000) << 16 | 0x7f800000 | (bits & 0x3ff) << 13);
	return float_widen(bits, 5, 10);
}

static uint32_t store_fp16(float value)
{
	uint32_t sign = float_bits(value) >> 16 & 0x8000;
	if (isnan(value))
		return FP16_NAN;
	if (fabsf(value) >= 65536)
		return sign | 0x7c00;
	return sign | round_to_bits(value, 5, 10);
}

static uint32_t store_bf16(float value)
{
	uint32_t bits = float_bits(value);
	if (isnan(value))
		return BF16_NAN;
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static float load_fp8(uint32_t bits)
{
	return (bits & 0x7f) == 0x7f ? NAN : float_widen(bits, 4, 3);
}

static uint32_t store_fp8(float value)
{
	enum { LARGEST = 0x7e }; /* 448 */
	uint32_t sign = float_bits(value) >> 24 & 0x80;
	if (isnan(value))
		return FP8_NAN;
	if (fabsf(value) >= 448)
		return sign | LARGEST;
	return sign | round_to_bits(value, 4, 3);
}

/* To the nearest whole number, even on ties; the nearest limit outside; 0 for NaN. */
static int32_t store_integer(float value, int32_t least, int32_t most)
{
	if (isnan(value))
		return 0;
	if (value <= (float)least)
		return least;
	if (value >= (float)most)
		return most;
	return (int32_t)rintf(value);
}

float kernel_load(enum dtype dtype, const void *stored)
{
	uint16_t half;
	uint8_t byte;
	int32_t integer;
	float value;
	switch (dtype) {
	case DTYPE_FP16:
	case DTYPE_BOOL:
		memcpy(&half, stored, sizeof half);
		return load_fp16(half);
	case DTYPE_BF16:
		memcpy(&half, stored, sizeof half);
		return bits_float((uint32_t)half << 16);
	case DTYPE_FP32:
		memcpy(&value, stored, sizeof value);
		return value;
	case DTYPE_INT8:
		memcpy(&byte, stored, sizeof byte);
		return (float)(int8_t)byte;
	case DTYPE_INT32:
	case DTYPE_INT64:
		memcpy(&integer, stored, sizeof integer);
		return (float)integer;
	case DTYPE_FP8:
		memcpy(&byte, stored, sizeof byte);
		return load_fp8(byte);
	case DTYPE_COUNT:
		break;
	}
	BUG("no dtype %d", (int)dtype);
}

void kernel_store(enum dtype dtype, void *stored, float value)
{
	uint32_t bits = 0;
	switch (dtype) {
	case DTYPE_FP16:
		bits = store_fp16(value);
		break;
	case DTYPE_BOOL:
		bits = store_fp16(value != 0); /* NaN is not 0 */
		break;
	case DTYPE_BF16:
		bits = store_bf16(value);
		break;
	case DTYPE_FP32:
		bits = isnan(value) ? FP32_NAN : float_bits(value);
		break;
	case DTYPE_INT8:
		bits = (uint32_t)store_integer(value, INT8_MIN, INT8_MAX);
		break;
	case DTYPE_INT32:
	case DTYPE_INT64:
		bits = (uint32_t)store_integer(value, INT32_MIN, INT32_MAX);
		break;
	case DTYPE_FP8:
		bits = store_fp8(value);
		break;
	case DTYPE_COUNT:
		BUG("no dtype %d", (int)dtype);
	}
	uint16_t half = (uint16_t)bits;
	uint8_t byte = (uint8_t)bits;
	switch (dtype_stored_bytes(dtype)) {
	case 1:
		memcpy(stored, &byte, sizeof byte);
		return;
	case 2:
		memcpy(stored, &half, sizeof half);
		return;
	default:
		memcpy(stored, &bits, sizeof bits);
	}
}

float kernel_apply(const struct primitive *primitive, float a, float b)
{
	return primitive->kernel(a, b);
}
