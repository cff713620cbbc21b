#ifndef MODEL_ELEMENT_H
#define MODEL_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Element types of tensors that are only copied between ranks.  Two types of one width are
 * different types.  In specs they have the names of the C++ types (`fp32`), in assembly those of
 * MLIR (`f32`); both are read everywhere.
 */
enum element {
	ELEMENT_FP32,
	ELEMENT_INT32,
	ELEMENT_UINT32,
	ELEMENT_FP16,
	ELEMENT_BF16,
	ELEMENT_INT16,
	ELEMENT_UINT16,
	ELEMENT_INT8,
	ELEMENT_UINT8,
	ELEMENT_COUNT,
};

extern const char *const element_names[]; /* in the order of the enum, NULL ends them */

/* The type that the first `length` bytes of a word name; false if they name none. */
bool element_parse(const char *word, size_t length, enum element *out);
const char *element_short_name(enum element element); /* "f32" */
int element_bytes(enum element element);

#endif
