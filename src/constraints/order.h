#ifndef CONSTRAINTS_ORDER_H
#define CONSTRAINTS_ORDER_H

#include "constraints/kind.h"

/*
 * Loop orders as slots: slot 0 is the innermost loop, slot n - 1 the outermost of a shape's n
 * dimensions.  A permutation fills slots from both ends.
 */
enum { ORDER_FREE = 255 };

struct order_slots {
	int count;
	uint8_t at[SHAPE_DIMENSIONS_MOST]; /* a dimension, or ORDER_FREE */
};

struct order_slots order_open(const struct shape *shape);

/* False, and *out as it was, if the two do not go together. */
bool order_merge(struct order_slots *out, const struct constraint *permutation);

/* The slot of a dimension; -1 if it is free. */
int order_find(const struct order_slots *slots, int d);

/* The permutations of one row in a domain's list of constraints. */
struct order_slots order_of_row(const struct domain *domain, int row, enum constraint_part part);

/* Loops of a row that have a bound above 1, innermost first, spatial ones along X before those
 * along Y; how many. */
int order_of_mapping(const struct domain *domain, const struct mapping *mapping, int row,
	enum constraint_part part, uint8_t *loops);

#endif
