#ifndef MODEL_ARCH_READ_H
#define MODEL_ARCH_READ_H

#include "model/machine/arch.h"
#include "spec/reader.h"

/*
 * Reads an `architecture:` map: the `nodes:` form of v0.4, or the older `subtree:`
 * form of v0.2 to v0.4.  See specs/README.md.  NULL after complaining.
 *
 * Every attribute is read in the same way, for graphs, problems and broadcasts alike: it is
 * honoured, refused, or named in the run's note of keys that nothing reads (spec/reader.h).  A cycle
 * is 1 ns by default; rates per second need a clock.
 *
 * Roles.  The home (`hbm`) is the outermost storage.  The scratchpad (`lx`) is the outermost storage
 * with `scratchpad: true` or a `reserve`.  Cores are the innermost level with a fan-out between them;
 * without any they are the level around the scratchpad, of one instance.  The array (`compute`) is the
 * compute with a `mac_rate`, else the innermost that is not a vector unit; the vector unit is a compute
 * with a `vector_rate` alone, or with a class that has `vector` or `scalar` in it, else the array.
 * Nothing stands inside a compute: levels after it are beside it.
 *
 * A `mac_rate` is 1 by default, a `vector_rate` one element per multiplier and cycle.
 *
 * Energies that are not given are built in (model/machine/ert.h); an ERT is read
 * afterwards (model/machine/ert.h).
 */
const struct arch *arch_read(const struct reading *reading, const struct node *node);

extern const struct noun architecture_noun;

/* A share of a capacity: a fraction up to 1, or bytes with a unit.  Optional. */
bool arch_read_reserve(struct reader *reader, const char *key, int64_t capacity, int64_t *bytes);

#endif
