#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "model/workload.h"

#include <stdint.h>

/*
 * Arithmetic of the machine.  Elements are converted to fp32, computed in fp32,
 * and rounded to nearest even when stored.  int32 and int64 tensors hold their
 * value in an int32; they are exact in fp32 up to 2^24.  Conversions are our own:
 * not every compiler has the types.  fp8 is E4M3 with saturation.
 */
float kernel_load(enum dtype dtype, const void *stored);
void kernel_store(enum dtype dtype, void *stored, float value);

/* One application of a map's function; b is unused for one operand. */
float kernel_map(enum op_function function, float a, float b);

/* Reductions: start value, one step, end (mean divides by the number of elements). */
float kernel_start(enum op_function function);
float kernel_fold(enum op_function function, float sum, float value);
float kernel_finish(enum op_function function, float sum, int64_t elements);

#endif
