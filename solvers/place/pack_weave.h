#ifndef PLACE_PACK_WEAVE_H
#define PLACE_PACK_WEAVE_H

#include "search/solver.h"
#include "solvers/place/pack_room.h"

/*
 * A second search, for rooms that are full or nearly so.  It asks for orders, not for addresses:
 * where nothing is to spare, who lies upon whom says all.  What ends at a wall leaves just the
 * bytes that what begins there takes.  So both part into groups of equal sums, and of each group
 * the ends lie together, and the beginnings together in their place.  All orders in which groups
 * lie together are a tree (pack_tree.h); the walls are crossed in turn, each strand with a way to
 * part what is there, and the strands with the most orders go on.  What is to spare is wastes:
 * items that nobody asked for, which begin when it rises and end when it falls.
 *
 * It finds or does not find; it proves nothing.
 */
struct weave;

/* From the first wall to the last, or from the last to the first.  NULL: not for such a room. */
struct weave *weave_open(const struct room *room, bool is_backwards, struct arena *arena);

/* With at most so many strands at a time, and so many nodes (0: no limit), which are charged to
 * the run; if one is bold, wastes may also change where what is to spare does not, and several
 * begin at once.  True if it found a packing. */
bool weave_run(struct weave *weave, struct run *run, int width, bool is_bold, uint64_t nodes);

/* Is there anything to spare?  If not, to be bold changes nothing. */
bool weave_has_spare(const struct weave *weave);

uint64_t weave_nodes(const struct weave *weave);

/* After weave_run found one: of item i, in units. */
int64_t weave_address(const struct weave *weave, int item);

#endif
