#ifndef MODEL_ARCH_READ_H
#define MODEL_ARCH_READ_H

#include "model/arch.h"
#include "spec/reader.h"

/*
 * Reads an `architecture:` map in the v0.4 `nodes:` form: a list of
 * `!Container`, `!Component`, outermost first, each with `name`, `class`,
 * `attributes`, `spatial: {meshX, meshY}`.  What v0.4 does not know are
 * attributes of ours (LX reserve, rings, overheads); beside `attributes:` a
 * node may carry `sources:` with one sentence per attribute.  See
 * specs/README.md.  NULL after complaining.
 *
 * HBM is the outermost DRAM.  LX is the storage with a `reserve` or with
 * `scratchpad: true`.  Cores are the innermost level with a fan-out, from HBM
 * down to LX; without any they are the level around LX, of one instance.
 */
const struct arch *arch_read(const struct reading *reading, const struct node *node);

/* A share of a capacity: a fraction up to 1, or bytes with a unit.  Optional. */
bool arch_read_reserve(struct reader *reader, const char *key, int64_t capacity, int64_t *bytes);

#endif
