#ifndef CALIBRATE_ACCURACY_H
#define CALIBRATE_ACCURACY_H

#include "calibrate/measured.h"
#include "model/machine/arch.h"

/*
 * Predicted times.  The plan of a row is the published planner's: the division and LX planning that are the
 * default, with the row's cores and LX planning on or off; its time the estimate of the plan, as often as the
 * row says.
 */

/* Microseconds of every row, into an array of measured_set.count; NaN: no plan. */
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
