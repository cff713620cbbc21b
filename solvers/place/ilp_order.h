#ifndef PLACE_ILP_ORDER_H
#define PLACE_ILP_ORDER_H

#include "model/packing/buffer.h"

#include <stdbool.h>

/*
 * The order program of a packing.  For buffers i and j whose lives meet, one of z(i, j), "i lies
 * below j", and z(j, i) is 1; none if one of them is not kept, or takes the other's place.  With
 * sizes s in units and addresses x:
 *
 *	x_j >= x_i + s_i - M (1 - z(i, j))
 *	x_j >= sum over i in K of s_i z(i, j)           for every set K that lives at once, j in K
 *	top >= x_j + s_j + sum over i in K of s_i z(j, i)
 *
 * less s_c where child c has its parent's place, both in K.  The top is the peak, or the capacity.
 * The second and third are those of cliques: they say at once what pairs say only in chains.
 *
 * All addresses are multiples of a unit: what alignments have in common, times what the sizes,
 * rounded up to that, have, if alignments allow.  A packing at lower addresses that are such
 * multiples exists wherever any packing does.  Reserved ranges are rounded outwards, but for a
 * buffer that ends in the unit in which a range begins.
 */
struct arena;
struct milp;

struct order_program {
	const struct packing *packing;
	struct milp *milp;
	int64_t unit;         /* bytes */
	const int *addresses; /* columns, by buffer: units / steps */
	const int64_t *steps; /* what the column of an address is multiplied with */
	const int *keeps;     /* columns, by buffer; -1: always kept */
	const int **takes;    /* columns, by buffer and its parent: lies in its place */
	double constant;      /* of the goal, without weights of kept buffers */
	double mass;          /* the columns of a point add up to no more */
};

/* How many pairs of buffers, or buffers and ranges, meet; no more than `most` + 1. */
size_t order_pairs(const struct packing *packing, size_t most, struct arena *arena);

/* NULL if a buffer that must be placed cannot be with nothing elsewhere: *culprit is it.  All
 * parents must be lawful. */
struct order_program *order_program_make(
	const struct packing *packing, struct arena *arena, size_t *culprit);

/* The placement whose order a point has, each buffer as low as that allows. */
void order_program_read(
	const struct order_program *program, const double *values, struct placement *placement);

#endif
