#ifndef SUPPORT_NAIVE_PLACE_H
#define SUPPORT_NAIVE_PLACE_H

#include "model/packing/buffer.h"

/*
 * A second opinion on small packings: every way to choose in whose place each child lies, then
 * every order of what is left, one after the other at the lowest lawful address, never below the
 * one before.  If any packing exists, one of the least sum of addresses does, and
 * its buffers, lowest first, come out so.  It shares nothing with the solvers.
 */
enum naive_verdict { NAIVE_FITS, NAIVE_NEVER, NAIVE_UNKNOWN };

struct naive_answer {
	enum naive_verdict verdict;
	int64_t peak; /* NAIVE_FITS: the least, unless `any` was asked for */
	uint64_t nodes;
};

/* For the chosen buffers, NULL: all; gives up after this many nodes.  Below 32 buffers. */
struct naive_answer naive_place(
	const struct packing *packing, const bool *chosen, bool any, uint64_t nodes);

/* The least that can be lost: weights of buffers without a place, bytes if all weights are 0.
 * -1: gave up.  At most 10 buffers. */
int64_t naive_spill(const struct packing *packing, uint64_t nodes);

/* NULL, or what is wrong with a placement. */
const char *naive_wrong(const struct packing *packing, const struct placement *placement);

#endif
