#ifndef PLACE_PACK_CONFLICT_H
#define PLACE_PACK_CONFLICT_H

#include "solvers/place/pack/room.h"

/*
 * Which items a failure is about.  All that a search does follows from the levels of items and
 * from which are placed; a conflict is a set of items whose states suffice for the failure.  As
 * changes are taken back, an item that was changed is replaced by those because of which it was;
 * a change of none of the set did not matter.
 */
struct because {
	enum { BECAUSE_ITEM, BECAUSE_SECTIONS, BECAUSE_EMPTY } kind;
	int index; /* the item that was placed, or the section where one looked */
	int end;   /* sections: the first after them */
};

static inline struct because because_item(int i)
{
	return (struct because){BECAUSE_ITEM, i, i};
}

static inline struct because because_sections(int first, int end)
{
	return (struct because){BECAUSE_SECTIONS, first, end};
}

static inline struct because because_section(int s)
{
	return because_sections(s, s + 1);
}

static inline struct because because_boundary(int t)
{
	return because_sections(t - 1, t + 1);
}

/* For a section left empty: also what could lift its items. */
static inline struct because because_empty(int s)
{
	return (struct because){BECAUSE_EMPTY, s, s + 1};
}

struct conflict {
	const struct room *room;
	size_t words;
	uint64_t *set;      /* of the last failure, by item */
	uint64_t *sections; /* items of each section */
	uint64_t *around;   /* items of each section, and all that they meet */
};

/* NULL if the room is too large for it. */
struct conflict *conflict_open(const struct room *room, struct arena *arena);

/* A new failure. */
void conflict_clear(struct conflict *conflict);
void conflict_add(struct conflict *conflict, struct because because);

static inline bool conflict_has(const struct conflict *conflict, int item)
{
	return conflict->set[item / 64] >> (item % 64) & 1;
}

#endif
