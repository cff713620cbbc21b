#ifndef SUPPORT_NEST_CASE_H
#define SUPPORT_NEST_CASE_H

#include "base/random.h"
#include "model/hierarchy.h"

/*
 * A random small nest: shape, hierarchy and a mapping whose bounds fit, for tests that compare
 * two ways of counting it.  Rows of the mapping: the hierarchy's levels outermost first, then the
 * multipliers (row = level_count - 1 - level; compute_row = level_count).
 */
struct nest_case {
	struct shape shape;
	struct hierarchy hierarchy;
	struct mapping mapping;
};

struct nest_case_options {
	bool imperfect, sliding, bypass, spatial, flags;
	int64_t steps_most; /* product of the extents at most */
};

void nest_case_draw(
	struct random *random, const struct nest_case_options *options, struct nest_case *out);

/* Everything about it in a few lines, for the message of a failing test. */
const char *nest_case_text(struct arena *arena, const struct nest_case *nest);

#endif
