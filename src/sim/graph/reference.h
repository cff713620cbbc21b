#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include "model/graph/workload.h"

#include <stdbool.h>

/*
 * The meaning of a workload: every op as the plain loop nest over host arrays, in
 * workload order, no machine.  Arrays are row-major over the host size, each
 * element in its stored type; `arrays[t]` is tensor t's.  Functions and sums
 * are taken in fp64 and rounded once, so that they are neither the machine's
 * arithmetic nor its order; compare with reference_compare.
 *
 * Opaque ops have no meaning; their outputs are drawn like inputs.
 */
struct arena;

/*
 * Allots and draws the graph's inputs and the outputs of opaque ops: multiples
 * of 2^-20 in [-1/4, 1/4) or, for small_integers, integer types and opaque
 * ops, whole numbers from -2 to 2 (0 and 1 for bool).  A tensor's values depend
 * on the seed and its number alone.
 */
void reference_inputs(const struct workload *workload, uint64_t seed, bool small_integers,
	struct arena *arena, void **arrays);

/* The seed of a rank's inputs: of rank 0 the seed itself. */
uint64_t reference_seed(uint64_t seed, int rank);

/* Allots and computes all that is NULL in arrays.  One rank: what it broadcasts it has itself. */
void reference_run(const struct workload *workload, struct arena *arena, void **arrays);

/* The same on several ranks, by rank: after a broadcast all share the array of its root. */
void reference_run_ranks(
	const struct workload *workload, int ranks, struct arena *arena, void **const *arrays);

/*
 * The largest error that the machine's result of an op may have, given the machine's operands, in units of the last place of the result's largest element: 1 for its rounding, and for
 * a sum of n terms 2 sqrt(n) units of the last place of fp32, in which it is added up.
 */
double reference_ulps(const struct workload *workload, const struct op *op);

/* reference_run_ranks, but every floating-point result is moved up or down by its op's
 * reference_ulps: what errors of that size grow to on the way through the graph. */
void reference_run_moved(const struct workload *workload, int ranks, uint64_t seed,
	struct arena *arena, void **const *arrays);

/*
 * A unit in the last place is that of the expected element's binade.  Where
 * values cancel, an error made before can be many such units though it is small
 * for the tensor: `worst_of_largest` measures the same differences in units of
 * the largest expected element.  Two NaN are equal, and so are 0 and -0.
 */
struct comparison {
	int64_t elements, different;
	double largest;          /* finite element that is expected, by magnitude */
	double worst_ulps;       /* in units of the last place of the tensor's dtype */
	double worst_of_largest; /* in those of `largest` */
	int64_t worst_at;        /* linear host index of worst_ulps */
};
struct comparison reference_compare(
	const struct tensor *tensor, const void *expected, const void *got);

/*
 * One element of the first output of an op, from the op's loops alone, before the mean of a sum is taken.  The caller
 * sets what is above the line.
 */
struct op_point {
	const struct workload *workload;
	const struct op *op;
	double (*read)(
		const void *from, int tensor, int64_t at); /* an element by its linear host index */
	const void *from;
	bool in_fp32;                 /* functions by the machine's kernels, else in fp64 */
	int64_t index[OP_LOOPS_MOST]; /* of each loop; of a reduction's anything */

	int64_t at[OP_READS_MOST + 1]; /* linear index of each operand, the output last */
	double value;
	double magnitude; /* of a sum that of its terms, else the largest of operands and result */
};
void op_point_compute(struct op_point *point);

/*
 * The machine's result of one op beside the op's meaning, given the operands that the machine has: errors made before
 * do not count.  An element may be off by what its arithmetic is:
 *
 *	half a unit in its last place, for rounding it to its dtype, and
 *	(2 sqrt(n) + 2) 2^-24 of the sum of the magnitudes of its n terms, which are added up in fp32;
 *	8 x 2^-24 of the largest operand or result of a function that is taken in fp32.
 *
 * Integers may be off by 1.  Elements are looked at evenly, as many as take `work_most` points of the loops.
 */
struct misfit {
	double part; /* the worst difference, in parts of what it may be: above 1 it is wrong */
	int64_t at;  /* linear host index of it */
	double ulps, ulps_most; /* both in units of the last place of the element */
};
struct misfit reference_misfit(const struct workload *workload, const struct op *op,
	void *const *arrays, const void *got, int64_t work_most);

#endif
