#ifndef SUPPORT_RANDOM_INNER_H
#define SUPPORT_RANDOM_INNER_H

#include "base/random.h"
#include "model/graph/plan.h"

/*
 * Small machines whose arrays are described: containers and storages inside the scratchpad, with or without
 * fan-outs.  Tiles move in boxes or not; without, the machine has one core.
 */
struct arena;
const struct arch *random_array(struct random *random, bool boxes, struct arena *arena);

/* Gives every step of a plan random loops inside: those of a tile where tiles move in boxes, else of the
 * whole op.  Factors divide; inner storages keep some operands. */
void random_inner(struct random *random, struct plan *plan, struct arena *arena);

#endif
