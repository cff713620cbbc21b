#ifndef SEARCH_RELAXED_H
#define SEARCH_RELAXED_H

#include "model/nest/domain.h"

/*
 * A domain on a machine that has more of something, to ask what stands against
 * it.  Levels by their index in the hierarchy.
 */
struct relaxed {
	struct domain domain; /* of the hierarchy beside it */
	struct hierarchy hierarchy;
};

struct arena;
struct relaxed *relaxed_open(struct arena *arena, const struct domain *domain);

/* What a level must be filled with stays the same number of words. */
void relaxed_set_size(struct relaxed *relaxed, int level, int64_t words);

/* Bounds that only the fan-out limited may be as large as it is now. */
void relaxed_set_fanout(struct relaxed *relaxed, int level, int64_t x, int64_t y);

/* No limit at all: unlimited words; as many instances as any mapping asks for. */
void relaxed_lift_size(struct relaxed *relaxed, int level);
void relaxed_lift_fanout(struct relaxed *relaxed, int level);

#endif
