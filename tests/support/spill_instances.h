#ifndef SUPPORT_SPILL_INSTANCES_H
#define SUPPORT_SPILL_INSTANCES_H

#include "model/packing/buffer.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Packings that hold only a part of their buffers, one weight for each: its size times 1 to 8.
 */
struct arena;

/* n buffers of 1 to 64 KiB, each alive for 1 to n / 6 of n / 2 steps, uniformly drawn; the
 * capacity is this part of the load.  n >= 12. */
struct packing spill_random(struct arena *arena, uint64_t seed, size_t n, int percent);

/* The buffers of a table "id,lower,upper,size"; this part of the capacity.  False: it cannot be
 * read. */
bool spill_table(struct arena *arena, const char *path, uint64_t seed, int64_t capacity,
	int percent, struct packing *packing);

/* The most bytes that live at once. */
int64_t spill_load(const struct packing *packing);

#endif
