#ifndef MODEL_MACHINE_PRIMITIVES_H
#define MODEL_MACHINE_PRIMITIVES_H

#include <stdbool.h>

/*
 * The primitives that an op of a graph can carry out, as JAX calls them: one row for each, with all that
 * the layers ask of it.  The notation, `lxplore list ops`, prices, plans, the machine's arithmetic
 * and the reference all read the row and know no primitive by its name.
 *
 * A new primitive is one row and its two lines of arithmetic in primitives.c, or a file beside it
 * that defines one or more `const struct primitive primitive_<name>`; scripts/primitive-table collects
 * them.
 */

/* The rule for the shapes of an op's operands, its loops and its sticks. */
enum op_kind {
	OP_EINSUM,     /* out += product of reads */
	OP_MAP,        /* out = kernel(reads), element by element */
	OP_REDUCE,     /* out = kernel(out, read) over the reduction loops of one read */
	OP_RESTICKIFY, /* out = read, in another layout */
	OP_OPAQUE,     /* cost unknown, never divided, never in LX, ends a bundle */
	OP_BROADCAST,  /* out on every rank = read on the root; from HBM to HBM, never divided */
};

enum op_unit { UNIT_VECTOR, UNIT_MAC };

struct primitive {
	const char *name;    /* as specs write it */
	const char *type;    /* as lists of op names call it; NULL: as its name */
	const char *summary; /* for `lxplore list ops`; NULL: what its kind and arity say */
	enum op_kind kind;
	int arity; /* operands of a map; else 1 */

	/* how maps of two operands are written */
	char sign;                  /* between the operands: '+'; 0: only as name(a, b) */
	const char *constant_first; /* why the first operand cannot be a constant; NULL: it can */
	const struct primitive *pairwise; /* of a reduction: the map that does it to two operands */

	/* price: on which unit, and scalar operations there for each point of the loops */
	enum op_unit unit;
	int work;

	/* arithmetic, of a map's operands, or of what is reduced so far and the next element */
	float (*kernel)(float a, float b);       /* the machine's, in fp32 */
	double (*reference)(double a, double b); /* numpy's of the same name, in fp64 */

	/* reductions and einsums */
	float start;                     /* what is reduced before the first element */
	const struct primitive *partial; /* joins what cores have; NULL: nothing can */
	bool mean;                       /* divides by the number of elements at the end */
	bool rounds; /* each step may round: errors grow as the root of the elements */
};

extern const struct primitive *const primitives[]; /* NULL ends them */

/* Primitives with signs of their own in the notation, or that passes make themselves. */
extern const struct primitive primitive_einsum, primitive_mul, primitive_maximum, primitive_minimum,
	primitive_clone, primitive_sum, primitive_max, primitive_min, primitive_restickify,
	primitive_broadcast, primitive_opaque;

/* The row of that name; NULL if there is none. */
const struct primitive *primitive_find(const char *name);

/* True if it joins what it has made itself, as a reduce ring does: sum, but not mean. */
bool primitive_joins(const struct primitive *primitive);

#endif
