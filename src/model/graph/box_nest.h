#ifndef MODEL_GRAPH_BOX_NEST_H
#define MODEL_GRAPH_BOX_NEST_H

#include "model/graph/op_mapping.h"
#include "model/graph/plan.h"
#include "model/graph/view.h"
#include "model/nest/hierarchy.h"
#include "model/nest/shape.h"

/*
 * One op as division sees it: its loops, in elements and in units of division, and the device
 * coordinates of its operands.
 *
 * A loop that alone makes up the stick coordinate of an operand is a stick
 * loop: it is divided in sticks, of the largest elements-per-stick among those
 * operands, so that every core gets whole sticks.
 */
struct arena;

enum { ITERATION_OPERANDS_MOST = OP_READS_MOST + 1 };

struct iteration {
	const struct workload *workload;
	const struct op *op;
	int loop_count;
	int64_t range[OP_LOOPS_MOST]; /* elements */
	int64_t stick[OP_LOOPS_MOST]; /* elements per stick of a stick loop, else 0 */
	int64_t size[OP_LOOPS_MOST];  /* sticks of a stick loop, else elements */
	int operand_count;            /* reads in order, then the output */
	const struct layout *layouts[ITERATION_OPERANDS_MOST];
	struct coordinates coordinates[ITERATION_OPERANDS_MOST];
	uint32_t output_loops; /* in the output's coordinates, the stick left out */
	uint32_t all_output_loops;
};

/* NULL, and *why, if the device cannot walk a stick coordinate. */
const struct iteration *iteration_make(struct arena *arena, const struct workload *workload,
	const struct op *op, const char **why);

const struct tensor *iteration_tensor(const struct iteration *iteration, int operand);

/*
 * The span: bytes of one operand's device memory between the first and the
 * last that one core touches, by the outermost device dimension of which it
 * touches more than one element.  splits[l] cores share loop l.  An element
 * counts as many bytes as on the host.
 */
int64_t iteration_span(const struct iteration *iteration, int operand, const int64_t *splits);

/* That outermost dimension; -1 when a core touches a single stick. */
int iteration_span_dim(const struct iteration *iteration, int operand, const int64_t *splits);

/*
 * The mapping of an op whose tiles move in boxes, and the nest that Timeloop's directives and
 * constraints of the same `problem:` are about:
 *
 *	nest                                mapping of the op
 *	temporal loops at the home          streaming tiles: the scratchpad's row
 *	spatial loops of the cores          the division
 *	temporal loops at the scratchpad    what is left of a tile of whole units; where the array is
 *	                                    described, the home's row, which rounds a tile up to whole units
 *	rows inside                         the same rows
 *
 * Loops of an ideal array have no order.  Every operand passes through home and scratchpad.
 * Dimensions are loops of the same name, those of one iteration none; dataspaces are tensors of the
 * same name.
 */
struct mapping box_nest(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct shape *shape, const struct mapping *mapping);

/* The way back, in *out: NULL, or why no tiles of whole units run so. */
const char *box_mapping(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct shape *shape,
	const struct mapping *nest, struct mapping *out);

/*
 * The nest that a compute of a step carries out: on a machine whose tiles move in boxes, one tile from the
 * scratchpad of one core inwards; elsewhere the whole op, from the home of each operand inwards.  The
 * model gets its counts and its time from cost/nest, the simulator from sim/nest.
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
struct inner_nest {
	const struct hierarchy *hierarchy; /* NULL: none */
	const struct shape *shape;
	struct mapping mapping;
};

/* Elements of a tile that moves in a box along loop l: whole units, padding included. */
int64_t op_tile(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, int l);

/* The compute level that an op runs on: the array, or the vector unit. */
int op_unit(const struct arch *arch, const struct op *op);

/* True if the computes of an op are nests: not in an ideal array that is fed with boxes, not of an op that
 * is not tiled.  A restickify between boxes moves sticks through its unit as they are. */
bool op_has_inner_nest(const struct arch *arch, const struct op *op);

/* True if the values that nests read fit the words of the unit that they run on; complains about every
 * tensor that is wider.  Results may be: sums are. */
bool inner_nests_fit_words(
	const struct arch *arch, const struct workload *workload, struct diag *diag);

/* One op on one core: its share of the cores and its tiles are the mapping's. */
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
