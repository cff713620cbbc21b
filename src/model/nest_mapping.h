#ifndef MODEL_NEST_MAPPING_H
#define MODEL_NEST_MAPPING_H

#include "model/hierarchy.h"

/*
 * A mapping of one shape, in the rows of model/mapping.h: every storage row has
 * temporal loops, every row with a fan-out spatial ones, and together they make up
 * the whole of each dimension (nothing is left for an innermost tile).  Bounds may
 * be imperfect: see "Bounds fit" in specs/counting.md.
 */

/* All factors 1 but those of the outermost storage, which get the extents; everything is kept
 * everywhere. */
struct mapping nest_mapping_make(const struct arch *arch, const struct shape *shape);

/* What makes it no mapping of this shape, or NULL: bounds that do not make an extent, with the
 * sentence that names the dimension, the product and the extent.  *perfect says whether every
 * bound divides. */
const char *nest_mapping_check(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping, bool *perfect);

/*
 * One line, in the notation of mapping_print, loops by their dimensions' names, residency by
 * dataspace names: "DRAM: K2 N2 | GLB: M=4,3 K3 | RF spatial: M4 N2@y | keep GLB: A Z".  An
 * imperfect bound shows what the last round has.  parse(print(m)) == m.
 */
const char *nest_mapping_print(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping);
const char *nest_mapping_parse(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const char *text, struct mapping *out);

/*
 * Timeloop's directives (target, type, factors, permutation, split, keep, bypass), spatial ones
 * meant for the parent in the older form and for the node below the fan-out in v0.4.  Flags
 * among them (no_reuse, rmw_first_update, ...) are constraints and left to
 * constraints/constraints.h.  False after complaining about everything that is wrong.
 */
struct reading;
struct node;
bool nest_mapping_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, const struct shape *shape, struct mapping *out);

/* The same directives as YAML text, complete: every level, every dimension. */
const char *nest_mapping_write(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping);

#endif
