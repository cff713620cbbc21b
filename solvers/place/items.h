#ifndef PLACE_ITEMS_H
#define PLACE_ITEMS_H

#include "model/packing/buffer.h"

#include <stdbool.h>

/*
 * What is placed at one address: a buffer, or a parent with the child that takes its place, the
 * child of that, and so on.  A child is no larger, so an item is a flight of steps downwards in
 * time; each buffer's part is what it adds to the one before.
 *
 * Time is counted in sections: one begins where a life begins after another ended, so that lives
 * that meet share a section, and no others do.
 *
 * Where all buffers must be placed, items may lie above the capacity: how far is what
 * a search brings down.
 */
struct arena;

struct item_part {
	int first, end; /* sections, half-open */
	int64_t size;
	size_t buffer;
};

struct item {
	size_t first_part, part_count; /* in time; first == end: no bytes or no life */
	int64_t step;                  /* its address is a multiple of */
	int64_t least, most;           /* its address; most < least: there is none */
	int64_t size;                  /* the most of its parts */
	double area, weight;           /* bytes x time; of all its buffers */
	int64_t life;
};

struct items {
	struct packing packing; /* with the reserved ranges behind its buffers */
	size_t buffer_count;    /* without them */
	size_t count;
	struct item *at;
	struct item_part *parts;
	int *parents; /* by buffer: whose place it takes; -1 */
	int *of;      /* by buffer: its item; -1: it must take over, and has no one to take from */
	int section_count;
	bool bound_somewhere; /* an address is fixed, or a range reserved */
};

/* Each child takes the place of the first parent that is still free and lets it; those that must,
 * before the others.  Time: n log n. */
struct items *items_make(const struct packing *packing, struct arena *arena);

/* Whether an item is a reserved range. */
bool items_range(const struct items *items, size_t item);

/* Whether it may lie at one address only, of its own wish. */
bool items_fixed(const struct items *items, size_t item);

/* Writes the items' addresses (UNPLACED: none) to their buffers. */
void items_place(const struct items *items, const int64_t *addresses, struct placement *placement);

#endif
