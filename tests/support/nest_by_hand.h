#ifndef SUPPORT_NEST_BY_HAND_H
#define SUPPORT_NEST_BY_HAND_H

#include "tests/support/nest_line.h"

/* Nests counted by hand, for tests of every model that counts nests. */
struct nest_by_hand {
	const char *name;
	const char *levels, *einsum, *mapping; /* as nest_line reads them */
	const char *flags[3];                  /* as nest_line_flag does */
	const char *counts;                    /* as nest_line_counts prints them */
	int64_t computes, cycles;
};

extern const struct nest_by_hand nests_by_hand[];
enum { NESTS_BY_HAND = 21 };

struct nest_case *nest_by_hand_make(struct arena *arena, const struct nest_by_hand *nest);

#endif
