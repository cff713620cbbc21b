#ifndef MODEL_PACKING_PACKING_SUMS_H
#define MODEL_PACKING_PACKING_SUMS_H

#include "model/packing/buffer.h"

/*
 * What a packing and a placement add up to.
 */
struct arena;

/* From a step on, this many bytes live. */
struct load_step {
	int64_t from, bytes;
};

/*
 * The load over time: of all buffers, or of those that a placement keeps.  A child that may take
 * a place, or does, counts from its second step on.  Steps rise; the last has no bytes.
 */
struct load_curve {
	size_t count;
	const struct load_step *steps;
	size_t most; /* the first step of the highest load; count: nothing lives */
};

struct load_curve load_curve(
	struct arena *arena, const struct packing *packing, const struct placement *placement);

/* True if a buffer is counted in the load of all at a step. */
bool packing_counts_at(const struct packing *packing, size_t buffer, int64_t step);

/* What is reserved below the capacity, by address; ranges that touch are one.  *count of them. */
struct byte_range *packing_reserved(
	struct arena *arena, const struct packing *packing, int64_t capacity, size_t *count);

/* Bytes of the capacity that are not reserved. */
int64_t packing_room(struct arena *arena, const struct packing *packing);

/* The first declared parent of buffer i, no smaller, that lies at this address; -1. */
int packing_parent_at(const struct packing *packing, const struct placement *placement, size_t i,
	int64_t address);

/* Notes who took whose place, of those that are there for their whole life. */
void placement_note(const struct packing *packing, struct placement *placement);

/* The highest end of what is placed; 0: nothing is. */
int64_t placement_peak(const struct packing *packing, const struct placement *placement);

/* Buffers that are placed, at least for a part of their lives. */
size_t placement_count(const struct placement *placement);

/*
 * What is saved: the weight of a buffer without uses that is placed; of another, its weight for
 * each read that finds it since the use before, and for each write that is read, all of whose
 * reads do.
 */
int64_t placement_saved(const struct packing *packing, const struct placement *placement);

/* The same if everything were kept. */
int64_t packing_weights(const struct packing *packing);

#endif
