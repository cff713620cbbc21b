#ifndef SIM_COPY_COMBINE_H
#define SIM_COPY_COMBINE_H

#include "model/transfer/broadcast.h"

#include <stdint.h>

/* So many elements of `into` become the one and the other: in integers around their width, in
 * floats with the rounding of each step to the type. */
void copy_combine(enum element element, enum reduction reduction, void *into, const void *with,
	int64_t count);

/* A value out of random bits: any whole number, or a float far from where it would overflow. */
void copy_draw(enum element element, uint64_t bits, void *out);

#endif
