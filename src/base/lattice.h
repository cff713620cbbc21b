#ifndef BASE_LATTICE_H
#define BASE_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whole vectors that an integer matrix sends to zero, and how many points a box has under a
 * matrix: what conflicts and PEs of a projection are about.  Up to eight columns.
 */
enum { LATTICE_MOST = 8 };

struct lattice {
	int rank, columns; /* `rank` independent vectors that generate all of them */
	/* In Hermite normal form: `pivot[r]` is the first nonzero entry of row r, positive, pivots
	 * rise, and above a pivot stands what is >= 0 and less. */
	int64_t rows[LATTICE_MOST][LATTICE_MOST];
	int pivot[LATTICE_MOST];
};

/* By the first entry that differs: -1, 0 or 1. */
int lattice_compare(const int64_t *a, const int64_t *b, int columns);

/* The column of a unit vector: all entries are 0 but one, which is 1.  Else -1. */
int lattice_unit(const int64_t *row, int columns);

/* {g: matrix g = 0}; false if numbers do not fit.  No matrix is changed. */
bool lattice_kernel(
	int row_count, int columns, int64_t (*matrix)[LATTICE_MOST], struct lattice *out);

/*
 * Calls visit(user, g) for the vectors with |g_i| <= most[i], first nonzero entry positive, the
 * zero vector left out, by pivots in rising order; ends when it says false, or after `steps`
 * coefficients were tried.  False if it did not get to the end.
 */
bool lattice_walk(const struct lattice *lattice, const int64_t *most, int64_t steps,
	bool (*visit)(void *user, const int64_t *g), void *user);

/*
 * True if coordinates are digits of a row, each worth more than all smaller ones together, once those that other rows
 * determine are taken away: no two points of the box [0, extents) then have the same value.  A sufficient condition
 * only.
 */
bool lattice_has_digits(
	int row_count, int columns, int64_t (*matrix)[LATTICE_MOST], const int64_t *extents);

/*
 * Different values of the matrix over the box [0, extents): of one kernel vector by counting the
 * points from which no other follows along it, else on a map of the values' bounding box.  -1 if
 * that has more than LATTICE_CELLS_MOST cells, or numbers do not fit.
 */
enum { LATTICE_CELLS_MOST = 1 << 28 };
int64_t lattice_images(
	int row_count, int columns, int64_t (*matrix)[LATTICE_MOST], const int64_t *extents);

#endif
