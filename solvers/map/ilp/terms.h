#ifndef MAP_ILP_TERMS_H
#define MAP_ILP_TERMS_H

#include "solvers/map/ilp/compact.h"

/* Logarithms of what a compact program counts, as lines. */

/* Loops of a row over a dimension: their bound; 0 times it adds nothing. */
void ilp_add_bound(const struct ilp_compact *compact, struct ilp_line *line, int row, int d,
	double coefficient);

/* The same of several rows (a mask). */
void ilp_add_rows(const struct ilp_compact *compact, struct ilp_line *line, uint64_t rows, int d,
	double coefficient);

/* Words of dataspace t in a tile that the loops of the rows (a mask) span. */
void ilp_add_tile(struct ilp_compact *compact, struct ilp_line *line, int t, uint64_t rows);

/*
 * Words of dataspace t, all instances together: what enters storage level c from its parent
 * (`filled`), what its parent p reads or updates for it (`served`).  Child -1: what p serves
 * to multipliers.
 */
struct ilp_line ilp_filled(struct ilp_compact *compact, int t, int c);
struct ilp_line ilp_served(struct ilp_compact *compact, int t, int c, int p);

/* Loops irrelevant to t that count outside level c; all temporal ones for child -1. */
struct ilp_line ilp_repeats(struct ilp_compact *compact, int t, int c);

/* Instances of storage level j that have work: the blocks outside. */
void ilp_add_instances(
	struct ilp_compact *compact, struct ilp_line *line, int level, double coefficient);

#endif
