#ifndef SUPPORT_COPY_TEXT_H
#define SUPPORT_COPY_TEXT_H

#include "lower/transfer/copy_program.h"

/*
 * A copy program as text, a line for each instruction:
 * "0 in: load src 0 [0+1 0+1 0+1 0+16 0+32] > tile 0 @0", "0 in: set 0", "0 out: wait 0".
 */
struct arena;
const char *copy_text(struct arena *arena, const struct copy_program *program);

#endif
