#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>

/*
 * A table from names to numbers in an arena; all zero is an empty table.
 * Names are kept by pointer and must live as long as the table.
 */
struct arena;

struct name_slot {
	const char *name; /* NULL: free */
	int number;
};

struct names {
	struct name_slot *slots;
	size_t count, capacity; /* capacity is 0 or a power of two */
};

/* The number of a name; -1 when it is unknown. */
int names_find(const struct names *names, const char *name);

/* Gives an unknown name a number >= 0.  Adding a name twice is a bug. */
void names_add(struct arena *arena, struct names *names, const char *name, int number);

#endif
