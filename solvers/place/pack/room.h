#ifndef PLACE_PACK_ROOM_H
#define PLACE_PACK_ROOM_H

#include "base/arena.h"
#include "model/packing/buffer.h"

/*
 * Shapes are the units that are packed.  A shape is a buffer, or buffers of which one takes the other's slot: they
 * lie at one address, and together are a staircase in time.
 *
 * The caller decides by buffer whose slot it takes: a parent's, none, or left open.  A buffer left open lacks its
 * first step, the only one in which it may share bytes.  So shapes with open choices are a relaxation: if they do
 * not fit, no choice does.
 */
enum { TAKES_NOBODYS = -1, TAKES_OPEN = -2 };

struct piece {
	int64_t start, end;
	int64_t height; /* > 0, in units */
	int shape;
};

struct pack_shape {
	size_t piece_first, piece_count; /* by time; together without a gap */
	int64_t height;                  /* the greatest */
	int64_t clear;            /* the same with members that never live: of reserved bytes */
	int64_t align, low, high; /* of its address, in units */
};

struct shapes {
	int culprit;  /* a buffer that can lie nowhere, perhaps because of another; -1: none */
	int64_t unit; /* bytes; addresses, heights and the room are counted in it */
	int64_t room; /* units that a section holds */
	size_t count, piece_count;
	struct pack_shape *at;
	struct piece *pieces;
	const int *of;            /* the shape of each buffer; -1 */
	const int64_t *addresses; /* of buffers in no shape, bytes; UNPLACED: not chosen */
	size_t reserved_count;
	const struct byte_range *reserved; /* by address, apart, in units */
};

/* The shape of the chosen buffers (NULL: all) below this capacity. */
struct shapes pack_shapes(const struct packing *packing, const bool *chosen, int64_t capacity,
	const int *takes, struct arena *arena);

/* Returns the buffer whose slot buffer i takes in the end: the first at which `takes` is negative. */
int pack_head(const int *takes, size_t count, int i);

/*
 * Shapes that have nothing to do with all others, since no life reaches from the ones to the
 * others, and when they live.  A section is a largest set of items that live at once; by time they
 * are numbered, and each item lives in a range of them.  Reserved bytes are items that live
 * always, the first of all; items are numbered by their first section.
 */
struct pack_item {
	int first, end;           /* sections */
	int64_t size;             /* the greatest height */
	int64_t clear;            /* what it needs free of reserved bytes */
	int64_t align, low, high; /* of its address */
	const int64_t *heights;   /* by section, from the first; NULL: its size in all */
	int twin;                 /* an item before it that could be it; -1 */
	int shape;                /* -1: reserved bytes */
};

struct room {
	int item_count, section_count;
	int64_t height; /* what a section holds */
	struct pack_item *items;
	const size_t *section_first; /* items of section s: lives[section_first[s] ..[s + 1]) */
	const int *lives;            /* in their order, so those that start in it come last */
	const size_t *section_split; /* the first of those */
	const int *twins;            /* of each item, as there */
	const size_t *meet_first;    /* items that item i meets: meets[meet_first[i] ..[i + 1]) */
	const int *meets;
};

struct rooms {
	size_t count;
	struct room *at;
	bool too_large; /* more pairs of items, or of items and sections, than are kept */
};

/* Fills in who lives where and who meets whom.  False if there are more pairs than may be
 * kept; those counted are added to *pairs. */
bool room_connect(struct room *room, size_t *pairs, struct arena *arena);

struct rooms pack_rooms(const struct shapes *shapes, struct arena *arena);

static inline int64_t item_height(const struct pack_item *item, int section)
{
	return item->heights ? item->heights[section - item->first] : item->size;
}

/* Returns the distance that another that meets the item must keep above its address. */
static inline int64_t item_height_beside(
	const struct pack_item *item, const struct pack_item *other)
{
	if (other->shape == -1)
		return item->clear;
	if (!item->heights)
		return item->size;
	int first = item->first > other->first ? item->first : other->first;
	int end = item->end < other->end ? item->end : other->end;
	int64_t height = 0;
	for (int s = first; s < end; s++)
		height = height > item_height(item, s) ? height : item_height(item, s);
	return height;
}

static inline int64_t item_align(const struct pack_item *item, int64_t address)
{
	if (item->align == 1 || address % item->align == 0)
		return address;
	return address + item->align - address % item->align;
}

#endif
