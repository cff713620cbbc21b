#ifndef CALIBRATE_FIT_H
#define CALIBRATE_FIT_H

#include "calibrate/accuracy.h"
#include "calibrate/machine_file.h"

/*
 * Least squares of log(predicted / measured) over the free attributes of a machine: Levenberg and Marquardt,
 * with derivatives by differences.  Three fits follow each other: the first takes all rows alike, the others
 * divide the errors of a category by their typical size in the fit before, so that kernels that the model
 * describes well count more (below 10 rows the size is that of all rows).  Errors above twice that size count by their size, not by its square (Huber's
 * loss), so that what no attribute explains bends none.  Deterministic.
 *
 * An attribute is determined if its interval of 95 % confidence, from the covariance at the solution and the quantile
 * of Student's t of as many degrees as there are rows more than attributes, is
 * narrower than half its range.  One that is not stays as it is, and the others are fitted again.
 */
struct fitted {
	double value, half; /* half the width of the interval; of one that is not determined NaN */
	bool determined;
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

#endif
