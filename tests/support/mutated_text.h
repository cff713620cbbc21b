#ifndef SUPPORT_MUTATED_TEXT_H
#define SUPPORT_MUTATED_TEXT_H

#include "base/random.h"

/* The text with one or two places changed: a character other, gone, new, or a few said twice. */
struct arena;
const char *mutated_text(struct arena *arena, struct random *random, const char *seed);

#endif
