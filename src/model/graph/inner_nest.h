#ifndef MODEL_INNER_NEST_H
#define MODEL_INNER_NEST_H

#include "model/graph/plan.h"
#include "model/nest/hierarchy.h"

/*
 * The nest that a compute of a step carries out: on a machine whose tiles move in boxes, one tile from the
 * scratchpad of one core inwards; elsewhere the whole op, from the home of each operand inwards.  What it
 * counts and how long it takes is asked of cost/nest by the model and of sim/nest by the simulator.
 *
 * A tile counts in whole units (op_grain), padding included, so that all tiles of a step on all cores
 * have one shape; only `computes` of a plan's counts leave the padding out.
 *
 * The nest's mapping is that of the step, row by row, with one difference where tiles move in boxes: the
 * temporal row of the scratchpad has the streaming tiles there, and so the row of the home, which has no
 * loops of its own, holds the loops that run at the scratchpad inside a tile.  mapping_print calls that
 * row "LX inside".  Ports and room of the scratchpad are the chip's there, and count bytes: the hierarchy
 * has no limits for them.
 *
 * Operand i is dataspace i, loop l dimension l.
 */
struct arena;

struct inner_nest {
	const struct hierarchy *hierarchy; /* NULL: there is no nest */
	const struct shape *shape;
	struct mapping mapping;
};

/* The compute level that an op runs on: the array, or the vector unit. */
int op_unit(const struct arch *arch, const struct op *op);

/* Whether the computes of an op are nests: not in an ideal array that is fed with boxes, not of an op that
 * is not tiled.  A restickify between boxes moves sticks through its unit as they are. */
bool op_has_inner_nest(const struct arch *arch, const struct op *op);

/* Whether the values that nests read fit the words of the unit that they run on; complains about every
 * tensor that is wider.  Results may be: sums are. */
bool inner_nests_fit_words(
	const struct arch *arch, const struct workload *workload, struct diag *diag);

/* What is asked of one op: its share of the cores and its tiles are the mapping's. */
struct inner_question {
	const struct arch *arch;
	const struct workload *workload;
	const struct op *op;
	const struct mapping *mapping;
	uint32_t in_lx; /* bit i: operand i is resident in the scratchpad */
	/* Bytes of the scratchpad that the op and its residents may use, at least 1; 0: all of it.
	 * Unused with boxes. */
	int64_t room;
	bool resumes; /* the output holds partial sums already (model/graph/run.h) */
};

/* The nest of an op, or none where it has none or cannot be one: *why says why then (NULL: it has none). */
struct inner_nest inner_nest_make(
	const struct inner_question *question, struct arena *arena, const char **why);

/* The question of a step; of one in a run that of its first iteration, whose tiles are those of all. */
struct inner_question inner_nest_question(struct arena *arena, const struct plan *plan, int step);

#endif
