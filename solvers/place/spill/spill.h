#ifndef PLACE_SPILL_SPILL_H
#define PLACE_SPILL_SPILL_H

#include "model/packing/buffer.h"
#include "search/drive/solver.h"

/*
 * Which buffers, or which parts of their lives, to keep so that most is saved: logic-based Benders
 * decomposition.  An integer program of rows that every packing holds names the
 * most valuable set; the packer says whether it packs; what does not is cut off, and sets that the
 * packer cannot decide stay in the bound.  Meanwhile sets that pack are made better
 * (climb.h).
 *
 * The value offered is the weight that is lost: of all transfers that could be saved, those that
 * are not.  The bound proven is the least weight that must be lost.
 */
void spill_run(struct run *run, const struct problem *problem);

#endif
