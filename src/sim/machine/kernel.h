#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "model/machine/layout.h"
#include "model/machine/primitives.h"

#include <stdint.h>

/*
 * Arithmetic of the machine.  Elements are converted to fp32, computed in fp32,
 * and rounded to nearest even when stored.  int32 and int64 tensors hold their
 * value in an int32; they are exact in fp32 up to 2^24.  Conversions are our own:
 * not every compiler has the types.
 *
 *	fp16, bf16     too large becomes infinite
 *	fp8            E4M3: 448 is the largest, what exceeds it becomes +-448
 *	int8, int32    the nearest limit; NaN becomes 0
 *	bool           kept as fp16, 1 for all but 0
 *	NaN            is stored as the one positive quiet NaN of the format
 *
 * gelu is x/2 * (1 + erf(x / sqrt 2)); relu and the maxima keep a NaN.
 */
float kernel_load(enum dtype dtype, const void *stored);
void kernel_store(enum dtype dtype, void *stored, float value);

/* A primitive's kernel, once; b is unused of one operand. */
float kernel_apply(const struct primitive *primitive, float a, float b);
typedef float (*kernel_function)(const struct primitive *primitive, float a, float b);

#endif
