#ifndef PLACE_PACKING_H
#define PLACE_PACKING_H

#include "model/packing/buffer.h"
#include "search/drive/solver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Time as far as it matters: a section is a largest set of lives that go on at once.  A new one
 * begins with the first start after an end.
 */
struct life {
	int64_t start, end; /* half-open */
};

/* Sections in which one goes on, half-open. */
struct section_span {
	int first, end;
};

/* By life; returns how many sections there are. */
int sections_find(size_t count, const struct life *lives, struct section_span *stays);

/*
 * Functions shared by the placement solvers.  They place one buffer after the other: `packing_open` starts with
 * nothing placed, `packing_free` is true if a buffer may lie at an address beside the buffers placed so far,
 * `packing_offer` hands the result over.
 *
 * A child may lie at the very address of a declared parent that is no smaller.
 * That the parent ends in the child's first step is the declaration's
 * business: solvers that depend on it refuse the packing otherwise
 * (packing_declared).
 */
struct placement *packing_open(struct run *run, const struct packing *packing);

/* Do the lifetimes of buffers i and j meet? */
bool packing_meet(const struct packing *packing, size_t i, size_t j);

bool packing_free(const struct packing *packing, const struct placement *placement, size_t i,
	int64_t address);

/* Return the step of the addresses of buffer i, and the first such address
 * from `address` on, which is >= 0; INT64_MAX if there is none. */
int64_t packing_step(const struct packing *packing, size_t i);
int64_t packing_up(const struct packing *packing, size_t i, int64_t address);

/* Returns the common divisor of all addresses. */
int64_t packing_common_step(const struct packing *packing);

/* The lowest address of a multiple of `step` for this many bytes, beside reserved ranges (by address,
 * apart) alone; or `fixed`, unless it is negative.  UNPLACED if there is none. */
int64_t packing_alone(const struct byte_range *ranges, size_t range_count, int64_t capacity,
	int64_t size, int64_t step, int64_t fixed);

/* The same packing with the reserved ranges (packing_reserved) behind its buffers: fixed, and alive
 * in every step. */
struct packing packing_with_reserved(const struct packing *packing, struct arena *arena);

/* True if buffer i may lie there as far as that is its own affair: aligned, inside the capacity,
 * at its fixed address, and with a parent if it must take over. */
bool packing_allows(const struct packing *packing, const struct placement *placement, size_t i,
	int64_t address);

/* Every parent ends in its child's first step and is no smaller; else complains. */
bool packing_declared(struct run *run, const struct packing *packing);

/* Complains about uses if the goal is to spill: a buffer there in parts is beyond those who place
 * buffers whole. */
bool packing_whole(struct run *run, const struct packing *packing);

/* Returns the value that the goal minimises: the bytes without a place or, if there are weights, the weight of
 * those (PACKING_SPILL); the peak (PACKING_PEAK); 0 (PACKING_FIT). */
double packing_value(const struct packing *packing, const struct placement *placement);

/*
 * Notes who took whose place and offers.  If all buffers must be placed and one is not, there is
 * nothing to offer, and the complaint names it.  A packing of all buffers that reaches no higher
 * than the load is at the least peak, and the answer says so.
 */
void packing_offer(struct run *run, const struct packing *packing, struct placement *placement);

/*
 * An item is placed at one address: a buffer, or a parent with the child that takes its place, the child of that,
 * and so on.  A child is no larger, so an item is a flight of steps downwards in time; each buffer's part is what
 * it adds to the one before.
 *
 * Time is counted in sections: one begins where a life begins after another ended, so that lives
 * that meet share a section, and no others do.
 *
 * If all buffers must be placed, items may lie above the capacity: a search lowers the excess.
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
	int *of;      /* by buffer: its item; -1: it must take over, but no parent is left */
	int section_count;
	bool bound_somewhere; /* an address is fixed, or a range reserved */
};

/* Each child takes the place of the first parent that is still free and lets it; those that must,
 * before the others.  Time: n log n. */
struct items *items_make(const struct packing *packing, struct arena *arena);

/* True if an item is a reserved range. */
bool items_range(const struct items *items, size_t item);

/* True if a buffer of it may lie at one address only. */
bool items_fixed(const struct items *items, size_t item);

/* Writes the items' addresses (UNPLACED: none) to their buffers. */
void items_place(const struct items *items, const int64_t *addresses, struct placement *placement);

/*
 * A bound below every packing of all buffers: the most bytes that live in one step, where a child
 * that may take over counts from its second step on, and sizes are rounded up to what all
 * addresses are multiples of, except that of the topmost.  At least the largest size, and the end
 * of every fixed buffer.  Time: n log n.
 */
struct arena;
int64_t packing_load(const struct packing *packing, struct arena *arena);

#endif
