#ifndef SUPPORT_DATAFLOWS_H
#define SUPPORT_DATAFLOWS_H

#include "base/number.h"

/*
 * Published cycles of a matrix product M x K x N on an array of R x C, fold by fold (A. Samajdar and
 * others, SCALE-Sim, ISPASS 2020, as its code counts them).  Along rows and columns lie M and N
 * where outputs stay, K and N where weights do, K and M where inputs do.
 */
enum dataflow { OUTPUT_STATIONARY, WEIGHT_STATIONARY, INPUT_STATIONARY, DATAFLOWS };

struct product {
	int64_t m, n, k, r, c;
};

static inline int64_t dataflow_cycles(enum dataflow dataflow, const struct product *s)
{
	const int64_t rows[] = {s->m, s->k, s->k}, columns[] = {s->n, s->n, s->m};
	const int64_t fold[] = {
		s->k + s->r + s->c - 2, 2 * s->r + s->c + s->m - 2, 2 * s->r + s->c + s->n - 2};
	return number_ceil_div(rows[dataflow], s->r) * number_ceil_div(columns[dataflow], s->c) *
	       fold[dataflow];
}

#endif
