#ifndef JOINT_DIMFLIP_H
#define JOINT_DIMFLIP_H

#include "model/graph/op_mapping.h"

/*
 * The variants of one op's division that the published co-optimizer looks at:
 * the given one, and if exactly one loop of the output is divided, the same
 * factor moved to each other loop of the output whose elements and units it
 * divides.  Reduction splits stay.  (The published code does not look at the
 * units, and fails later on half a stick.)
 */
enum { FLIPS_MOST = 6 }; /* the given division included */

struct flips {
	int count;
	struct mapping at[FLIPS_MOST];
};

struct flips flips_find(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *given);

#endif
