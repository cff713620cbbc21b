#ifndef PLACE_SPILL_MODEL_H
#define PLACE_SPILL_MODEL_H

#include "model/packing/buffer.h"
#include "solvers/place/pack/pack.h"

/*
 * Items are the residences that may be kept: a buffer for its whole life, or from one use to the step after the
 * next, if that saves something.  Kept items of one buffer that share a use are one residence.  With uses, whole
 * lives are items only if a place may be handed over, because that takes whole lives.  A set of items that packs
 * holds every row; one that holds them all need not pack.
 *
 * Sizes are in units: what a buffer takes of the multiples of the common divisor of all alignments
 * that it may start at, divided by what those sizes have in common.  Gains are divided by theirs.
 */
struct spill_item {
	int buffer;
	int64_t from, to;     /* half-open */
	int64_t size;         /* units */
	int64_t gain;         /* if it is kept */
	int version;          /* that it is a part of; -1 */
	int row, row_end;     /* the rows that it is in, half-open */
	bool whole;           /* a whole life */
	bool tied;            /* a parent must hand its place over */
	int rival, rival_end; /* items instead of which it is kept, half-open */
	int parent_count;
	const int *parents; /* items that may hand their places over */
	int pair_count;
	int *pairs; /* that have rows */
};

/* The data of one write: its gain needs all of some items that follow each other. */
struct spill_version {
	int item, item_end; /* half-open */
	int64_t gain;
};

/* Two items that count once in the only step that they have in common: of one buffer, or the
 * second may lie on the first. */
struct spill_pair {
	int first, second;
	int64_t size; /* units that they share */
	bool one;     /* of one buffer */
	int row;      /* of that step */
};

/* The sizes of the kept items, less what pairs share, are at most the room. */
struct spill_row {
	int64_t time; /* when they are all there */
	int item_count, pair_count;
	int *items, *pairs;
};

struct spill_model {
	const struct packing *packing;
	int item_count, version_count, pair_count, row_count;
	struct spill_item *items; /* by buffer, then time */
	const struct spill_version *versions;
	struct spill_pair *pairs;
	const struct spill_row *rows; /* by time */
	int64_t room;                 /* units */
	int64_t unit_gain;            /* the divisor of gains */
	int64_t all, total;           /* all weights; the gains of all items and versions */
};

struct arena;

/* At most this many entries of rows: rows of little load are left out.  NULL: the weights add up to
 * more than an int64_t. */
struct spill_model *spill_model_make(
	struct arena *arena, const struct packing *packing, size_t entries_most);

/*
 * A set of items to be kept, with what it gains and how full each row is.  If a child has several
 * parents, each counts as sharing: the rows hold for more sets than they should, never for less.
 */
struct spill_set {
	const struct spill_model *model;
	bool *kept;    /* by item */
	int *missing;  /* by version: how many of its items are not */
	int64_t *load; /* by row */
	int64_t gain;
	int64_t room; /* of each row: the model's, or less; not copied */
};

struct spill_set spill_set_make(struct arena *arena, const struct spill_model *model);
void spill_set_copy(struct spill_set *to, const struct spill_set *from);

void spill_set_clear(struct spill_set *set);

/* Keeps an item, or no longer. */
void spill_set_turn(struct spill_set *set, int item);

/* Keeps these items and no others. */
void spill_set_become(struct spill_set *set, const bool *kept);

/* Returns the change of the gain if the item is turned. */
int64_t spill_set_change(const struct spill_set *set, int item);

/* True if the rows hold with it, no rival is kept, and it has a parent if it needs one. */
bool spill_set_has_room(const struct spill_set *set, int item);

/*
 * The packer's question about a set of items: what is kept of one buffer without a break is one
 * buffer of the question.
 */
struct spill_residence {
	int first, last; /* items */
	int64_t from, to;
};

struct spill_question {
	const struct spill_model *model;
	struct packing packing;
	struct spill_residence *residences; /* by buffer of that packing */
};

struct spill_question spill_question_make(
	struct arena *arena, const struct spill_model *model, const bool *kept);

/* The answer's addresses, by item. */
void spill_question_answer(const struct spill_question *question, const struct placement *placement,
	int64_t *addresses);

/* Items at addresses, of the buffers that the model was made from. */
struct placement *spill_placement(struct arena *arena, const struct spill_model *model,
	const bool *kept, const int64_t *addresses);

/*
 * No set that packs has all these items: unless it has one of the parents as well, which an item
 * among them needs that must take a place over.
 */
struct spill_cut {
	int item_count, parent_count;
	const int *items, *parents;
};

/* From buffers of the question that do not fit. */
struct spill_cut spill_question_cut(
	struct arena *arena, const struct spill_question *question, const int *core, size_t count);

#endif
