#ifndef MODEL_MAPPING_NOTATION_H
#define MODEL_MAPPING_NOTATION_H

#include "model/machine/mapping.h"

/*
 * The one-line notation of mappings, for what has loops and operands by name: ops
 * of a graph (mapping.h) and problems of the loop-nest model (nest_mapping.h).
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

/* Into `out`, which holds the mapping that no text would change.  NULL, or what is wrong; *out
 * is left alone then. */
const char *notation_parse(struct arena *arena, const struct mapping_notation *notation,
	const char *text, struct mapping *out);

/*
 * The iterations of loop l's bound in the last round of all loops around it:
 * ((ceil(extent / product of the bounds inside) - 1) mod bound) + 1.  `row` and
 * `spatial` say which loop; rows run outermost first, spatial around temporal.
 */
int64_t mapping_last_round(
	const struct mapping *mapping, int row, bool spatial, int l, int64_t extent);

#endif
