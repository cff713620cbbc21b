#ifndef CALIBRATE_MEASURED_H
#define CALIBRATE_MEASURED_H

#include "spec/step.h"

#include <stdint.h>

/*
 * A CSV of measured kernels, a row each.  Columns:
 *
 *	op                one of the table in measured.c, or of `workload`: the category in reports
 *	workload          in place of rows, cols, ..: a file with a workload, relative to the current folder
 *	rows, cols        sizes; of products M and K
 *	io_hbm_bytes      of inputs and outputs: gives the sizes that no other column does
 *	tiles             tiles of the rows that run one after the other; 0 and 1: none
 *	lx, cores         1: tensors may stay in LX (default); cores at most (default: all)
 *	kernel_us_median  measured time in microseconds, or time_us
 *	pred_us           what another model predicts; optional
 *
 * Other columns are ignored.  A row with a time that is not positive, an unknown op or sizes that do not
 * go together is skipped with a warning that names its line.
 */
struct measured {
	int line;
	const char *category;
	const char *text;            /* canonical: rows with the same text ask for the same plan */
	const struct node *workload; /* the value of its `workload:` */
	int64_t repeats;             /* times that the workload runs, one after the other */
	int64_t cores;               /* 0: all */
	bool lx;
	double us, peer_us; /* microseconds; 0: the row has no prediction */
};

struct measured_set {
	size_t count;
	const struct measured *rows; /* in the order of the file */
	size_t skipped;              /* with a warning each */
	size_t slower; /* of an unknown division, left out for a faster row of the same sizes and cores */
};

/* False after complaining: there is no row, or no column of times. */
struct arena;
struct source;
bool measured_read(struct arena *arena, const struct source *source, struct diag *diag,
	struct measured_set *out);

#endif
