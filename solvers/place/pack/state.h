#ifndef PLACE_PACK_STATE_H
#define PLACE_PACK_STATE_H

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

/*
 * A room that is being filled from below: what is placed, how low all else may lie, and what
 * follows from it.  Every change is on a trail and can be undone.
 *
 * Invariants between changes: no item may lie below the floor of a section it lives in; a floor is
 * as high as the lowest item that is left there.
 */
#define PLACED INT64_MAX /* the level of an item that is; the floor of a section where all are */

enum { NOT_COUNTED = -1 };

enum change_kind { FLOOR_ROSE, LEVEL_ROSE, ITEM_PLACED };

struct change {
	enum change_kind kind;
	int index, choices;
	struct because because;
	int64_t before, lowest;
};

struct boundaries;

struct state {
	const struct room *room;
	struct arena *arena;
	int64_t *level;  /* of each item: it cannot lie below; PLACED */
	int64_t *low;    /* the same, and the address of those that are placed */
	int64_t *floor;  /* of each section: nothing more goes below */
	int64_t *rest;   /* heights not placed yet */
	int *choices;    /* of each section, as counted since it changed; NOT_COUNTED */
	int64_t *lowest; /* of the items left that live before section s and in it; PLACED */
	int *crossing;   /* items not placed that live before section s and in it */
	double *weight;  /* of a section: how often it failed; never taken back */
	int *dirty;      /* sections to look at again */
	bool *is_dirty;
	int dirty_count;
	int *dirty_boundaries; /* as are boundaries, between section t - 1 and t */
	bool *is_boundary_dirty;
	int dirty_boundary_count;
	struct boundaries *boundaries;
	struct conflict *conflict; /* why the last change failed; NULL: not kept */
	struct change *trail;
	size_t trail_count, trail_room;
};

struct state *state_open(const struct room *room, struct arena *arena);

/* Nothing is placed.  All that change the state answer false if then nothing more can come of it;
 * it must be taken back. */
bool state_start(struct state *state);
bool state_place(struct state *state, int item, int section); /* on the section's floor */
bool state_raise(struct state *state, int item, int64_t level, struct because because);

/* After some were raised, what follows; not if something is wrong already.  `since`: how long the trail was before. */
bool state_settle(struct state *state, bool good, size_t since);

/* Nothing stands on the floor of the section, though something might. */
bool state_leave_empty(struct state *state, int section);

/* Back to when the trail was so long.  Answers whether the conflict was about any of it; it then
 * is about what was before. */
bool state_undo(struct state *state, size_t trail_count);

/* Items that may stand on the section's floor, twins counted once. */
int state_choices(struct state *state, int section);

#ifndef NDEBUG
/* Asserts the invariants of all items and sections; after a change that succeeded, or was taken back. */
bool state_check(const struct state *state);
#endif

static inline int64_t state_slack(const struct state *state, int section)
{
	return state->room->height - state->floor[section] - state->rest[section];
}

static inline bool state_may_stand(const struct state *state, int item, int64_t floor)
{
	int twin = state->room->items[item].twin;
	return state->level[item] == floor && (twin < 0 || state->level[twin] == PLACED);
}

#endif
