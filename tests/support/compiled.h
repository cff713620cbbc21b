#ifndef SUPPORT_COMPILED_H
#define SUPPORT_COMPILED_H

#include "base/text.h"

/*
 * Generated C, compiled and run: `program` defines project_0 .. project_(count - 1), which are called
 * in turn.  What they print; the test fails with the compiler's words if it has any.
 */
struct arena;
const char *compiled_run(struct arena *arena, struct text *program, long count);

#endif
