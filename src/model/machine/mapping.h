#ifndef MODEL_MAPPING_H
#define MODEL_MAPPING_H

#include "model/machine/arch.h"
#include "model/machine/limits.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One op's choices, as a value: copied by `=`, compared with mapping_equal,
 * one line of text out and in (graph/op_mapping.h, nest/nest_mapping.h).
 *
 * Row r belongs to architecture level r.  Its spatial factors divide the op
 * over that level's fan-out, its temporal factors are the loops that run at
 * that level, around everything inside; what is left of an extent after all
 * rows is the innermost tile.  The core split is the spatial row of the core
 * level; the streaming tiles are the temporal row of LX.
 *
 * Factors of a graph's op count whole units of op_grain: unit u of loop l covers elements
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

/* Residency bits of an operand that nobody placed: HBM and LX where tiles move in boxes, else all
 * storages. */
uint32_t mapping_kept_by_default(const struct arch *arch);

/* a * b; BUG when it does not fit. */
int64_t mapping_times(int64_t a, int64_t b);

/* The product of the core level's spatial factors.  BUG, as below, when a product
 * does not fit; mapping_check refuses such mappings. */
int64_t mapping_cores(const struct arch *arch, const struct mapping *mapping);

/* Split of loop l over cores; slot(core) = core / divisor % split of it. */
int64_t mapping_split(const struct arch *arch, const struct mapping *mapping, int l);
int64_t mapping_divisor(const struct arch *arch, const struct mapping *mapping, int l);

/* The same choices: where loops of factor 1 stand in an order makes no difference. */
bool mapping_equal(const struct mapping *a, const struct mapping *b);

#endif
