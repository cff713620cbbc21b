#ifndef PLACE_LOAD_H
#define PLACE_LOAD_H

#include "model/packing/buffer.h"

/*
 * A bound below every packing of all buffers: the most bytes that live in one step, where a child
 * that may take over counts from its second step on, and sizes are rounded up to what all
 * addresses are multiples of, except that of the topmost.  At least the largest size, and the end
 * of every fixed buffer.  Time: n log n.
 */
struct arena;
int64_t packing_load(const struct packing *packing, struct arena *arena);

#endif
