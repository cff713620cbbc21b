#ifndef SUPPORT_RANDOM_ARRAY_H
#define SUPPORT_RANDOM_ARRAY_H

#include "base/random.h"
#include "model/machine/arch.h"

/*
 * Small machines whose arrays are described: containers and storages inside the scratchpad, with or without
 * fan-outs.  Tiles move in boxes or not; without, the machine has one core.
 */
struct arena;
const struct arch *random_array(struct random *random, bool boxes, struct arena *arena);

#endif
