#ifndef SUPPORT_RANDOM_RECURRENCE_H
#define SUPPORT_RANDOM_RECURRENCE_H

#include "base/random.h"
#include "model/recurrence/recurrence.h"

/*
 * Small recurrences with made-up bodies, and projections for them, legal or not: up to four loops,
 * a third with a condition on the domain, up to three streams with one or two dependences each.
 */
enum { RANDOM_RECURRENCE_LOOPS = 4 };

struct arena;
void random_recurrence(struct arena *arena, struct random *random, struct recurrence *out);
void random_projection(
	struct random *random, const struct recurrence *recurrence, struct projection *out);

#endif
