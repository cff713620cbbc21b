#ifndef SEARCH_DRIVE_REFUSALS_H
#define SEARCH_DRIVE_REFUSALS_H

#include "base/array.h"

#include <stdint.h>

/* Why candidates were refused, and how many of them for each reason. */
struct arena;

struct refusal {
	const char *why;
	uint64_t count;
};
struct refusals array(struct refusal);

/* `count` more of them; the sentence is copied. */
void refusals_add(struct refusals *refusals, struct arena *arena, const char *why, uint64_t count);

/* The most frequent first. */
void refusals_sort(struct refusals *refusals);

/* A line for each reason: "does not fit (12 candidates)". */
const char **refusals_lines(const struct refusals *refusals, struct arena *arena);

#endif
