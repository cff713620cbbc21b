#ifndef MODEL_DTYPE_H
#define MODEL_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Element types.  A device stores elements in sticks of STICK_BYTES; it keeps
 * bool as fp16 and int64 as int32 (torch-spyre, SpyreTensorLayout), so
 * the bytes of the host's element and of the stored element can differ.
 */
enum { STICK_BYTES = 128 };

enum dtype {
	DTYPE_FP16,
	DTYPE_BF16,
	DTYPE_FP32,
	DTYPE_INT8,
	DTYPE_INT32,
	DTYPE_BOOL,
	DTYPE_INT64,
	DTYPE_FP8, /* E4M3 */
	DTYPE_COUNT,
};

extern const char *const dtype_names[]; /* in the order of the enum, NULL ends them */

int dtype_host_bytes(enum dtype dtype);   /* of one element in a host array */
int dtype_stored_bytes(enum dtype dtype); /* of one element in a stick */
int dtype_per_stick(enum dtype dtype);    /* STICK_BYTES / stored bytes */

/* The type of a word of 8, 16 or 32 bits where nothing says it (int8, fp16, fp32); false for other
 * widths. */
bool dtype_of_word(int64_t bits, enum dtype *out);

#endif
