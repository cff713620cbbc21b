#ifndef PLACE_PACK_CORE_H
#define PLACE_PACK_CORE_H

#include "solvers/place/pack/pack.h"

/*
 * Fewer buffers that do not fit: those that live around a step at which it is hardest, of those
 * as few as a proof is soon found for.  Every set of buffers that has them all does not fit
 * either.  `proof` is the answer to the question.  The count is 0 if no such set is known.
 */
struct pack_core {
	size_t count;
	const int *buffers; /* ascending */
};
struct pack_core pack_core_find(struct run *run, const struct pack_question *question,
	const struct pack_answer *proof, struct arena *arena);

#endif
