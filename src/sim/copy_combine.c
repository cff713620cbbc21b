#include "sim/copy_combine.h"

#include "sim/kernel.h"

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

static int64_t choose(enum reduction reduction, int64_t a, int64_t b)
{
	if (reduction == REDUCTION_SUM)
		return a + b;
	return (reduction == REDUCTION_MAX) == (a > b) ? a : b;
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

void copy_combine(enum element element, enum reduction reduction, void *into, const void *with)
{
	enum dtype dtype;
	if (find_float(element, &dtype)) {
		float a = kernel_load(dtype, into), b = kernel_load(dtype, with);
		if (reduction == REDUCTION_SUM)
			a += b;
		else if ((reduction == REDUCTION_MAX) == (b > a))
			a = b;
		kernel_store(dtype, into, a);
		return;
	}
	uint32_t value = (uint32_t)choose(
		reduction, load_integer(element, into), load_integer(element, with));
	memcpy(into, &value, (size_t)element_bytes(element));
}

void copy_draw(enum element element, uint64_t bits, void *out)
{
	enum dtype dtype;
	if (find_float(element, &dtype))
		kernel_store(dtype, out, (float)((int64_t)(bits % 4001) - 2000) / 16);
	else
		memcpy(out, &bits, (size_t)element_bytes(element));
}
