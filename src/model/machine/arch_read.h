#ifndef MODEL_ARCH_READ_H
#define MODEL_ARCH_READ_H

#include "model/machine/arch.h"
#include "spec/reader.h"

/*
 * Reads an `architecture:` map: the `nodes:` form of v0.4, or the older `subtree:`
 * form of v0.2 to v0.4.  See specs/README.md.  NULL after complaining.
 *
 * A list of nodes that has attributes of ours (LX reserve, rings, overheads,
 * rates of an array) or `sources:`, one sentence per attribute, is a machine for
 * graphs: every key of it must be known, and it needs a clock.  All others are
 * machines for one problem as Timeloop and Accelergy read them; a cycle of
 * theirs is 1 ns if nothing else is said.
 *
 * HBM is the outermost DRAM.  LX is the storage with a `reserve` or with
 * `scratchpad: true`.  Cores are the innermost level with a fan-out, from HBM
 * down to LX; without any they are the level around LX, of one instance.
 *
 * Energies that nobody gives are built in (model/machine/energy_builtin.h); an ERT is read
 * afterwards (model/machine/ert.h).
 */
const struct arch *arch_read(const struct reading *reading, const struct node *node);

/* A share of a capacity: a fraction up to 1, or bytes with a unit.  Optional. */
bool arch_read_reserve(struct reader *reader, const char *key, int64_t capacity, int64_t *bytes);

#endif
