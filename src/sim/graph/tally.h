#ifndef SIM_TALLY_H
#define SIM_TALLY_H

#include "model/graph/counts.h"
#include "sim/graph/nests.h"
#include "sim/transfer/schedule.h"

/*
 * Counts bytes from the boxes that executed instructions move, and energy from
 * those bytes; of nests what they did.  An opaque op counts in HBM alone.  Of several
 * ranks it counts what a root has and does, as if one were the root of all broadcasts.
 */
struct arena;

struct tally {
	const struct program *program;
	const struct nests *nests;
	int64_t *nest_tiles[2]; /* by step: computes that carried out its nest; that resumed sums */
	struct counts counts;
	int64_t resident_end; /* tile buffers begin here */
	struct hops hops;     /* of several ranks */
	int64_t lx_peak;      /* end of the highest bytes below it that were used */
};

struct tally tally_make(
	const struct program *program, const struct nests *nests, struct arena *arena);
void tally_add(struct tally *tally, const struct instruction *instruction);
void tally_close(struct tally *tally, struct arena *arena); /* what nests did */

#endif
