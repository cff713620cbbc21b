#ifndef SEARCH_PACKING_UNFIT_H
#define SEARCH_PACKING_UNFIT_H

#include "base/stopper.h"
#include "model/packing/buffer.h"

/*
 * Proofs that buffers do not fit, found and checked apart from every solver.  A proof is a tree:
 * at each fork two buffers that live at once, and in the branches all that they can be to each
 * other: the first below the second, above it, or, where that is lawful, at one address.  What
 * follows from it by simple rules is not written down; at each leaf they lead
 * to a contradiction.  Branches that the rules exclude are left out.
 */
struct arena;

enum { UNFIT_BUFFERS_MOST = 200, UNFIT_FORKS_MOST = 50000 };

/* A fork between two buffers of the packing, a < b, or a leaf: a = -1. */
struct unfit_node {
	int a, b;
};

struct unfit_proof {
	size_t count;
	const struct unfit_node *nodes; /* a fork, then its branches in order */
};

/* Limits of a proof; the stopper is called before every application of the rules. */
struct unfit_limits {
	size_t forks;
	struct stopper stopper;
};

/*
 * The packing of some of the buffers.  A buffer whose parents are not all among them need not
 * take over: what remains asks for less than the whole did.
 */
struct packing packing_of_some(
	struct arena *arena, const struct packing *packing, size_t count, const int *buffers);

/* Looks for a proof that not all buffers fit.  False: none was found within this many forks. */
bool unfit_prove(const struct packing *packing, const struct unfit_limits *limits,
	struct arena *arena, struct unfit_proof *out);

/* Leaves buffers out as long as `forks` are enough to prove that the others do not fit; changes the
 * list. */
size_t unfit_shrink(const struct packing *packing, size_t count, int *buffers,
	const struct unfit_limits *limits);

/* The verdict about a proof, within this many forks. */
struct unfit_checked {
	bool decided;    /* false: there are more forks, or it was asked to stop */
	const char *why; /* why it is none; NULL */
	size_t at;       /* and at which node */
};
struct unfit_checked unfit_check(const struct packing *packing, const struct unfit_proof *proof,
	const struct unfit_limits *limits);

#endif
