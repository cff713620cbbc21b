#ifndef MODEL_MAPPING_H
#define MODEL_MAPPING_H

#include "model/machine/arch.h"
#include "model/graph/workload.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One op's choices, as a value: copied by `=`, compared with mapping_equal,
 * one line of text out and in.
 *
 * Row r belongs to architecture level r.  Its spatial factors divide the op
 * over that level's fan-out, its temporal factors are the loops that run at
 * that level, around everything inside; what is left of an extent after all
 * rows is the innermost tile.  The core split is the spatial row of the core
 * level; the streaming tiles are the temporal row of LX.
 *
 * Factors count whole units of op_grain: unit u of loop l covers elements
 * [u*grain, min(extent, (u+1)*grain)).  In the spatial row `order` lists loops
 * from the one whose slot changes fastest with the core number:
 * slot(l) = floor(core / product of factors before l) mod factor(l).  Cores are
 * numbered through the whole machine, X first; a spatial row of theirs without
 * a factor along Y may use them all.  In a temporal row `order` lists loops
 * innermost first, as Timeloop does.
 */
struct mapping_row {
	uint32_t spatial[OP_LOOPS_MOST];
	uint32_t temporal[OP_LOOPS_MOST];
	uint8_t spatial_order[OP_LOOPS_MOST];
	uint8_t temporal_order[OP_LOOPS_MOST];
	uint16_t spatial_y; /* bit l: loop l's spatial factor runs along Y */
};

struct mapping {
	uint8_t loop_count, level_count;
	/* bit of level r for operand i (see op_operand): the operand is kept there */
	uint32_t residency[OP_READS_MOST + 1];
	struct mapping_row rows[ARCH_LEVELS_MOST];
};

/* All factors 1, orders 0, 1, 2, ..., operands kept at HBM and LX. */
struct mapping mapping_make(const struct arch *arch, const struct op *op);

/* Residency bits of an operand that nobody placed: HBM and LX, as far as they exist. */
uint32_t mapping_kept_by_default(const struct arch *arch);

/* The product of the core level's spatial factors.  BUG, as below, when a product
 * does not fit; mapping_check refuses such mappings. */
int64_t mapping_cores(const struct arch *arch, const struct mapping *mapping);

/* Split of loop l over cores; slot(core) = core / divisor % split of it. */
int64_t mapping_split(const struct arch *arch, const struct mapping *mapping, int l);
int64_t mapping_divisor(const struct arch *arch, const struct mapping *mapping, int l);
int64_t mapping_slot(const struct arch *arch, const struct mapping *mapping, int l, int64_t core);

/* The product of the reduction loops' core splits. */
int64_t mapping_reduction_split(
	const struct arch *arch, const struct op *op, const struct mapping *mapping);

/* The function that makes one result of an op's partial ones: SUM, MAX, MIN; else NONE. */
enum op_function op_combining(const struct op *op);

/* Can the reduce ring combine the partial results of cores? */
bool ring_combines(const struct ring *ring, const struct op *op);

/* The same choices: where loops of factor 1 stand in an order makes no difference. */
bool mapping_equal(const struct mapping *a, const struct mapping *b);

/*
 * What stands against carrying a mapping out, or NULL: a fan-out that is too
 * small, factors that do not divide a loop's units, an output loop inside a
 * reduction loop, more than one reduction split over cores, an operand without
 * a home.
 */
const char *mapping_check(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping);

/*
 * One line: "core: k4 n8 | LX: n2 k16 | keep LX: 2".  Loops are named; factors
 * of 1 are left out; the order written is the row's order, spatial fastest
 * first, temporal outermost first.
 *
 *	core:          the spatial row of a container or compute level
 *	LX:            the temporal row of a storage level
 *	LX spatial:    the other row of a level
 *	core temporal:
 *	n8@y           this spatial factor runs along Y
 *	k1=4           for a loop whose name ends in a digit
 *	keep HBM: 0 1; LX: 2
 *	               where operands are kept, by operand number; those kept at HBM
 *	               and LX, the default, are left out; "nowhere" is a place too
 *	undivided      stands for a mapping that is all defaults
 *
 * `parse` answers NULL, or what is wrong with the text, and leaves *out alone
 * then.
 */
const char *mapping_print(struct arena *arena, const struct arch *arch, const struct op *op,
	const struct mapping *mapping);
const char *mapping_parse(struct arena *arena, const struct arch *arch, const struct op *op,
	const char *text, struct mapping *out);

#endif
