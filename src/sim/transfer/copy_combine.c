#include "sim/transfer/copy_combine.h"

#include "sim/machine/kernel.h"

#include <string.h>

static bool find_float(enum element element, enum dtype *out)
{
	switch (element) {
	case ELEMENT_FP32:
		*out = DTYPE_FP32;
		return true;
	case ELEMENT_FP16:
		*out = DTYPE_FP16;
		return true;
	case ELEMENT_BF16:
		*out = DTYPE_BF16;
		return true;
	default:
		return false;
	}
}

static int64_t choose(bool most, int64_t a, int64_t b)
{
	return most == (a > b) ? a : b;
}

static bool has_sign(enum element element)
{
	return element == ELEMENT_INT32 || element == ELEMENT_INT16 || element == ELEMENT_INT8;
}

static int64_t load_integer(enum element element, const void *at)
{
	int bits = 8 * element_bytes(element);
	uint32_t value = 0;
	memcpy(&value, at, (size_t)element_bytes(element));
	int64_t sign = has_sign(element) ? (int64_t)1 << (bits - 1) : 0;
	return ((int64_t)value ^ sign) - sign;
}

static void combine_float(enum dtype dtype, enum reduction reduction, void *into, const void *with)
{
	float a = kernel_load(dtype, into), b = kernel_load(dtype, with);
	if (reduction == REDUCTION_SUM)
		a += b;
	else if ((reduction == REDUCTION_MAX) == (b > a))
		a = b;
	kernel_store(dtype, into, a);
}

/* Sums do not depend on the sign. */
static void add_words(int bytes, uint8_t *into, const uint8_t *with, int64_t count)
{
	for (int64_t i = 0; i < count * bytes; i += bytes) {
		uint32_t a = 0, b = 0;
		memcpy(&a, &into[i], (size_t)bytes);
		memcpy(&b, &with[i], (size_t)bytes);
		a += b;
		memcpy(&into[i], &a, (size_t)bytes);
	}
}

static void add_integers(enum element element, uint8_t *into, const uint8_t *with, int64_t count)
{
	switch (element_bytes(element)) {
	case 1:
		add_words(1, into, with, count);
		break;
	case 2:
		add_words(2, into, with, count);
		break;
	default:
		add_words(4, into, with, count);
	}
}

void copy_combine(
	enum element element, enum reduction reduction, void *into, const void *with, int64_t count)
{
	int bytes = element_bytes(element);
	enum dtype dtype;
	bool is_float = find_float(element, &dtype);
	if (!is_float && reduction == REDUCTION_SUM) {
		add_integers(element, into, with, count);
		return;
	}
	for (int64_t i = 0; i < count; i++) {
		uint8_t *a = (uint8_t *)into + i * bytes;
		const uint8_t *b = (const uint8_t *)with + i * bytes;
		if (is_float) {
			combine_float(dtype, reduction, a, b);
			continue;
		}
		uint32_t value = (uint32_t)choose(reduction == REDUCTION_MAX,
			load_integer(element, a), load_integer(element, b));
		memcpy(a, &value, (size_t)bytes);
	}
}

void copy_draw(enum element element, uint64_t bits, void *out)
{
	enum dtype dtype;
	if (find_float(element, &dtype))
		kernel_store(dtype, out, (float)((int64_t)(bits % 4001) - 2000) / 16);
	else
		memcpy(out, &bits, (size_t)element_bytes(element));
}
