#ifndef CALIBRATE_MEASURED_H
#define CALIBRATE_MEASURED_H

#include "model/machine/arch.h"
#include "spec/node.h"

#include <stdint.h>

/*
 * A CSV of measured kernels, a row each.  Columns:
 *
 *	op                one of the table in measured.c, or of `workload`: the category in reports
 *	workload          in place of rows, cols, ..: a file with a workload, relative to the current folder
 *	rows, cols        sizes; of products M and K, which may have columns of these names instead
 *	N, batch          of products: columns of the second operand, products of a batch; batch is also the
 *	                  dimension between the two of transpose_outer
 *	io_hbm_bytes      of inputs and outputs in whole sticks: gives the sizes that no other column does
 *	tiles             tiles of the rows that run one after the other; 0 and 1: none
 *	lx, cores         1: tensors may stay in LX (default); cores at most (default: all)
 *	kernel_us_median  measured time in microseconds, or time_us
 *	pred_us           what another model predicts; optional
 *	problem, mapping  in place of a workload: a loop nest.  "{shape: cnn-layer, instance: {C: 64, K: 64, ..}}"
 *	                  as in a spec file, and a line "DRAM: K4 | .. | keep .."
 *
 * Other columns are ignored.  A row with too few cells, a time that is not positive, an unknown op or sizes that do
 * not go together is skipped with a warning that names its line.
 */
struct measured {
	int line;
	struct span at; /* its op */
	const char *category;
	const char *text;            /* canonical: the same workload has the same text */
	const struct node *workload; /* the value of its `workload:`; NULL of a loop nest */
	const struct node *problem;  /* of a loop nest */
	const char *mapping;         /* the same; NULL: it is none */
	int64_t repeats;             /* times that the workload runs, one after the other */
	int64_t cores;               /* 0: all */
	bool lx;
	size_t like;        /* the first row that asks for the same plan */
	double sizes[3];    /* rows, cols, io_hbm_bytes; 0 if the row has only a text */
	size_t shape;       /* number of these sizes in the order of those of all rows */
	double us, peer_us; /* microseconds; 0: the row has no prediction */
};

struct measured_set {
	size_t count;
	const struct measured *rows; /* in the order of the file */
	size_t skipped;              /* with a warning each */
	const char *skipped_lines;   /* " 3, 7-9", in lines of 80 columns behind "skipped lines:" */
	size_t slower; /* of an unknown division, left out for a faster row of the same sizes and cores */
};

struct arena;
struct source;

/* False after complaining, also about a table without rows or without times. */
bool measured_read(struct arena *arena, const struct source *source, struct diag *diag,
	struct measured_set *out);

/* The rows whose shape is `fold` modulo `folds`, or all others, in their order. */
struct measured_set measured_part(struct arena *arena, const struct measured_set *set, size_t folds,
	size_t fold, bool others);

/*
 * Predicted times.  The plan of a row is the published planner's: the division and LX planning that are the
 * default, with the row's cores and LX planning on or off; its time the estimate of the plan, as often as the
 * row says.
 */

/* Microseconds of a row that is a loop nest; NaN after complaining. */
double mapped_predict(const struct measured *row, const struct arch *arch, struct arena *arena,
	struct diag *diag);

/* Microseconds of every row, into an array of measured_set.count; NaN: no plan, after a warning. */
void accuracy_predict(
	const struct measured_set *set, const struct arch *arch, double *us, struct diag *diag);

/* Of rows that go together: of predicted / measured - 1. */
struct accuracy {
	const char *category;
	size_t rows;
	double rms, bias, rank; /* fractions; Spearman's rank correlation, NaN below 3 rows */
	double peer_rms, peer_bias, peer_rank; /* NaN: rows without a prediction */
};

/* Categories in the order of the rows, and all rows as the last one, "all". */
size_t accuracy_table(const struct measured_set *set, const double *us, struct arena *arena,
	const struct accuracy **out);

/* As a table of text, and of Markdown. */
const char *accuracy_text(
	struct arena *arena, const struct accuracy *table, size_t count, bool markdown);

/* An SVG: predicted against measured times, both logarithmic, a colour for each category. */
const char *accuracy_svg(struct arena *arena, const struct measured_set *set, const double *us);

#endif
