#ifndef SIM_BOX_H
#define SIM_BOX_H

#include "lower/graph/program.h"

/*
 * A box of units at its place in a memory.  Programs can be wrong, so a box is
 * made by a check: afterwards every unit of it is a stick of its tensor and lies,
 * aligned, inside the memory.
 */
struct box {
	int tensor, rank;
	int64_t unit; /* bytes: one stick, or a stick's elements as fp32 */
	int64_t first[REGION_RANK_MOST], count[REGION_RANK_MOST], stride[REGION_RANK_MOST];
	int64_t step[REGION_RANK_MOST]; /* stick numbers from one unit to the next */
	int64_t address, stick;         /* of the first unit */
	int64_t low, high;              /* the bytes between its first and last */
	int since;                      /* the step from which on the bytes are its own */
};

/* NULL, or what is wrong; *at is then the address that the complaint is about. */
const char *box_make(const struct workload *workload, const struct region *region,
	const struct location *location, int64_t unit, int64_t memory_size, struct box *out,
	int64_t *at);

/* Bytes of one unit of an accumulator of a tensor. */
int64_t box_accumulator_unit(const struct layout *layout);

/*
 * Unit after unit, in the order of their sticks:
 *
 *	struct box_walk walk = box_first(&box);
 *	do
 *		use(walk.address, walk.stick);
 *	while (box_next(&box, &walk));
 */
struct box_walk {
	int64_t at[REGION_RANK_MOST]; /* coordinates inside the box */
	int64_t address, stick;
};

static inline struct box_walk box_first(const struct box *box)
{
	return (struct box_walk){.address = box->address, .stick = box->stick};
}

static inline bool box_next(const struct box *box, struct box_walk *walk)
{
	for (int d = box->rank - 1; d >= 0; d--) {
		walk->address += box->stride[d];
		walk->stick += box->step[d];
		if (++walk->at[d] < box->count[d])
			return true;
		walk->address -= box->stride[d] * box->count[d];
		walk->stick -= box->step[d] * box->count[d];
		walk->at[d] = 0;
	}
	return false;
}

#endif
