#ifndef PLACE_PEAK_BOUND_H
#define PLACE_PEAK_BOUND_H

#include "model/packing/buffer.h"
#include "search/drive/solver.h"

/*
 * Raises a bound below the least peak: what lives in a window of time does not fit into as much as
 * the bound, so all does not.  Windows begin with one step and double.  Lives are clipped
 * to the window; a buffer that then lives in all of it may as well lie at the bottom, since all
 * else is above it or below, and its bytes are taken off the capacity.
 *
 * `grain` is what the least peak is a multiple of.  Each question gets this many nodes; the first
 * that is not decided is the last.  The bound stays at most a grain above the packing's capacity.
 */
struct window {
	const struct packing *packing;
	int64_t step, bound, grain;
	bool grows_left;       /* to both sides, not only to the right */
	size_t most;           /* buffers in a window, those at the bottom apart */
	uint64_t nodes, spent; /* for a question; on all, added up */
};
void peak_bound(struct run *run, struct window *window);

#endif
