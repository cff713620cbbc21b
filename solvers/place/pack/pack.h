#ifndef PACK_PACK_H
#define PACK_PACK_H

#include "base/stopper.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
/*
 * The exact packer answers if one set of buffers fits: for `place/exact` and its three goals, and for the spill search
 * and each set that it would keep.  Complete: without a limit it ends with VERDICT_YES or VERDICT_NO.  Charges its
 * nodes to the run, and ends soon after the run does.
 *
 * The buffers become shapes and rooms (room.h); each room is searched alone.  The search branches on one section:
 * which item stands next on its floor, or none?  A niche is a run of sections whose floors are level and whose
 * neighbours' are higher; an item that may stand on a niche's floor lies wholly in it.  The next section of all niches
 * is the one with the fewest choices and the most failures so far.  Without loss, items lie as low as those below let
 * them.  state.h has the propagation; a table keeps failed states from one start to the next.
 */
struct pack_question {
	const struct packing *packing; /* its goal does not matter */
	const bool *chosen;            /* by buffer; NULL: all of them */
	int64_t capacity;              /* bytes; no more than the packing's */
	uint64_t nodes;                /* at most this many; 0: no limit */
	bool returns; /* all starts are guided by the last solution: where one more layout of very
	               * many is looked for, not the first or none.  Else some are */
	bool varied;  /* each start draws the order of its items: where much room is to spare */
	bool explain; /* look for a small core if they do not fit */
};

struct pack_answer {
	enum verdict status;
	bool is_too_large; /* VERDICT_OPEN: more pairs of buffers that meet than the packer keeps */
	uint64_t nodes, restarts;
	const struct placement *placement; /* VERDICT_YES: of the chosen, the others are UNPLACED */
	size_t core_count; /* VERDICT_NO and asked: few that do not fit, even alone */
	const int *core;
	int64_t hardest; /* unless it fits: a step at which it often failed */
};

/* The answer lives in the arena. */
struct pack_answer pack(struct run *run, const struct pack_question *question, struct arena *arena);

#endif
