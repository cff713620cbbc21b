#ifndef PLACE_PACKING_H
#define PLACE_PACKING_H

#include "model/packing/buffer.h"
#include "search/drive/solver.h"

/*
 * What the placement solvers share.  They place one buffer after the other:
 * `packing_open` starts with nothing placed, `packing_free` asks whether a
 * buffer may lie at an address beside what is placed so far, `packing_offer`
 * hands the result over.
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

/* What addresses of buffer i are multiples of, and the first such address from `address` on, which
 * is >= 0; INT64_MAX if there is none. */
int64_t packing_step(const struct packing *packing, size_t i);
int64_t packing_up(const struct packing *packing, size_t i, int64_t address);

/* What all addresses are multiples of. */
int64_t packing_common_step(const struct packing *packing);

/* The lowest address of a multiple of `step` for this many bytes, beside reserved ranges (by address,
 * apart) alone; or `fixed`, unless it is negative.  UNPLACED if there is none. */
int64_t packing_alone(const struct byte_range *ranges, size_t range_count, int64_t capacity,
	int64_t size, int64_t step, int64_t fixed);

/* The same packing with the reserved ranges (packing_reserved) behind its buffers: fixed, and alive
 * in every step. */
struct packing packing_with_reserved(const struct packing *packing, struct arena *arena);

/* Whether buffer i may lie there as far as that is its own affair: aligned, inside the capacity,
 * at its fixed address, and with a parent if it must take over. */
bool packing_allows(const struct packing *packing, const struct placement *placement, size_t i,
	int64_t address);

/* Every parent ends in its child's first step and is no smaller; else complains. */
bool packing_declared(struct run *run, const struct packing *packing);

/* Complains about uses if the goal is to spill: a buffer there in parts is beyond those who place
 * buffers whole. */
bool packing_whole(struct run *run, const struct packing *packing);

/* What the goal minimises: the bytes without a place or, if there are weights, the weight of those
 * (PACKING_SPILL); the peak (PACKING_PEAK); 0 (PACKING_FIT). */
double packing_value(const struct packing *packing, const struct placement *placement);

/*
 * Notes who took whose place and offers.  If all buffers must be placed and
 * one is not, there is nothing to offer, and the complaint names it.  A packing
 * of all buffers fits; one that reaches no higher than the load is at the least peak
 * (load.h): the answer says so.
 */
void packing_offer(struct run *run, const struct packing *packing, struct placement *placement);

#endif
