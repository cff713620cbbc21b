#ifndef MODEL_NEST_SHAPE_H
#define MODEL_NEST_SHAPE_H

#include "base/diag.h"
#include "model/nest/affine.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One einsum as the loop-nest model sees it: dimensions with extents, and
 * dataspaces whose ranks are sums of coefficient * dimension.  Timeloop calls it
 * the problem's shape and instance.  Every point of the iteration space is one
 * multiply-add into the written dataspace.
 *
 * Dimension d of a shape is loop d of a mapping's rows, dataspace t its operand t.
 */
enum {
	SHAPE_DIMENSIONS_MOST = OP_LOOPS_MOST,
	SHAPE_SPACES_MOST = OP_READS_MOST + 1,
	SHAPE_RANKS_MOST = LAYOUT_HOST_RANK_MOST,
	SHAPE_COEFFICIENTS_MOST = 32,
};
#define SHAPE_EXTENT_MOST ((int64_t)1 << 31)

struct dataspace {
	const char *name;
	bool written; /* read_write: true */
	int rank_count;
	/* Nests have coefficients of at least 0 and ignore offsets, which move all tiles alike. */
	struct affine ranks[SHAPE_RANKS_MOST];
	uint32_t relevant; /* bit d: some rank has a coefficient for dimension d */
	int64_t word_bits; /* of an element; 0: as wide as the level's words */
	const char
		*role; /* what a machine's constraints call it: "Inputs", ..; NULL: by its name */
	struct span span;
};

struct shape {
	struct span sparse; /* of densities other than 1; source NULL: none */
	const char *name;
	int dimension_count, space_count;
	struct loop dimensions[SHAPE_DIMENSIONS_MOST];
	struct dataspace spaces[SHAPE_SPACES_MOST];
	struct span span;
};

/* Index by name, of a dataspace by its role as well; -1 if there is none. */
int shape_dimension(const struct shape *shape, const char *name);
int shape_space(const struct shape *shape, const char *name);

/* The dataspace that is written. */
const struct dataspace *shape_result(const struct shape *shape);

extern const char *const shape_roles[]; /* "Inputs", "Weights", "Outputs", NULL */
bool shape_is_role(const char *name);

/* A sum of products, which multipliers carry out; products without a sum and sums of one operand are for what
 * computes maps and reductions of graphs. */
bool shape_multiplies(const struct shape *shape);

/* A role that no dataspace of a graph's op has: what a machine says of it is not about the op. */
bool shape_lacks(const struct shape *shape, const char *role);

/* Multiply-adds; false when they do not fit.  The same rounded. */
bool shape_computes(const struct shape *shape, int64_t *out);
double shape_work(const struct shape *shape);

/* Fills `relevant` of every dataspace from its ranks. */
void shape_finish(struct shape *shape);

/* The word of a dataspace that a point of the iteration space touches, of so many dimensions. */
void dataspace_word(
	const struct dataspace *space, int dimension_count, const int64_t *point, int64_t *word);

/* Bit d: some rank has a coefficient for dimension d. */
uint32_t dataspace_loops(const struct dataspace *space);

/* True if some rank of a dataspace adds two dimensions, so that its tiles overlap; whether that is
 * so of a written one. */
bool dataspace_slides(const struct dataspace *space);
bool shape_writes_overlap(const struct shape *shape);

/*
 * Reads a `problem:`
 *
 *	problem:
 *	  shape:
 *	    name: conv
 *	    dimensions: [C, K, R, P]
 *	    coefficients: [{name: stride, default: 1}]
 *	    data_spaces:
 *	    - {name: Weights, projection: [[[C]], [[K]], [[R]]]}
 *	    - {name: Inputs, projection: [[[C]], [[R], [P, stride]]]}
 *	    - {name: Outputs, projection: [[[K]], [[P]]], read_write: true}
 *	  instance: {C: 2, K: 4, R: 3, P: 16, stride: 2}
 *
 * A projection lists ranks, a rank terms that are added, a term one dimension and
 * the coefficients that multiply it.  Brackets that add nothing may be left out
 * ([C, [R, [P, stride]]]); a rank or a term may be text ("R + stride*P"); a map of
 * named ranks counts as the list of its values.  The older forms read too: extents
 * beside `shape` instead of under `instance`, the shape's keys beside `instance`,
 * `data-spaces` and `read-write`.  `shape` may be the name of a shape of Timeloop's
 *, and a problem with no shape at all has cnn-layer's.  Exactly
 * one dataspace is written.  Keys that nothing reads are noted where the reading has
 * an `unread`.  NULL after complaining.
 */
struct arena;
struct reading;
struct node;
extern const struct noun shape_noun,
	problem_noun; /* the keys of a shape; of a problem, with an instance */
const struct shape *shape_read(const struct reading *reading, const struct node *node);

/* The same of a map that is open, and of which the caller has read keys of its own.  `shape` may be
 * a word: a key of `shapes` (NULL: there are none), or the name of a shape of Timeloop's. */
struct reader;
const struct shape *shape_read_open(struct reader *map, const struct node *shapes);

/* The same dimensions and dataspaces in the same order; names of the shapes themselves apart. */
bool shape_equal(const struct shape *a, const struct shape *b);

/* A `problem:` that reads as this shape, without coefficients by name. */
const char *shape_write(struct arena *arena, const struct shape *shape);

#endif
