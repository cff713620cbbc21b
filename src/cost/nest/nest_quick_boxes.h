#ifndef COST_NEST_QUICK_BOXES_H
#define COST_NEST_QUICK_BOXES_H

#include "cost/nest/nest_quick_state.h"

/*
 * Corrects what the way inwards has found of a dataspace as if each of its ranks were one plain
 * dimension: its tiles, the words that fill them, the groups of blocks.  False where the long way
 * must count it: where neighbours may hand words on, and where the groups of children that take the
 * same are no product.  Its tiles are right in any case.
 */
bool quick_boxes(struct quick_state *state, int t, bool exact);

#endif
