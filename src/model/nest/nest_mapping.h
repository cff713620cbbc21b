#ifndef MODEL_NEST_NEST_MAPPING_H
#define MODEL_NEST_NEST_MAPPING_H

#include "model/nest/hierarchy.h"

/*
 * A mapping of one shape, in the rows of model/machine/mapping.h: every storage row has
 * temporal loops, every row with a fan-out spatial ones, and together they make up
 * the whole of each dimension (nothing is left for an innermost tile).  Bounds may
 * be imperfect: see "Bounds fit" in specs/counting.md.
 */

/* All factors 1 but those of the outermost storage, which get the extents; everything is kept
 * everywhere. */
struct mapping nest_mapping_make(const struct arch *arch, const struct shape *shape);

/* Returns the reason why it is not a mapping of this shape, or NULL: bounds that do not make an extent, in a
 * sentence with the dimension, the product and the extent.  *perfect: every bound divides. */
const char *nest_mapping_check(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping, bool *perfect);

/* The same for the bounds of dimension d alone. */
const char *nest_mapping_check_bounds(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping, int d, bool *perfect);

/*
 * One line, in the notation of mapping_print, loops by their dimensions' names, residency by
 * dataspace names: "DRAM: K2 N2 | GLB: M=4,3 K3 | RF spatial: M4 N2@y | keep GLB: A Z".  An
 * imperfect bound shows what the last round has.  parse(print(m)) == m, but that the spatial
 * loops along X stand before those along Y, which makes no difference.
 */
const char *nest_mapping_print(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping);
const char *nest_mapping_parse(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const char *text, struct mapping *out);

/*
 * Timeloop's directives: a list of maps with `target`, `type` and, of a
 *
 *	temporal     factors, permutation (innermost first)
 *	spatial      the same and split: this many entries of the permutation run along X
 *	bypass       keep, bypass (also `dataspace`, `datatype` and `bypassing`)
 *
 * Their values read as model/nest/constraint.h says.  An imperfect bound must give the length of the
 * last round; dimensions that a permutation does not list are outermost.  Flags (no_reuse, rmw_first_update, ...) are
 * constraints, which constraints/constraints.h reads.  One text instead of a list is a line as above.  False after
 * complaining about everything that is wrong.
 */
struct reading;
struct node;
bool nest_mapping_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, const struct shape *shape, struct mapping *out);

/*
 * The level that a directive or constraint names.  Spatial ones are meant for the parent in the
 * older form of architectures, for the node below the fan-out in v0.4; inter_NAME_spatial is
 * the fan-out of NAME in both.
 */
struct nest_target {
	int row;       /* temporal loops and residency; -1: an inter_NAME_spatial without a level */
	int block_row; /* spatial factors; -1: no fan-out there */
	const char *name;
};

/* A name, or Timeloop's number of a level: 0 is the innermost storage, and in v0.4 what fans out
 * has a level around it.  False after complaining, with the levels that there are. */
bool nest_target_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, struct nest_target *out);

/* The name that nest_target_read takes for the fan-out of a row. */
const char *nest_target_name(const struct arch *arch, int block_row);

/* The same directives as YAML text, complete: every level, every dimension.  timeloop-model reads
 * them too. */
const char *nest_mapping_write(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping);

#endif
