#ifndef PLACE_SECTIONS_H
#define PLACE_SECTIONS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Time as far as it matters: a section is a largest set of lives that go on at once.  A new one
 * begins with the first start after an end.
 */
struct life {
	int64_t start, end; /* half-open */
};

/* Sections in which one goes on, half-open. */
struct stay {
	int first, end;
};

/* By life; returns how many sections there are. */
int sections_find(size_t count, const struct life *lives, struct stay *stays);

#endif
