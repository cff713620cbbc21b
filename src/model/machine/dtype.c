#include "model/machine/dtype.h"

#include <stddef.h>

const char *const dtype_names[] = {
	"fp16", "bf16", "fp32", "int8", "int32", "bool", "int64", "fp8", NULL};

static const struct {
	int host, stored;
} dtype_bytes[DTYPE_COUNT] = {
	[DTYPE_FP16] = {2, 2},
	[DTYPE_BF16] = {2, 2},
	[DTYPE_FP32] = {4, 4},
	[DTYPE_INT8] = {1, 1},
	[DTYPE_INT32] = {4, 4},
	[DTYPE_BOOL] = {1, 2},
	[DTYPE_INT64] = {8, 4},
	[DTYPE_FP8] = {1, 1},
};

int dtype_host_bytes(enum dtype dtype)
{
	return dtype_bytes[dtype].host;
}

int dtype_stored_bytes(enum dtype dtype)
{
	return dtype_bytes[dtype].stored;
}

int dtype_per_stick(enum dtype dtype)
{
	return STICK_BYTES / dtype_bytes[dtype].stored;
}

bool dtype_of_word(int64_t bits, enum dtype *out)
{
	*out = bits == 8 ? DTYPE_INT8 : bits == 32 ? DTYPE_FP32 : DTYPE_FP16;
	return bits == 8 || bits == 16 || bits == 32;
}
