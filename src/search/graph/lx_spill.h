#ifndef SEARCH_LX_SPILL_H
#define SEARCH_LX_SPILL_H

#include "search/graph/lx_plan.h"

/*
 * Tensors that live in LX for a part of their lives.
 *
 * Asking: every buffer gets its uses, in steps, and what each transfer weighs:
 * the HBM bytes that its op would move, tiles that are fetched again not
 * counted.  A clone of a graph input is never written back: there its
 * first reader saves the clone's own write as well.  A tensor that must live in
 * LX has no uses, and weighs more than all others.
 *
 * A reload brings the whole tensor once.  So what a placement saves is what the
 * plan saves in HBM bytes where readers read whole tensors, each tile once and by
 * one operand; where an op reads a tensor by two, a reload before it saves more.
 */
void lx_spill_ask(const struct lx_graph *graph, struct lx_buffers *buffers);

/* The plan with an evict behind every part of a life that is not the last, and a reload before
 * every part that does not begin with the tensor. */
struct plan *lx_spill_move(
	const struct plan *plan, const struct lx_layout *layout, struct arena *arena);

/* The part of a life with which a tensor begins; NULL if it begins in HBM or is there in no parts. */
const struct residence_part *lx_spill_first(const struct lx_layout *layout, size_t buffer);

bool lx_spill_is_parted(const struct lx_layout *layout, size_t buffer);

#endif
