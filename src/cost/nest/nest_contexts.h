#ifndef COST_NEST_CONTEXTS_H
#define COST_NEST_CONTEXTS_H

#include "cost/nest/nest_digits.h"
#include "cost/nest/nest_loops.h"

/*
 * One move step and up to two before it, as one dimension sees them: where the
 * index of the first child stands at each of them.  Few contexts are different
 * in the tiles that children have there; the others are counted with those.
 */
enum { NEST_NOW, NEST_BEFORE, NEST_EARLIER, NEST_TIMES, NEST_CONTEXTS_MOST = 64 };

/* A kind of move step. */
struct nest_turn {
	int times;  /* steps looked at: this one, the one before, the one before that */
	bool start; /* the last of them is the first step of all */
	int now;    /* times > 1: the loop that goes on to this step */
	int before; /* times > 2: the loop that went on to the step before */
};

struct nest_context {
	int64_t count;
	int64_t base[NEST_TIMES]; /* index where the spatial digits of children stand at 0 */
	/* What tells it from others: children that exist, in their order, and indices of the last */
	int64_t children[NEST_TIMES], last[NEST_TIMES];
};

struct nest_contexts {
	int count;
	struct nest_context at[NEST_CONTEXTS_MOST];
};

/*
 * All contexts of a dimension at a turn.  `spread`: bit i, digit i is one that children
 * differ in; `relevant`: where the indices stand and end matters, else only whether they
 * exist.  False when there are too many.
 */
bool nest_contexts_find(const struct nest_passage *passage, const struct nest_digits *digits,
	uint32_t spread, bool relevant, const struct nest_turn *turn, struct nest_contexts *out);

/* Indices of the tile that begins at one; 0 if that does not exist. */
int64_t nest_indices_from(const struct nest_digits *digits, int64_t extent, int64_t index);

#endif
