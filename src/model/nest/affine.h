#ifndef MODEL_NEST_AFFINE_H
#define MODEL_NEST_AFFINE_H

#include "base/diag.h"
#include "model/machine/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loop of a problem, of an op or of a recurrence. */
struct loop {
	const char *name;
	int64_t least;    /* of a recurrence: the first value; else 0 */
	int64_t extent;   /* iterations, of an op > 1; of problems up to 2^31 */
	bool reduction;   /* of an op: it does not index the output */
	struct span span; /* of a problem: in the spec; of an op made into one: that of the op */
};

/* The index of the loop of a name, -1; the name of a loop that is much like this one, NULL. */
int loop_named(const struct loop *loops, int count, const char *name);
const char *loop_near(const struct loop *loops, int count, const char *name);

/* All names of loops, in their order, and a NULL behind them. */
void loop_names(const struct loop *loops, int count, const char **out);

/* Points of the box of some loops; false if they do not fit. */
bool loops_points(const struct loop *loops, int count, int64_t *out);

/*
 * An affine index: a sum of loops with coefficients, plus an offset.  Ranks of dataspaces, host
 * coordinates of tensors and places of streams are such indices.  Coefficients beyond the number of
 * loops are 0.
 */
struct affine {
	int64_t coefficient[OP_LOOPS_MOST]; /* by loop */
	int64_t offset;
};

/* Returns the index at a point, which has a value for each of so many loops. */
int64_t affine_value(const struct affine *affine, int loop_count, const int64_t *point);

/* Bit l: loop l has a coefficient; of several indices, in one of them. */
uint32_t affine_loops(const struct affine *affine);
uint32_t affines_loops(const struct affine *indices, int count);

/* The only loop that moves an index; NO_LOOP if none does. */
enum { NO_LOOP = -1, SEVERAL_LOOPS = -2 };
int affine_loop(const struct affine *affine, int loop_count);

/* That loop, if each of its steps moves the index by one; else NO_LOOP. */
int affine_walker(const struct affine *affine, int loop_count);

/* True if both are the same at every point of so many loops. */
bool affine_equal(const struct affine *a, const struct affine *b, int loop_count);

/*
 * Returns the operand of a product of two matrices that is Weights, 0 or 1: the one without the loop of the result's rows.
 * `ranks` has the two indices of each operand, then those of the result.  Returns -1 for anything but such a product.
 */
int affine_weights(struct affine ranks[3][2], int loop_count);

/* Returns the index as it would be written with these names: "c + 2*q - 1". */
struct arena;
struct scan;
const char *affine_text(
	struct arena *arena, const struct affine *affine, int loop_count, const char *const *names);

/* A word of a text: bytes [at, end). */
struct word {
	const char *text;
	size_t at, end;
};

/*
 * An index as it is written, in ops, in projections of problems and in equations: terms in their order.
 *
 *	sum     = product {("+" | "-") product}
 *	product = factor {"*" factor}               of which one at most has dimensions
 *	factor  = number [name] | name | "(" sum ")" | ("+" | "-") factor
 */
enum { AFFINE_TERMS_MOST = 16 };

struct affine_term {
	int64_t factor;
	struct word name; /* of the dimension; text NULL: a constant */
	int loop;         /* as affine_names found it; 0: without such names */
};

struct affine_sum {
	size_t at, end; /* bytes of the text */
	int term_count;
	struct affine_term terms[AFFINE_TERMS_MOST];
};

/* Finds a name: its loop, or -1 and its number.  False after scan_fail. */
struct affine_names {
	const void *of;
	bool (*find)(struct scan *scan, const void *of, const struct word *name, int *loop,
		int64_t *number);
};

/* Parses the index that is next; names NULL: all are dimensions, which the caller finds.  False: the fault of the
 * scan says where and why, as with the functions below. */
bool affine_scan(struct scan *scan, const struct affine_names *names, struct affine_sum *out);

/* Multiplies a sum by another, of the same text or of a later one. */
bool affine_sum_times(struct scan *scan, struct affine_sum *sum, const struct affine_sum *by);

/* Adds a sum, whose names are found, to an index. */
bool affine_add(struct scan *scan, const struct affine_sum *sum, struct affine *to);

#endif
