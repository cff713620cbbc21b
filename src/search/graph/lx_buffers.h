#ifndef SEARCH_LX_BUFFERS_H
#define SEARCH_LX_BUFFERS_H

#include "model/packing/buffer.h"
#include "search/graph/lx_passes.h"

/*
 * What the placement solver is asked: the tensors of a graph that may live in
 * LX, as buffers with sizes per core and lifetimes in steps.  A tensor may when
 * it is the output of an op on the list, no graph output, its writer and
 * readers agree on which core holds what, and no opaque op runs while it lives.
 * The others get their reason in graph->reasons.
 *
 * A buffer's parents are tensors whose bytes it may take: its op is on the
 * in-place list and reads the parent last, element by element as it writes, in
 * the same layout and size.
 */
struct lx_buffers {
	struct packing packing;
	size_t tensor_count;      /* the buffers behind are staging tiles */
	const int *tensors;       /* by buffer */
	const struct view *views; /* by buffer */
};

struct lx_buffers lx_buffers(const struct lx_graph *graph);

#endif
