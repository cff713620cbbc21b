#ifndef SPEC_LOOP_NEST_H
#define SPEC_LOOP_NEST_H

#include "spec/step.h"

/*
 * The loop nest that Timeloop prints (timeloop-mapper.map.txt), as the tree of a
 * `mapping:` that says the same:
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

/* True if a file is one of these: it begins with a level, and has lines of loops. */
bool loop_nest_is(const struct source *source);

/* {mapping: [..]}; NULL after complaining. */
const struct node *loop_nest_read(
	struct arena *arena, const struct source *source, struct diag *diag);

#endif
