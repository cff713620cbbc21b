#ifndef PLACE_SPILL_MODEL_H
#define PLACE_SPILL_MODEL_H

#include "model/packing/buffer.h"

/*
 * What may be kept, as items: a buffer for its whole life, or from one use to the step after the
 * next, wherever that saves something.  Kept items of one buffer that share a use are one
 * residence.  With uses, whole lives are items only where a place may be handed over, for
 * that takes whole lives.  A set of items that packs holds every row; one that holds them all need
 * not pack.
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

/* What one write made: its gain needs all of some items that follow each other. */
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

#endif
