#ifndef PLACE_PACK_MEMO_H
#define PLACE_PACK_MEMO_H

#include "solvers/place/pack/state.h"

/*
 * States that have failed.  What can still come of some sections depends only on the levels of the
 * items that are left in them, not on how what is below them came there.  Kept from one start to
 * the next; where two states meet, the newer one stays.
 */
struct memo;

struct memo_key {
	uint64_t high, low;
};

struct memo *memo_open(const struct state *state, struct arena *arena);

/* The key of what is left in sections [from, to), which nothing left reaches out of. */
struct memo_key memo_key(const struct memo *memo, int from, int to);

/* Has this failed?  Then the conflict is the one it failed with. */
bool memo_find(const struct memo *memo, struct memo_key key);

/* It has failed, with the conflict that is there now. */
void memo_add(struct memo *memo, struct memo_key key);

#endif
