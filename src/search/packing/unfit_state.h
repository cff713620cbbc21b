#ifndef SEARCH_UNFIT_STATE_H
#define SEARCH_UNFIT_STATE_H

#include "model/packing/buffer.h"

/*
 * What is known of addresses while some pairs are decided, and the rules by which more follows.
 * Everything that a proof rests on is here:
 *
 *   bounds     the first and the last address that each may have: inside the capacity, aligned,
 *              fixed.  i below j: j begins no lower than i's end.  At one address: one bound for
 *              both, a multiple of both alignments.  Bounds that still move after more rounds
 *              than there are buffers go in a circle: a contradiction.
 *   room       at each step, those that must lie between a and b take no more than b - a bytes;
 *              a child that may still share its parent's address does not count in its
 *              first step.
 *   pairs      two that live at once lie one below the other, or lawfully at one address.  What
 *              the bounds exclude is out; if one is left, it holds.
 *
 * Reserved ranges are buffers that are fixed and always live.  Those of no bytes are left out.
 */
struct arena;

enum unfit_relation { PAIR_OPEN, PAIR_BELOW, PAIR_ABOVE, PAIR_SAME, PAIR_APART };

struct unfit_item {
	int64_t size, start, end, alignment;
	bool must; /* be at the address of one of its parents */
};

struct unfit_state {
	int count; /* buffers, then reserved ranges */
	int64_t capacity;
	const struct unfit_item *items;
	const bool *lawful;      /* [child * count + parent] */
	unsigned char *relation; /* [i * count + j]: what i is to j */
	int64_t *low, *high;     /* first and last address */
	int *leader;             /* of those at one address */
};

struct unfit_state unfit_open(struct arena *arena, const struct packing *packing);
struct unfit_state unfit_copy(struct arena *arena, const struct unfit_state *state);

/* Bits 1 << relation of what i may still be to j, two of an open pair. */
int unfit_options(const struct unfit_state *state, int i, int j);

/* Decides an open pair. */
void unfit_decide(struct unfit_state *state, int i, int j, enum unfit_relation relation);

/* Applies all rules until nothing follows.  False: a contradiction. */
bool unfit_settle(struct unfit_state *state, struct arena *arena);

#endif
