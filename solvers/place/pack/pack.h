#ifndef PLACE_PACK_PACK_H
#define PLACE_PACK_PACK_H

#include "base/arena.h"
#include "base/stopper.h"
#include "base/tuning.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"

/* The packer of `exact`. */
#define PACK_OPTIONS(OPTION)                                                                       \
	OPTION(PACK_FIRST_FAILURES, 200, 1, 1 << 20, "failures until the first restart")           \
	OPTION(PACK_ROUND_STARTS, 6, 1, 1000,                                                      \
		"starts in a round; a round begins without weights, as those of a bad start lead " \
		"astray for long")                                                                 \
	OPTION(PACK_ROUND_PERCENT, 150, 100, 1000,                                                 \
		"failures in the first start of a round, of those in the round before")            \
	OPTION(PACK_PATIENT_STARTS, 4, 1, 1000, "starts until one gets more failures")             \
	OPTION(PACK_PATIENT_PERCENT, 130, 100, 1000, "how many, of those before")                  \
	OPTION(PACK_RETURN_STARTS, 4, 1, 1000,                                                     \
		"starts until one is guided by the last solution; where all are, starts with the " \
		"same order of items, since what one learned is good for the next")                \
	OPTION(PACK_RETURN_ROUND_STARTS, 12, 1, 1000, "starts in a round where all are guided")    \
	OPTION(PACK_RETURN_ROUND_PERCENT, 120, 100, 1000,                                          \
		"the growth of failures there: starts stay short")                                 \
	OPTION(PACK_JOIN_NODES, 25000, 1, 1 << 30,                                                 \
		"nodes until a second search joins one without a limit, guided and drawn")         \
	OPTION(PACK_JOINED_FAILURES_MOST, 1500, 1, 1 << 30,                                        \
		"its failures until a restart, at most")                                           \
	OPTION(PACK_NOISE_PERCENT, 20, 0, 100,                                                     \
		"by how much the rank of an item is drawn to differ")                              \
	OPTION(PACK_DEPTH_MOST, 10000, 100, 100000,                                                \
		"open choices at a time; the stack holds more")                                    \
	OPTION(PACK_PAIRS_MOST, 20000000, 1000, 1 << 30,                                           \
		"pairs of items that live at once, four bytes each")                               \
	OPTION(PACK_SIDE_MOST, 24, 1, 32, "items on one side of a boundary: the bits of a set")    \
	OPTION(PACK_SUMS_MOST, 64, 2, 1 << 16, "different sums of their heights that are kept")    \
	OPTION(PACK_CONFLICT_WORDS_MOST, 1 << 22, 1, 1 << 28,                                      \
		"words of the tables of conflicts; larger rooms have none")                        \
	OPTION(PACK_MEMO_BYTES_MOST, 1 << 25, 1 << 16, 1 << 30, "bytes of the table of failures")  \
	OPTION(PACK_MEMO_ROWS_FIRST, 1 << 9, 1, 1 << 20, "its rows at first, a power of two")      \
	OPTION(PACK_CORE_NODES_LEAST, 2000, 1, 1 << 20,                                            \
		"nodes for the proof of a smaller set, besides twice those of the first proof")    \
	OPTION(PACK_CORE_PROOFS_MOST, 40, 1, 1000, "times that for all such proofs together")

OPTIONS(PACK_OPTIONS)

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

/*
 * The exact packer answers if one set of buffers fits: for `place/exact` and its three goals, and for the spill search
 * and each set that it would keep.  Complete: without a limit it ends with VERDICT_YES or VERDICT_NO.  Charges its
 * nodes to the run, and ends soon after the run does.
 *
 * The buffers become shapes and rooms (room.h); each room is searched alone.  The search branches on one section:
 * which item stands next on its floor, or none?  A niche is a run of sections whose floors are level and whose
 * neighbours' are higher; an item that may stand on a niche's floor lies wholly in it.  The next section of all niches
 * is the one with the fewest choices and the most failures so far.  Without loss, items lie as low as those below let
 * them.  state.h has the propagation; a table keeps failed states from one start to the next.
 */
struct pack_question {
	const struct packing *packing; /* its goal does not matter */
	const bool *chosen;            /* by buffer; NULL: all of them */
	int64_t capacity;              /* bytes; no more than the packing's */
	uint64_t nodes;                /* at most this many; 0: no limit */
	bool returns; /* all starts are guided by the last solution: where one more layout of very
	               * many is looked for, not the first or none.  Else some are */
	bool varied;  /* each start draws the order of its items: where much room is to spare */
	bool explain; /* look for a small core if they do not fit */
};

struct pack_answer {
	enum verdict status;
	bool is_too_large; /* VERDICT_OPEN: more pairs of buffers that meet than the packer keeps */
	uint64_t nodes, restarts;
	const struct placement *placement; /* VERDICT_YES: of the chosen, the others are UNPLACED */
	size_t core_count; /* VERDICT_NO and asked: few that do not fit, even alone */
	const int *core;
	int64_t hardest; /* unless it fits: a step at which it often failed */
};

/* The answer lives in the arena. */
struct pack_answer pack(struct run *run, const struct pack_question *question, struct arena *arena);

#endif
