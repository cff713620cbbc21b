#ifndef MODEL_MAPPING_H
#define MODEL_MAPPING_H

#include "model/machine/arch.h"
#include "model/machine/layout.h"

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

/* Bits of all storages. */
uint32_t mapping_storages(const struct arch *arch);

/* Default residency bits of an operand: HBM and LX if tiles move in boxes, else all storages. */
uint32_t mapping_kept_by_default(const struct arch *arch);

/* Returns a mapping with all factors 1, loops in the order of their numbers, and each operand at the levels `kept`. */
struct mapping mapping_undivided(
	const struct arch *arch, int loop_count, int operand_count, uint32_t kept);

/* True if level r has a temporal loop. */
bool mapping_has_loops(const struct mapping *mapping, int r);

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

/*
 * The one-line notation of mappings, for nouns that have loops and operands by name: ops
 * of a graph (op_mapping.h) and problems of the loop-nest model (nest_mapping.h).
 *
 * With extents, a bound whose last round is shorter shows it ("M=4,3"), and a
 * last round that is written must be the right one.
 *
 * With `inner`, the temporal row of the home stands for the loops that run at the scratchpad inside a tile
 * (model/graph/box_nest.h), and is written behind that of the scratchpad: "LX: n2 | LX inside: m4".
 */
struct mapping_notation {
	const struct arch *arch;
	const char *owner;           /* "op 'o'": stands in messages */
	const char *loop_word;       /* "loop", "dimension" */
	const char *operand_word;    /* "operand", "dataspace" */
	const char *factor_wanted;   /* "'n8' divides loop n by 8" */
	const char *operands_wanted; /* "numbers of operands", "dataspaces" */
	int loop_count, operand_count;
	const char *loops[OP_LOOPS_MOST + 1];    /* NULL ends them */
	const char *operands[OP_READS_MOST + 2]; /* NULL ends them */
	int64_t extents[OP_LOOPS_MOST];          /* 0: no last rounds */
	uint32_t kept_by_default;                /* levels */
	bool inner;                              /* see above */
};

const char *notation_print(struct arena *arena, const struct mapping_notation *notation,
	const struct mapping *mapping);

/* Parses a text into `out`, which holds the default mapping.  Returns NULL, or the fault; *out stays as it is
 * then. */
const char *notation_parse(struct arena *arena, const struct mapping_notation *notation,
	const char *text, struct mapping *out);

/*
 * The iterations of loop l's bound in the last round of all loops around it:
 * ((ceil(extent / product of the bounds inside) - 1) mod bound) + 1.  `row` and
 * `spatial` choose the loop; rows run outermost first, spatial around temporal.
 */
int64_t mapping_last_round(
	const struct mapping *mapping, int row, bool spatial, int l, int64_t extent);

#endif
