#ifndef CALIBRATE_FIT_H
#define CALIBRATE_FIT_H

#include "calibrate/measured.h"
#include "model/machine/arch.h"
#include "spec/node.h"

struct arena;

/*
 * An architecture file some of whose attributes may move:
 *
 *	- !Component
 *	  name: HBM
 *	  attributes: {shared_bandwidth: 150GB/s}
 *	  free: {shared_bandwidth: [120GB/s, 180GB/s]}
 *
 * `free` stands beside `attributes` and gives the least and the largest value of some of them, in the unit
 * that the attribute has.
 */
struct free_attribute {
	const char *level, *key, *unit;
	double value, least, most;
	bool whole; /* value and ends have no fraction, and no unit: only whole numbers are tried */
	size_t from, to; /* bytes of the value in the file */
};

enum { FREE_MOST = 64 };

struct machine_file {
	const struct source *source;
	size_t count;
	const struct free_attribute *free; /* in the order of the file */
};

/* False after complaining. */
bool machine_file_read(struct arena *arena, const struct source *source, struct diag *diag,
	struct machine_file *out);

/* The file with other values. */
const char *machine_file_text(
	struct arena *arena, const struct machine_file *file, const double *values);

/* The machine of those; NULL after complaining. */
const struct arch *machine_file_make(struct arena *arena, const struct machine_file *file,
	const double *values, struct diag *diag);

/*
 * Least squares of log(predicted / measured) over the free attributes of a machine: Levenberg and Marquardt,
 * with derivatives by differences.  Three fits follow each other, and the last is repeated when an attribute is left.  The first gives all rows one weight.  The others
 * divide the errors of a category by their typical size in the fit before, so that kernels that the model
 * describes well count more; below 10 rows the size is that of all rows.  In the first fit errors above 20 %
 * count by their size, not by its square (Huber's loss); in the others the loss grows with the logarithm of the
 * squared error (Cauchy's), so that rows that no attribute explains have little influence.  Deterministic.
 *
 * An attribute is determined if its interval of 95 % confidence, from the covariance at the solution and the quantile
 * of Student's t of as many degrees as there are rows more than attributes, is
 * narrower than half its range.  One that is not stays as it is, and the others are fitted again.  So does one that
 * the rows move to an end of its range, because they ask for what the range excludes; at 0 it stays at 0.
 */
struct fitted {
	double value, half; /* half the width of the interval; of one that is not determined NaN */
	bool determined, at_end;
	double end;       /* of the range, if at_end */
	const char *rows; /* categories whose rows determine it, the most important first */
};

struct fit {
	const struct fitted *attributes; /* by number of machine_file.free */
	const double *values;            /* the same, those that stayed too */
	int rounds;                      /* of all fits */
	double before, after;            /* root of the mean of squared logs over the rows */
};

/*
 * `left_out` names categories whose rows bend nothing, "cat0,ctsum", those that no mechanism explains; or NULL.
 * False after complaining: the machine cannot be read with values within the ranges, or no row has a plan.
 */
bool fit_machine(const struct machine_file *file, const struct measured_set *set,
	const char *left_out, struct arena *arena, struct diag *diag, struct fit *out);

/*
 * Cross-validation: the shapes, in their order, are dealt into `folds` parts; the times of each part in microseconds are
 * those of a machine fitted to the others.  Into an array of measured_set.count; NaN: no plan.  False after
 * complaining, as above, also about fewer shapes than parts.
 */
bool fit_folds(const struct machine_file *file, const struct measured_set *set, size_t folds,
	const char *left_out, struct arena *arena, struct diag *diag, double *us);

#endif
