#ifndef IMPORT_ONNX_STRIP_H
#define IMPORT_ONNX_STRIP_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A copy of a serialized ModelProto without what a plan does not need: data of tensors above
 * STRIP_BYTES_MOST and documentation.  Only the lengths of these are read, so that weights of gigabytes are never
 * loaded.  False: the bytes are not such a message, and *at is the byte where they end to be one.
 */
enum { STRIP_BYTES_MOST = 1 << 15 };

bool onnx_strip(const uint8_t *bytes, size_t length, struct text *out, size_t *at);

#endif
