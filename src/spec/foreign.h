#ifndef SPEC_FOREIGN_H
#define SPEC_FOREIGN_H

#include "spec/node.h"

/*
 * Trees from files that are not YAML: libconfig, and loop nests as Timeloop prints them.
 *
 * Libconfig (`arch: { storage = ( {...} ); };`) is the syntax of Timeloop's older files.  The tree is the one
 * that YAML gives: groups are maps, lists and arrays are lists, numbers keep the digits that are written.  The library
 * libconfig parses; `@include` is refused because it would read files that the command line does not name.
 */
enum {
	CFG_BYTES_MOST = 1 << 16,
	CFG_SETTINGS_MOST = 5000, /* libconfig compares every name with those before it */
};

/* True if a text is libconfig: by the end of its name, or because its first setting cannot be YAML. */
bool cfg_is(const struct source *source);

/* The tree; NULL after complaining. */
const struct node *cfg_compose(struct arena *arena, const struct source *source, struct diag *diag);

/*
 * The loop nest that Timeloop prints (timeloop-mapper.map.txt), as the tree of an
 * equal `mapping:`
 *
 *	DRAM [ Weights:96 (96) Inputs:18 (18) Outputs:512 (512) ]
 *	---------------------------------------------------------
 *	| for K in [0:16)
 *	|   for P in [0:4,3) (Spatial-X)
 *
 * Levels stand outermost first with what they keep; what another level keeps they
 * bypass.  Loops stand outermost first, too: those of a level after its name, and
 * its spatial ones are of the block below it.
 */
struct arena;

/* True if a file is a loop nest: it begins with a level, and has lines of loops. */
bool loop_nest_is(const struct source *source);

/* {mapping: [..]}; NULL after complaining. */
const struct node *loop_nest_read(
	struct arena *arena, const struct source *source, struct diag *diag);

#endif
