#ifndef SUPPORT_BROADCAST_DRAW_H
#define SUPPORT_BROADCAST_DRAW_H

#include "base/random.h"

/* A legal `broadcast:` at random, as text: any operation, types, strides, tiles, speeds, links, and
 * one in three with signals.  The scratchpad has an alignment of up to 32 bytes. */
struct arena;
const char *broadcast_draw(struct arena *arena, struct random *random, int64_t alignment);

#endif
