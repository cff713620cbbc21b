#ifndef PLACE_SKYLINE_H
#define PLACE_SKYLINE_H

#include "solvers/place/items.h"

/*
 * Items on top of each other: each lies on the highest of what was put before it and lives with
 * it.  Holes below are not looked for, so that an item costs log(sections).
 * Put in the order of the addresses of a packing, none comes to lie higher than it did there.  For
 * items without fixed addresses, and no reserved ranges.
 */
struct skyline;

struct skyline *skyline_make(const struct items *items, struct arena *arena);
void skyline_clear(struct skyline *skyline);

/* Its address; UNPLACED if it would end above `limit`. */
int64_t skyline_put(struct skyline *skyline, size_t item, int64_t limit);

#endif
