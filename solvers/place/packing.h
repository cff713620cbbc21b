#ifndef PLACE_PACKING_H
#define PLACE_PACKING_H

#include "model/buffer.h"
#include "search/solver.h"

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

/* The first declared parent of buffer i that lies at this address; -1. */
int packing_parent_at(const struct packing *packing, const struct placement *placement, size_t i,
	int64_t address);

bool packing_free(const struct packing *packing, const struct placement *placement, size_t i,
	int64_t address);

/* Every parent ends in its child's first step and is no smaller; else complains. */
bool packing_declared(struct run *run, const struct packing *packing);

/* Notes who took whose place and offers; the value is the bytes left unplaced. */
void packing_offer(struct run *run, const struct packing *packing, struct placement *placement);

#endif
